#ifndef TTL_SERVICE_TRANSPORT_ADDRESS_SERVER_H_
#define TTL_SERVICE_TRANSPORT_ADDRESS_SERVER_H_

#include <grpcpp/completion_queue.h>
#include <grpcpp/resource_quota.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "service/transport/access/access_counters.h"
#include "service/transport/access/allowed_roles.h"
#include "service/transport/access/identity_roles.h"
#include "service/transport/access/server_access.h"
#include "service/transport/calls/call_counters.h"
#include "service/transport/calls/call_queue.h"
#include "service/transport/calls/call_worker.h"
#include "service/transport/calls/rpc_service.h"
#include "service/transport/connections/connection_listener.h"
#include "service/transport/connections/unix_socket.h"

namespace ttl {

// An address to listen on, and the roles of its callers.
struct ServerAddress {
  UnixSocketOptions socket = {};  // with an empty path `tcp` is used
  std::string tcp = {};           // HOST:PORT
  // Null: plain text.
  std::shared_ptr<grpc::ServerCredentials> credentials = nullptr;
  bool has_client_certificates = false;  // required and verified
  Roles roles = {};                      // of every caller on this address
  bool health_only = false;              // serves the health service only
  CallQueue::WhenIdle when_idle = CallQueue::WhenIdle::kWait;
};

// Limits of each server; all servers share the memory quota.
struct ServerLimits {
  const grpc::ResourceQuota& memory;
  int64_t places = 0;  // maximum open connections
  int64_t max_message_bytes = 0;
  int64_t max_streams_per_connection = 0;
  int64_t call_threads = 1;  // that handle calls
};

// The services, and the state that authorizes and counts their calls. All must outlive the servers.
struct RpcServices {
  std::vector<RpcService*> services;  // all except health
  RpcService& health;
  CallCounters& counters;
  const IdentityRoles& identities;
  AccessCounters& access_counters;
  MethodRolesTable roles_of_method;
};

// A gRPC server on one address. Each address has a server of its own, because roles differ by
// address and gRPC does not tell on which address of a server a call arrived. Not thread-safe,
// except CheckSocket().
class AddressServer {
 public:
  // Shortest accepted interval between keepalive pings of a client. Clients that ping more often
  // are disconnected after a few pings; the usual 10 s are well above it.
  static constexpr absl::Duration kMinPingInterval = absl::Seconds(5);

  // Listens and serves. `worker` must outlive the server. Returns the errors of
  // ConnectionListener::Listen().
  static absl::StatusOr<std::unique_ptr<AddressServer>> Start(const ServerAddress& address,
                                                              const ServerLimits& limits,
                                                              const RpcServices& services,
                                                              CallWorker& worker);

  // Waits until all handlers have finished. REQUIRES: Shutdown() was called.
  ~AddressServer();
  AddressServer(const AddressServer&) = delete;
  AddressServer& operator=(const AddressServer&) = delete;

  bool is_health_only() const { return address_.health_only; }

  // Before Shutdown(): end the streams of the health service, or of all other services, with
  // UNAVAILABLE, once the messages read are answered; later streams are refused. To be called once
  // each.
  void EndHealthStreams();
  void EndStreams();

  // UNAVAILABLE, with the reason, while clients cannot connect to the Unix socket; OK for TCP.
  absl::Status CheckSocket() const { return listener_->CheckSocket(); }

  // Before Shutdown(): refuses new calls with UNAVAILABLE, except those of the health service, and
  // waits until the handlers of earlier calls have finished. To be called once.
  void Settle();

  // Stops listening, sends the remaining responses, and closes all connections, at the latest at
  // `deadline`. Clients see calls without a response as UNAVAILABLE; gRPC's own shutdown, which
  // would end them with CANCELLED, finds none. To be called once.
  void Shutdown(absl::Time deadline);

 private:
  class ServedService;
  using ConnectionAcceptor = std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor>;

  AddressServer(const ServerAddress& address, const RpcServices& services);

  absl::Status Listen(const ServerLimits& limits);
  absl::Status Build(const ServerLimits& limits);
  void HandOverConnections(ConnectionAcceptor acceptor);
  void Register(grpc::ServerBuilder& builder);
  void Serve(CallWorker& worker);
  void AcceptCalls(CallQueue& queue, CallWorker& worker);
  void LogListening() const;

  const ServerAddress address_;
  const RpcServices services_;
  ServerAccess access_;
  std::unique_ptr<UnixSocket> socket_;                  // null for TCP
  std::vector<std::unique_ptr<ServedService>> served_;  // health first
  std::unique_ptr<grpc::Server> server_;
  std::unique_ptr<ConnectionListener> listener_;
  std::vector<std::unique_ptr<grpc::ServerCompletionQueue>> unused_;  // until Serve()
  std::vector<std::unique_ptr<CallQueue>> queues_;
};

}  // namespace ttl

#endif  // TTL_SERVICE_TRANSPORT_ADDRESS_SERVER_H_
