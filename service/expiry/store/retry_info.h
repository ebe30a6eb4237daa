#ifndef TTL_SERVICE_EXPIRY_STORE_RETRY_INFO_H_
#define TTL_SERVICE_EXPIRY_STORE_RETRY_INFO_H_

#include <optional>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "grpcpp/support/status.h"

namespace ttl {

// Converts the status of a call. Keeps a google.rpc.RetryInfo among its details, if there is one,
// for RetryAfterOf().
absl::Status FromGrpc(const grpc::Status& status);

// How long the server asked to wait, in a status made by FromGrpc(); absent if it gave no delay, or
// a negative one.
std::optional<absl::Duration> RetryAfterOf(const absl::Status& status);

}  // namespace ttl

#endif  // TTL_SERVICE_EXPIRY_STORE_RETRY_INFO_H_
