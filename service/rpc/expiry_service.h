#ifndef TTL_SERVICE_RPC_EXPIRY_SERVICE_H_
#define TTL_SERVICE_RPC_EXPIRY_SERVICE_H_

#include <functional>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "service/core/delete_holds.h"
#include "service/core/guarded_clock.h"
#include "service/core/sweep_board.h"
#include "service/rpc/check_counters.h"
#include "service/storage/storage.h"
#include "ttl/v1/expiry_service.grpc.pb.h"

namespace ttl {

struct ExpiryServiceOptions {
  // Rates the sweeper keeps to, to be shown; absent: no limit.
  std::optional<double> max_deletes_per_second;            // over all containers
  std::optional<double> container_max_deletes_per_second;  // where a container sets none
  absl::Time start_time;                                   // of this process
  // Called when an operator has accepted the wall clock, so that it is kept over
  // restarts soon. Must not block. May be empty.
  std::function<void()> on_clock_accepted;
};

// The gRPC service of the same name. Every lever pulled is logged with old and
// new state. Thread-safe; never waits for a change to become durable, and reads
// storage on the calling thread.
class ExpiryService final : public v1::ExpiryService::CallbackService {
 public:
  // All must outlive this.
  ExpiryService(Storage& storage, GuardedClock& clock, const SweepBoard& board,
                const CheckCounters& counters, ExpiryServiceOptions options);

  grpc::ServerUnaryReactor* GetExpiryStatus(grpc::CallbackServerContext* context,
                                            const v1::GetExpiryStatusRequest* request,
                                            v1::GetExpiryStatusResponse* response) override;
  grpc::ServerUnaryReactor* ListExpiryStatuses(grpc::CallbackServerContext* context,
                                               const v1::ListExpiryStatusesRequest* request,
                                               v1::ListExpiryStatusesResponse* response) override;
  grpc::ServerUnaryReactor* ExplainItem(grpc::CallbackServerContext* context,
                                        const v1::ExplainItemRequest* request,
                                        v1::ExplainItemResponse* response) override;
  grpc::ServerUnaryReactor* PauseDeletes(grpc::CallbackServerContext* context,
                                         const v1::PauseDeletesRequest* request,
                                         v1::PauseDeletesResponse* response) override;
  grpc::ServerUnaryReactor* ResumeDeletes(grpc::CallbackServerContext* context,
                                          const v1::ResumeDeletesRequest* request,
                                          v1::ResumeDeletesResponse* response) override;
  grpc::ServerUnaryReactor* AcceptClock(grpc::CallbackServerContext* context,
                                        const v1::AcceptClockRequest* request,
                                        v1::AcceptClockResponse* response) override;

 private:
  // What concerns all containers, at one moment.
  struct Moment {
    ClockStatus clock;
    StoreView store;
    std::optional<Pause> all_paused;
    absl::Status write_health;
  };

  absl::Status Get(const v1::GetExpiryStatusRequest& request,
                   v1::GetExpiryStatusResponse& response) const;
  absl::Status List(const v1::ListExpiryStatusesRequest& request,
                    v1::ListExpiryStatusesResponse& response) const;
  absl::Status Explain(const v1::ExplainItemRequest& request,
                       v1::ExplainItemResponse& response) const;
  absl::Status Accept(v1::AcceptClockResponse& response);

  Moment TakeMoment() const;
  v1::SidecarStatus SidecarStatusAt(const Moment& moment) const;
  absl::StatusOr<v1::ContainerExpiryStatus> ContainerStatusAt(const Moment& moment,
                                                              const Container& container) const;
  std::optional<double> AllowedRate(const Container& container) const;
  std::vector<DeleteHold> HoldsAt(const Moment& moment, const Container& container) const;

  Storage& storage_;
  GuardedClock& clock_;
  const SweepBoard& board_;
  const CheckCounters& counters_;
  const ExpiryServiceOptions options_;
};

}  // namespace ttl

#endif  // TTL_SERVICE_RPC_EXPIRY_SERVICE_H_
