#ifndef TTL_CLIENT_POSTGRES_STORE_STORE_SERVER_H_
#define TTL_CLIENT_POSTGRES_STORE_STORE_SERVER_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "client/postgres/store/adapter_state.h"
#include "client/postgres/store/health_server.h"
#include "client/postgres/store/primary_store.h"
#include "client/postgres/store/served_store.h"
#include "client/postgres/store/socket_claim.h"
#include "grpcpp/server.h"
#include "service/base/wall_clock.h"

namespace ttl::postgres {

// Serves a PrimaryStore over gRPC from Serve() to Withdraw(). Also serves grpc.health.v1, with the
// services "startup" and "liveness" (always SERVING) and "readiness", and the service that
// AskAdapterState() calls.
class StoreServer {
 public:
  // Listens on `address`, "unix:/path" or "host:port", and, unless it is empty, on
  // `health_address`, "host:port", for grpc.health.v1 alone; port 0 lets the system choose.
  // FAILED_PRECONDITION if another process has claimed the Unix socket (SocketClaim), UNAVAILABLE
  // if listening fails. Store calls return UNAVAILABLE until Serve().
  static absl::StatusOr<std::unique_ptr<StoreServer>> Start(const std::string& address,
                                                            const WallClock& clock,
                                                            const std::string& health_address = "");
  ~StoreServer();

  StoreServer(const StoreServer&) = delete;
  StoreServer& operator=(const StoreServer&) = delete;

  // Starts to serve `store`. REQUIRES: no store is served.
  void Serve(PrimaryStore& store);
  // Store calls return UNAVAILABLE from now on, and `store` is unused when this returns. Running
  // calls have a second to end; after that, they are cancelled and their database connections are
  // closed.
  void Withdraw();

  // Sets why ttl-postgres is not ready, for humans; empty: it is ready. This determines the health
  // of "readiness" and of "", the whole server, and AskAdapterState() returns it. The initial value
  // is "starting".
  void SetProblem(const std::string& problem);

  // The address that it listens on, with the chosen port.
  const std::string& address() const { return address_; }
  // The same of the health service alone; "" without one.
  std::string health_address() const { return health_ == nullptr ? "" : health_->address(); }

 private:
  explicit StoreServer(const WallClock& clock);

  void SetServing(const std::string& service, bool is_serving);

  SocketClaim claim_;
  const std::unique_ptr<ServedStore> store_;
  const std::unique_ptr<grpc::Service> service_;
  AdapterStateService state_;
  std::unique_ptr<grpc::Server> server_;
  std::unique_ptr<HealthServer> health_;  // null: none
  std::string address_;
};

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_STORE_STORE_SERVER_H_
