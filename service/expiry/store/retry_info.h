#ifndef TTL_SERVICE_EXPIRY_STORE_RETRY_INFO_H_
#define TTL_SERVICE_EXPIRY_STORE_RETRY_INFO_H_

#include <optional>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "grpcpp/support/status.h"

namespace ttl {

// The status of a call, with the wish that came along in its details as
// google.rpc.RetryInfo, if any.
absl::Status FromGrpc(const grpc::Status& status);

// How long the server asked to wait, in a status made by FromGrpc(); absent if it did
// not say, or said nonsense. Never negative.
std::optional<absl::Duration> RetryAfterOf(const absl::Status& status);

}  // namespace ttl

#endif  // TTL_SERVICE_EXPIRY_STORE_RETRY_INFO_H_
