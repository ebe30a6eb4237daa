#ifndef TTL_SERVICE_TRANSPORT_HEALTH_SERVICE_H_
#define TTL_SERVICE_TRANSPORT_HEALTH_SERVICE_H_

#include <grpcpp/health_check_service_interface.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "grpc/health/v1/health.pb.h"
#include "service/base/mutex.h"
#include "service/transport/calls/rpc_service.h"

namespace ttl {

// The gRPC health checking protocol. Replaces the service built into gRPC, whose threads poll for
// all calls of the process and slow down the data path. Thread-safe.
class HealthService final : public RpcService, public grpc::HealthCheckServiceInterface {
 public:
  static constexpr size_t kMaxWatches = 256;

  HealthService();
  ~HealthService() override;

  const google::protobuf::ServiceDescriptor& descriptor() const override;
  void AddMethods(MethodTable& table) override;

  // Sets the status of a name, and adds the name if it is new.
  void SetServingStatus(const std::string& service, bool serving) override;
  // Sets the status of all known names.
  void SetServingStatus(bool serving) override;

 private:
  using Status = grpc::health::v1::HealthCheckResponse::ServingStatus;
  class WatchMethod;
  class Watch;
  using Watches = std::vector<std::shared_ptr<Watch>>;

  absl::Status HandleCheck(const grpc::health::v1::HealthCheckRequest& request,
                           grpc::health::v1::HealthCheckResponse& response) const;
  Status StatusOf(const std::string& service) const;
  absl::Status Add(const std::shared_ptr<Watch>& watch);
  void Remove(const Watch& watch);
  Watches OpenWatches() const;
  void EndWatches(const absl::Status& status);

  mutable Mutex mutex_;
  absl::flat_hash_map<std::string, bool> serving_ ABSL_GUARDED_BY(mutex_);
  absl::Status end_status_ ABSL_GUARDED_BY(mutex_);  // OK until EndWatches()
  Watches watches_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace ttl

#endif  // TTL_SERVICE_TRANSPORT_HEALTH_SERVICE_H_
