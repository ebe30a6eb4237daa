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

// One address to listen on, and who may do what there.
struct ServerAddress {
  UnixSocketOptions socket = {};  // an empty path: none, but `tcp`
  std::string tcp = {};           // HOST:PORT
  // Null: neither encryption nor certificates.
  std::shared_ptr<grpc::ServerCredentials> credentials = nullptr;
  bool has_client_certificates = false;  // they are required and verified
  Roles roles = {};                      // of everyone who can connect
  bool health_only = false;              // serves the health service and no other
  CallQueue::WhenIdle when_idle = CallQueue::WhenIdle::kWait;
};

// Bounds of each server; the quota is shared by all.
struct ServerLimits {
  const grpc::ResourceQuota& memory;
  int64_t places = 0;  // connections at a time
  int64_t max_message_bytes = 0;
  int64_t max_streams_per_connection = 0;
  int64_t call_threads = 1;  // for the calls of the data path
};

// What is served, and what counts and judges calls; all must outlive the servers.
struct RpcServices {
  std::vector<RpcService*> services;  // but health
  RpcService& health;
  CallCounters& counters;
  const IdentityRoles& identities;
  AccessCounters& access_counters;
  MethodRolesTable roles_of_method;
};

// A gRPC server on one address. What callers may do differs from address to address, and
// gRPC does not say on which address of a server a call came: so each has its own.
class AddressServer {
 public:
  // Least time between pings of a client without data on their connection. The
  // common 10 s are well above it; clients below it are cut off after a few.
  static constexpr absl::Duration kMinPingInterval = absl::Seconds(5);

  // Listens and serves. `worker` must outlive the server. Errors are those of
  // ConnectionListener.
  static absl::StatusOr<std::unique_ptr<AddressServer>> Start(const ServerAddress& address,
                                                              const ServerLimits& limits,
                                                              const RpcServices& services,
                                                              CallWorker& worker);

  // Returns when all handlers have finished. REQUIRES: after Shutdown().
  ~AddressServer();
  AddressServer(const AddressServer&) = delete;
  AddressServer& operator=(const AddressServer&) = delete;

  bool is_health_only() const { return address_.health_only; }

  // Before Shutdown(): end the open streams, and later ones at once, with UNAVAILABLE, when
  // what they have read is answered: those of the health service, and those of all others.
  // Each once.
  void EndHealthStreams();
  void EndStreams();

  // Why nobody can connect to its socket; OK while somebody can, and for TCP.
  absl::Status CheckSocket() const { return listener_->CheckSocket(); }

  // Before Shutdown(): refuses new calls, but those of the health service, with
  // UNAVAILABLE, and returns when none of those before is being worked on. Once.
  void Settle();

  // Stops listening, sends the answers that are left, and closes all connections, by the
  // deadline at the latest. Clients see calls that have no answer then as UNAVAILABLE: gRPC's
  // own shutdown, which would cancel them, finds none. Once.
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
  std::unique_ptr<UnixSocket> socket_;                  // null: none
  std::vector<std::unique_ptr<ServedService>> served_;  // health first
  std::unique_ptr<grpc::Server> server_;
  std::unique_ptr<ConnectionListener> listener_;
  std::vector<std::unique_ptr<grpc::ServerCompletionQueue>> unused_;  // until it serves
  std::vector<std::unique_ptr<CallQueue>> queues_;
};

}  // namespace ttl

#endif  // TTL_SERVICE_TRANSPORT_ADDRESS_SERVER_H_
