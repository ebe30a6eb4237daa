#ifndef TTL_SERVICE_SERVER_GRPC_SERVER_H_
#define TTL_SERVICE_SERVER_GRPC_SERVER_H_

#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/impl/codegen/service_type.h>
#include <grpcpp/server.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "service/server/unix_socket.h"

namespace ttl {

struct GrpcServerOptions {
  UnixSocketOptions socket;  // an empty path: none
  std::string listen_tcp;    // HOST:PORT; empty: none
  int64_t max_message_bytes = 0;
  int64_t max_streams_per_connection = 0;
  int64_t memory_bytes = 0;  // for calls under way
  // Time that calls under way have to end by themselves when the server stops;
  // then they are cancelled.
  absl::Duration drain = absl::ZeroDuration();
};

// The gRPC server with our limits, on a Unix socket, a TCP port or both.
class GrpcServer {
 public:
  // Least time between pings of a client without data on their connection. The
  // common 10 s are well above it; clients below it are cut off after a few.
  static constexpr absl::Duration kMinPingInterval = absl::Seconds(5);

  // Listens and serves. `services` must outlive the server. Errors are those of
  // UnixSocket, and UNAVAILABLE if an address cannot be listened on.
  static absl::StatusOr<std::unique_ptr<GrpcServer>> Start(
      const GrpcServerOptions& options, const std::vector<grpc::Service*>& services);

  // Stops listening, waits for calls under way, and cancels those that take
  // longer than `drain`. Returns when all handlers have finished.
  ~GrpcServer();
  GrpcServer(const GrpcServer&) = delete;
  GrpcServer& operator=(const GrpcServer&) = delete;

  grpc::HealthCheckServiceInterface& health() { return *server_->GetHealthCheckService(); }

 private:
  GrpcServer(std::unique_ptr<UnixSocket> socket, std::unique_ptr<grpc::Server> server,
             absl::Duration drain);

  const std::unique_ptr<UnixSocket> socket_;  // null: none
  const std::unique_ptr<grpc::Server> server_;
  const absl::Duration drain_;
};

}  // namespace ttl

#endif  // TTL_SERVICE_SERVER_GRPC_SERVER_H_
