#ifndef TTL_CLIENT_POSTGRES_STORE_STORE_SERVER_H_
#define TTL_CLIENT_POSTGRES_STORE_STORE_SERVER_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "client/postgres/store/adapter_state.h"
#include "client/postgres/store/primary_store.h"
#include "client/postgres/store/served_store.h"
#include "client/postgres/store/socket_claim.h"
#include "grpcpp/server.h"

namespace ttl::postgres {

// Serves a PrimaryStore over gRPC while there is one, which is until it is withdrawn. Beside it is
// grpc.health.v1 with the services "startup" and "liveness", SERVING all the time, and "readiness",
// and the service that AskAdapterState() asks.
class StoreServer {
 public:
  // Listens on `address`, "unix:/path" or "host:port"; port 0 lets the system choose.
  // FAILED_PRECONDITION if another process listens there by this class, UNAVAILABLE if it cannot.
  // Calls of the store are UNAVAILABLE until there is one.
  static absl::StatusOr<std::unique_ptr<StoreServer>> Start(const std::string& address);
  ~StoreServer();

  StoreServer(const StoreServer&) = delete;
  StoreServer& operator=(const StoreServer&) = delete;

  // From now on `store` answers. No other may do so yet.
  void Serve(PrimaryStore& store);
  // From when it returns, the store is called no more, and nobody answers. Calls under way have a
  // second to end; then they are cancelled, and their connections to the database are cut.
  void Withdraw();

  // What keeps it from being ready, for people; empty: it is ready. It decides what health says of
  // "readiness", and of "", the server as a whole, and AskAdapterState() tells it. At first it is
  // starting.
  void SetProblem(const std::string& problem);

  // Where it listens, with the chosen port.
  const std::string& address() const { return address_; }

 private:
  StoreServer();

  SocketClaim claim_;
  const std::unique_ptr<ServedStore> store_;
  const std::unique_ptr<grpc::Service> service_;
  AdapterStateService state_;
  std::unique_ptr<grpc::Server> server_;
  std::string address_;
};

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_STORE_STORE_SERVER_H_
