#ifndef TTL_CLIENT_POSTGRES_STORE_STORE_SERVER_H_
#define TTL_CLIENT_POSTGRES_STORE_STORE_SERVER_H_

#include <atomic>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "client/postgres/store/primary_store.h"
#include "grpcpp/server.h"

namespace ttl::postgres {

// Serves a PrimaryStore over gRPC, once there is one, until it is destroyed, which gives calls
// under way a second to end, and then cuts their connections to the database. Beside it is
// grpc.health.v1 with the services "startup" and "liveness", SERVING all the time, and "readiness".
class StoreServer {
 public:
  // Listens on `address`, "unix:/path" or "host:port"; port 0 lets the system choose. UNAVAILABLE
  // if it cannot. Calls of the store are UNAVAILABLE until there is one.
  static absl::StatusOr<std::unique_ptr<StoreServer>> Start(const std::string& address);
  ~StoreServer();

  StoreServer(const StoreServer&) = delete;
  StoreServer& operator=(const StoreServer&) = delete;

  // From now on `store` answers; it must outlive this. Once.
  void Serve(PrimaryStore& store);

  // What health says of "readiness", and of "", the server as a whole; at first NOT_SERVING.
  void SetReady(bool ready);

  // Where it listens, with the chosen port.
  const std::string& address() const { return address_; }

 private:
  StoreServer();

  std::atomic<PrimaryStore*> store_ = nullptr;
  const std::unique_ptr<grpc::Service> service_;
  std::unique_ptr<grpc::Server> server_;
  std::string address_;
};

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_STORE_STORE_SERVER_H_
