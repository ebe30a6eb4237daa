#ifndef TTL_SERVICE_RPC_CONTAINER_SERVICE_H_
#define TTL_SERVICE_RPC_CONTAINER_SERVICE_H_

#include <memory>
#include <vector>

#include "absl/time/time.h"
#include "service/core/guarded_clock.h"
#include "service/core/usage_ledger.h"
#include "service/rpc/call_queue.h"
#include "service/rpc/call_worker.h"
#include "service/rpc/container_watches.h"
#include "service/rpc/queued_method.h"
#include "service/storage/containers.h"
#include "service/storage/done.h"
#include "service/storage/tallies.h"
#include "ttl/v1/container_service.grpc.pb.h"

namespace ttl {

struct ContainerServiceOptions {
  // For how long deletes respect a policy that was replaced.
  absl::Duration policy_grace = absl::Seconds(60);
};

// The gRPC service of the same name. Every change is logged with old and new
// values. Thread-safe; never blocks.
class ContainerService final {
 public:
  // What a server registers of it; each server has its own.
  using Endpoint = v1::ContainerService::AsyncService;

  // All must outlive this. `usage` forgets containers that are deleted.
  ContainerService(Containers& containers, const Tallies& tallies, const GuardedClock& clock,
                   UsageLedger& usage, const ContainerServiceOptions& options);

  // Accepts calls of `endpoint` on a queue of its server, whose thread does not run yet;
  // see CallQueue. This, `endpoint` and `worker` must outlive the queue. Once per queue,
  // by one thread at a time.
  void AcceptCalls(Endpoint& endpoint, CallQueue& queue, CallWorker& worker);

  // Before the server stops: ends the open streams, and later ones at once, with
  // UNAVAILABLE. Thread-safe.
  void EndStreams() {
    for (const auto& methods : queues_) methods->EndStreams();
  }

 private:
  absl::Status Get(const v1::GetContainerRequest& request,
                   v1::GetContainerResponse& response) const;
  absl::Status List(const v1::ListContainersRequest& request,
                    v1::ListContainersResponse& response) const;

  void Create(const v1::CreateContainerRequest& request, v1::CreateContainerResponse& response,
              DoneStatus done);
  void Update(const v1::UpdateContainerRequest& request, v1::UpdateContainerResponse& response,
              DoneStatus done);
  void Delete(const v1::DeleteContainerRequest& request, v1::DeleteContainerResponse& response,
              DoneStatus done);

  // What the update would do; changes nothing and closes no gate.
  absl::Status Preview(const v1::UpdateContainerRequest& request,
                       v1::UpdateContainerResponse& response) const;

  Containers& containers_;
  const Tallies& tallies_;
  const GuardedClock& clock_;
  UsageLedger& usage_;
  const ContainerServiceOptions options_;
  std::vector<std::unique_ptr<QueuedMethods>> queues_;
  ContainerWatches watches_;
};

}  // namespace ttl

#endif  // TTL_SERVICE_RPC_CONTAINER_SERVICE_H_
