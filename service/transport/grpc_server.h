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
  int64_t max_connections = 0;  // to all addresses; see SharePlaces()
  int64_t max_message_bytes = 0;
  int64_t max_streams_per_connection = 0;
  int64_t memory_bytes = 0;  // for calls under way
  int64_t call_threads = 1;  // of each address, for the calls of the data path
  // Time that connections have to take their last answers when the server stops; then they are
  // cut off.
  absl::Duration drain = absl::ZeroDuration();
};

// All addresses that the sidecar listens on, with our limits. The first is the one that
// matters most: the threads of the others rest while they are idle (see CallQueue).
class GrpcServer {
 public:
  using Services = RpcServices;

  // Listens and serves. Errors are those of AddressServer.
  static absl::StatusOr<std::unique_ptr<GrpcServer>> Start(const GrpcServerOptions& options,
                                                           const Services& services);

  // Ends the open streams, refuses new calls with UNAVAILABLE and when to retry, and waits until
  // those under way are answered, however long they are worked on; health is told all the
  // while. Then stops listening, closes all connections once the last answers are sent, at the
  // latest after `drain`; the health-only addresses go last. So clients see what a call was
  // answered or UNAVAILABLE.
  ~GrpcServer();
  GrpcServer(const GrpcServer&) = delete;
  GrpcServer& operator=(const GrpcServer&) = delete;

  // Why nobody can connect to one of the Unix sockets; OK while somebody can to all.
  absl::Status CheckSockets() const;

 private:
  GrpcServer(const Services& services, absl::Duration drain) : services_(services), drain_(drain) {}

  absl::Status Listen(const GrpcServerOptions& options);
  void EndStreams();
  void Settle();
  void Shutdown(absl::Time deadline, bool health_only);
  // A thread each; returns when all are done.
  void ForEachServer(absl::FunctionRef<void(AddressServer&)> step);

  const Services services_;
  const absl::Duration drain_;
  CallWorker worker_;
  std::vector<std::unique_ptr<AddressServer>> servers_;
};

}  // namespace ttl

#endif  // TTL_SERVICE_TRANSPORT_GRPC_SERVER_H_
