#ifndef TTL_CLIENT_POSTGRES_STORE_HEALTH_SERVER_H_
#define TTL_CLIENT_POSTGRES_STORE_HEALTH_SERVER_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "grpcpp/generic/async_generic_service.h"
#include "grpcpp/server.h"

namespace ttl::postgres {

// Serves grpc.health.v1 and nothing else, so that its port may be open to callers that must not
// reach the store, such as the kubelet. Thread-safe.
class HealthServer {
 public:
  // Listens on `address`, host:port, in plain text; port 0 lets the system choose. No service is
  // known until SetServing(). UNAVAILABLE if listening fails.
  static absl::StatusOr<std::unique_ptr<HealthServer>> Start(const std::string& address);
  // Ends open calls.
  ~HealthServer();

  HealthServer(const HealthServer&) = delete;
  HealthServer& operator=(const HealthServer&) = delete;

  // Sets the health of `service`: SERVING or NOT_SERVING.
  void SetServing(const std::string& service, bool is_serving);

  // The address that it listens on, with the chosen port.
  const std::string& address() const { return address_; }

 private:
  HealthServer() = default;

  grpc::CallbackGenericService other_calls_;  // gRPC starts no server that has health alone
  std::unique_ptr<grpc::Server> server_;
  std::string address_;
};

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_STORE_HEALTH_SERVER_H_
