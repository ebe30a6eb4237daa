#ifndef TTL_SERVICE_BASE_ERROR_DETAILS_H_
#define TTL_SERVICE_BASE_ERROR_DETAILS_H_

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "service/base/reason.h"

// Errors with details for programs: reason, invalid fields, retry delay. The details are payloads
// of the status, under the type URLs of google.rpc and in its wire format, until
// transport/calls/status_mapping.h sends them. Pure functions. An OK status has no cost.
namespace ttl {

inline constexpr char kErrorInfoType[] = "type.googleapis.com/google.rpc.ErrorInfo";
inline constexpr char kBadRequestType[] = "type.googleapis.com/google.rpc.BadRequest";
inline constexpr char kRetryInfoType[] = "type.googleapis.com/google.rpc.RetryInfo";
inline constexpr char kErrorDomain[] = "ttl-sidecar";

// An entry of ErrorInfo.metadata: its key, and its value, which is cut after 256 bytes.
using ErrorFact = std::pair<absl::string_view, std::string>;

// An error with the code of `reason`.
absl::Status MakeError(Reason reason, absl::string_view message,
                       absl::Span<const ErrorFact> metadata = {});

// INVALID_ARGUMENT because of a field. `field` is its path in the request, such as "items[3].ttl".
// In the details the message is cut after 512 bytes.
absl::Status InvalidField(absl::string_view field, absl::string_view message);

// `status`, and if it is INVALID_ARGUMENT, with the details of InvalidField().
absl::Status OfField(absl::string_view field, const absl::Status& status);

// The reason of an error made by one of the functions above; empty for any other status.
std::string ReasonOf(const absl::Status& status);

// Code and message without the details, for logs.
std::string TextOf(const absl::Status& status);

}  // namespace ttl

#endif  // TTL_SERVICE_BASE_ERROR_DETAILS_H_
