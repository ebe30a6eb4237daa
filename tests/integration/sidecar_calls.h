#ifndef TTL_TESTS_INTEGRATION_SIDECAR_CALLS_H_
#define TTL_TESTS_INTEGRATION_SIDECAR_CALLS_H_

#include <grpcpp/channel.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ttl/v1/container_service.grpc.pb.h"
#include "ttl/v1/expiry_service.grpc.pb.h"
#include "ttl/v1/item_service.grpc.pb.h"

namespace ttl {

// The calls that tests of the whole process make, each blocking and with a
// deadline. Thread-safe.
class SidecarCalls {
 public:
  explicit SidecarCalls(const std::shared_ptr<grpc::Channel>& channel);

  absl::Status CreateContainer(const std::string& id, std::optional<int64_t> default_ttl);
  // Sets the whole delete_policy.
  absl::Status SetDeletePolicy(const std::string& id, const v1::DeletePolicy& policy);
  absl::Status SetDefaultTtl(const std::string& id, std::optional<int64_t> default_ttl);
  absl::StatusOr<v1::Container> GetContainer(const std::string& id);

  // Items have `id` for their partition key too.
  absl::Status Track(const std::string& container, const std::string& id, int64_t ts,
                     std::optional<int64_t> ttl = std::nullopt);
  // `count` items with ids "<prefix>0", ... in calls of 1000.
  absl::Status TrackMany(const std::string& container, const std::string& prefix, int64_t count,
                         int64_t ts, std::optional<int64_t> ttl);
  absl::StatusOr<v1::Visibility> Check(const std::string& container, const std::string& id);

  absl::Status Pause(const std::string& container, const std::string& reason);
  absl::Status Resume(const std::string& container);
  absl::Status SetMaxDeletesPerSecond(double per_second);
  absl::StatusOr<v1::GetExpiryStatusResponse> GetStatus(const std::string& container = "");

 private:
  const std::unique_ptr<v1::ContainerService::Stub> containers_;
  const std::unique_ptr<v1::ItemService::Stub> items_;
  const std::unique_ptr<v1::ExpiryService::Stub> expiry_;
};

}  // namespace ttl

#endif  // TTL_TESTS_INTEGRATION_SIDECAR_CALLS_H_
