#ifndef TTL_SERVICE_TRANSPORT_GRPC_SERVER_H_
#define TTL_SERVICE_TRANSPORT_GRPC_SERVER_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "service/transport/address_server.h"
#include "service/transport/calls/call_worker.h"

namespace ttl {

struct GrpcServerOptions {
  std::vector<ServerAddress> addresses;
  int64_t max_connections = 0;  // over all addresses; see SharePlaces()
  int64_t max_message_bytes = 0;
  int64_t max_streams_per_connection = 0;
  int64_t memory_bytes = 0;  // for calls in flight
  int64_t call_threads = 1;  // per address
  // How long clients may take to read the last responses when the server stops; then their
  // connections are closed.
  absl::Duration drain = absl::ZeroDuration();
};

// The gRPC servers of all addresses. The first address gets the best latency: the call threads of
// the others sleep while they are idle (see CallQueue). Not thread-safe, except CheckSockets().
class GrpcServer {
 public:
  using Services = RpcServices;

  // Listens and serves. Returns the errors of AddressServer::Start().
  static absl::StatusOr<std::unique_ptr<GrpcServer>> Start(const GrpcServerOptions& options,
                                                           const Services& services);

  // Ends open streams, refuses new calls with UNAVAILABLE and a retry delay, and waits until the
  // calls in flight are answered, however long that takes; health is served meanwhile. Then stops
  // listening and closes each connection once its last response is sent, at the latest after
  // `drain`, with health-only addresses last. So a client sees either the response to a call or
  // UNAVAILABLE.
  ~GrpcServer();
  GrpcServer(const GrpcServer&) = delete;
  GrpcServer& operator=(const GrpcServer&) = delete;

  // UNAVAILABLE, with the reason, while clients cannot connect to one of the Unix sockets.
  absl::Status CheckSockets() const;

 private:
  GrpcServer(const Services& services, absl::Duration drain) : services_(services), drain_(drain) {}

  absl::Status Listen(const GrpcServerOptions& options);
  void EndStreams();
  void Settle();
  void Shutdown(absl::Time deadline, bool health_only);
  // Runs `step` for all servers, in a thread each, and waits for them.
  void ForEachServer(absl::FunctionRef<void(AddressServer&)> step);

  const Services services_;
  const absl::Duration drain_;
  CallWorker worker_;
  std::vector<std::unique_ptr<AddressServer>> servers_;
};

}  // namespace ttl

#endif  // TTL_SERVICE_TRANSPORT_GRPC_SERVER_H_
