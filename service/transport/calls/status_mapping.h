#ifndef TTL_SERVICE_TRANSPORT_CALLS_STATUS_MAPPING_H_
#define TTL_SERVICE_TRANSPORT_CALLS_STATUS_MAPPING_H_

#include <grpcpp/server_context.h>
#include <grpcpp/support/status.h>

#include <optional>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace ttl {

// Key of the trailing metadata that tells a client when to retry.
inline constexpr char kRetryPushbackKey[] = "grpc-retry-pushback-ms";

// Converts a status for gRPC; the only place that does. Details of an error, for programs: an
// ErrorInfo, whose reason is the name of the code if `status` has none of its own; the BadRequest
// of `status`; and a RetryInfo with its RetryPushback(). A message too long for a client's metadata
// limit is cut, and one that is not UTF-8 is escaped.
grpc::Status ToGrpcStatus(const absl::Status& status);

// The status of calls that arrive while the server stops: UNAVAILABLE.
absl::Status ShuttingDown();

// How long a client should wait before it retries a call that ended with `status`; absent if that
// is up to the client.
std::optional<absl::Duration> RetryPushback(const absl::Status& status);

// Adds the RetryPushback() of `status`, if it has one, to the trailing metadata; a negative one for
// TOUCH_UNAVAILABLE, which is not to be retried.
void AddRetryPushback(const absl::Status& status, grpc::ServerContextBase& context);

}  // namespace ttl

#endif  // TTL_SERVICE_TRANSPORT_CALLS_STATUS_MAPPING_H_
