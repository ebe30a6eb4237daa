#ifndef TTL_ERROR_DETAILS_H_
#define TTL_ERROR_DETAILS_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "ttl/field_violation.h"

// What an error of the sidecar tells programs, besides its code and message. All functions are pure
// and thread-safe, and take any status; one that does not come from the sidecar, or comes from an
// older one, has no details. Errors that gRPC itself makes, such as for a lost connection, have
// none either. The details are payloads of the status, so absl::Status::ToString() shows them; to
// leave them out, pass absl::StatusToStringMode::kWithNoExtraData.
namespace ttl {

// The reason, such as "CONTAINER_NOT_FOUND"; empty if there is none. Reasons are stable, messages
// are not. protos/errors.md of the sidecar lists them.
std::string ErrorReason(const absl::Status& status);

// What the reason is about, by name, such as "container"; the same page lists the names.
std::map<std::string, std::string> ErrorMetadata(const absl::Status& status);

// The invalid fields of the request; empty unless the code is INVALID_ARGUMENT.
std::vector<FieldViolation> FieldViolations(const absl::Status& status);

// How long to wait, at least, before a retry; absent if the sidecar does not say. The client has
// already made the retries that are safe.
std::optional<absl::Duration> RetryDelay(const absl::Status& status);

}  // namespace ttl

#endif  // TTL_ERROR_DETAILS_H_
