#ifndef TTL_SERVICE_RPC_SERVICES_CONTAINER_SERVICE_H_
#define TTL_SERVICE_RPC_SERVICES_CONTAINER_SERVICE_H_

#include <cstdint>
#include <string>

#include "absl/time/time.h"
#include "service/base/done.h"
#include "service/core/guarded_clock.h"
#include "service/core/state/usage_meter.h"
#include "service/rpc/services/container_watches.h"
#include "service/storage/commit/tallies.h"
#include "service/storage/containers.h"
#include "service/storage/feed.h"
#include "service/storage/holds.h"
#include "service/transport/calls/rpc_service.h"
#include "ttl/v1/container_service.pb.h"

namespace ttl {

struct ContainerServiceOptions {
  // How long after a policy change deletes also respect the replaced policy.
  absl::Duration policy_grace = absl::Seconds(60);
};

// The gRPC service ContainerService. Every change is logged with old and new values. Thread-safe;
// never blocks.
class ContainerService final : public RpcService {
 public:
  // All arguments must outlive this. Deleted containers are removed from `usage`.
  ContainerService(Containers& containers, const Holds& holds, const Feed& feed,
                   const Tallies& tallies, const GuardedClock& clock, UsageMeter& usage,
                   const ContainerServiceOptions& options);

  const google::protobuf::ServiceDescriptor& descriptor() const override;
  void AddMethods(MethodTable& table) override;

 private:
  // What callers see of `container`.
  v1::Container View(const Container& container) const;
  // How many subscriptions the container with that id has.
  int64_t CountSubscriptions(const std::string& id) const;

  absl::Status Get(const v1::GetContainerRequest& request,
                   v1::GetContainerResponse& response) const;
  absl::Status List(const v1::ListContainersRequest& request,
                    v1::ListContainersResponse& response) const;

  void Create(const v1::CreateContainerRequest& request, v1::CreateContainerResponse& response,
              DoneStatus done);
  void Update(const std::string& author, const v1::UpdateContainerRequest& request,
              v1::UpdateContainerResponse& response, DoneStatus done);
  void Delete(const std::string& author, const v1::DeleteContainerRequest& request,
              v1::DeleteContainerResponse& response, DoneStatus done);

  // The effect of an update with validate_only. Changes nothing and does not close the delete gate.
  absl::Status Preview(const v1::UpdateContainerRequest& request,
                       v1::UpdateContainerResponse& response) const;

  Containers& containers_;
  const Holds& holds_;
  const Feed& feed_;
  const Tallies& tallies_;
  const GuardedClock& clock_;
  UsageMeter& usage_;
  const ContainerServiceOptions options_;
  ContainerWatches watches_;
};

}  // namespace ttl

#endif  // TTL_SERVICE_RPC_SERVICES_CONTAINER_SERVICE_H_
