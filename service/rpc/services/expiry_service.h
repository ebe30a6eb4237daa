#ifndef TTL_SERVICE_RPC_SERVICES_EXPIRY_SERVICE_H_
#define TTL_SERVICE_RPC_SERVICES_EXPIRY_SERVICE_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "service/base/done.h"
#include "service/core/clock.h"
#include "service/core/guarded_clock.h"
#include "service/core/state/published_sweep.h"
#include "service/core/state/usage_meter.h"
#include "service/core/tally_view.h"
#include "service/rpc/checks/check_counters.h"
#include "service/rpc/status/expiry_view.h"
#include "service/rpc/status/feed_view.h"
#include "service/rpc/status/forecast.h"
#include "service/storage/levers.h"
#include "service/storage/storage.h"
#include "service/transport/calls/rpc_service.h"
#include "ttl/v1/expiry_service.pb.h"

namespace ttl {

struct ExpiryServiceOptions {
  // The limit of a container that sets none; absent: no limit.
  std::optional<double> container_max_deletes_per_second;
  // The start of this process.
  absl::Time start_time;
  absl::Duration start_steady;
  // Returns further reasons for degraded health, one sentence each; see OverdueWatch. May be empty.
  std::function<std::vector<std::string>()> troubles;
  // Called after AcceptClock, so that the clock state is stored soon. Must not block. May be empty.
  std::function<void()> on_clock_accepted;
  // Called after a change that may allow deletes again, but for those of Levers. Must not block.
  // May be empty.
  std::function<void()> on_change;
};

// The gRPC service ExpiryService. Every change by an operator is logged with old and new state.
// Thread-safe. No call thread waits for a commit, and storage is read on the call worker's thread.
class ExpiryService final : public RpcService {
 public:
  // All must outlive this.
  struct Parts {
    Storage& storage;
    GuardedClock& clock;
    const Clock& system_clock;  // gives the steady time
    const PublishedSweep& published;
    const CheckCounters& counters;
    UsageMeter& usage;
    Levers& levers;
    const FeedView& feeds;
  };

  ExpiryService(const Parts& parts, ExpiryServiceOptions options);

  const google::protobuf::ServiceDescriptor& descriptor() const override;
  void AddMethods(MethodTable& table) override;

  // The methods that read. They block while they read storage.
  absl::Status Get(const v1::GetExpiryStatusRequest& request,
                   v1::GetExpiryStatusResponse& response) const;
  absl::Status List(const v1::ListExpiryStatusesRequest& request,
                    v1::ListExpiryStatusesResponse& response) const;
  absl::Status Explain(const v1::ExplainItemRequest& request,
                       v1::ExplainItemResponse& response) const;
  absl::Status HandleForecast(const v1::GetForecastRequest& request,
                              v1::GetForecastResponse& response) const;
  absl::Status ListStuck(const v1::ListStuckItemsRequest& request,
                         v1::ListStuckItemsResponse& response) const;

 private:
  using Snapshot = ExpiryView::Snapshot;

  struct BacklogView {
    Backlog known;
    std::string problem;  // why the index could not be read; empty if it was
  };

  absl::Status Report(const v1::ReportUsageRequest& request, v1::ReportUsageResponse& response);
  absl::Status Accept(const v1::AcceptClockRequest& request, v1::AcceptClockResponse& response);
  void HandlePause(const std::string& author, const v1::PauseDeletesRequest& request,
                   v1::PauseDeletesResponse& response, DoneStatus done);
  void HandleResume(const v1::ResumeDeletesRequest& request, v1::ResumeDeletesResponse& response,
                    DoneStatus done);
  void HandleConfirmPolicy(const v1::ConfirmPolicyRequest& request,
                           v1::ConfirmPolicyResponse& response, DoneStatus done);
  void HandleConfirmStore(const v1::ConfirmStoreRequest& request,
                          v1::ConfirmStoreResponse& response, DoneStatus done);
  void SetLimit(const v1::SetMaxDeletesPerSecondRequest& request,
                v1::SetMaxDeletesPerSecondResponse& response, DoneStatus done);

  // OK if there is something to confirm, and `store_id` is that of the connected store.
  absl::Status MayConfirmStore(const std::string& store_id) const;
  void NotifyChange() const;

  v1::SidecarStatus SidecarStatusAt(const Snapshot& snapshot) const;
  // Counts at most `max_counted` entries of the index; a larger backlog is what is sure by the
  // tallies.
  v1::ContainerExpiryStatus ContainerStatusAt(const Snapshot& snapshot, const Container& container,
                                              int64_t max_counted) const;
  void AddForecast(const Snapshot& snapshot, const Container& container,
                   absl::Span<const int64_t> times, Forecast& forecast) const;
  BacklogView BacklogAt(const Snapshot& snapshot, const Container& container,
                        const TallyView& tally, int64_t max_counted) const;

  const Parts parts_;
  const ExpiryServiceOptions options_;
  const ExpiryView view_;
};

}  // namespace ttl

#endif  // TTL_SERVICE_RPC_SERVICES_EXPIRY_SERVICE_H_
