#ifndef TTL_SERVICE_TRANSPORT_CALLS_STATUS_MAPPING_H_
#define TTL_SERVICE_TRANSPORT_CALLS_STATUS_MAPPING_H_

#include <grpcpp/server_context.h>
#include <grpcpp/support/status.h>

#include <optional>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace ttl {

// Key of the trailing metadata by which a server tells a client when to retry.
inline constexpr char kRetryPushbackKey[] = "grpc-retry-pushback-ms";

// The same status for gRPC. The one place where a status of ours becomes one of
// gRPC's. A message too long for a client's limit on metadata is cut.
grpc::Status ToGrpcStatus(const absl::Status& status);

// The status of calls that come while the server stops: UNAVAILABLE.
absl::Status ShuttingDown();

// How long a client should wait before it repeats a call that ended with
// `status`; absent if that is up to the client.
std::optional<absl::Duration> RetryPushback(const absl::Status& status);

// Tells the client of a call that ends with `status` how long to wait, if it should.
void AddRetryPushback(const absl::Status& status, grpc::ServerContextBase& context);

}  // namespace ttl

#endif  // TTL_SERVICE_TRANSPORT_CALLS_STATUS_MAPPING_H_
