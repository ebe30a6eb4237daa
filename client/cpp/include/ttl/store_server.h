#ifndef TTL_STORE_SERVER_H_
#define TTL_STORE_SERVER_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "grpcpp/security/server_credentials.h"
#include "grpcpp/server.h"
#include "ttl/primary_store.h"
#include "ttl/store_socket.h"

namespace ttl {

// Serves a PrimaryStore to the sidecar until it is destroyed. Thread-safe.
class StoreServer {
 public:
  // Listens on `address`, a gRPC address such as unix:/run/store/store.sock or host:port; port 0
  // picks a free port. Without `credentials` the connection is plain text. A socket that a killed
  // server left is replaced; FAILED_PRECONDITION if a server answers on it or the path is no
  // socket. UNAVAILABLE if the address cannot be listened on. `store` must outlive the server.
  static absl::StatusOr<std::unique_ptr<StoreServer>> Start(
      PrimaryStore& store, absl::string_view address,
      std::shared_ptr<grpc::ServerCredentials> credentials = nullptr);

  // Gives calls in progress a second to end.
  ~StoreServer();
  StoreServer(const StoreServer&) = delete;
  StoreServer& operator=(const StoreServer&) = delete;

  // The address; with the port that was picked, if port 0 was asked for.
  const std::string& address() const { return address_; }

 private:
  StoreServer() = default;

  std::unique_ptr<StoreSocket> socket_;  // outlives the server
  std::unique_ptr<grpc::Service> service_;
  std::unique_ptr<grpc::Server> server_;
  std::string address_;
};

}  // namespace ttl

#endif  // TTL_STORE_SERVER_H_
