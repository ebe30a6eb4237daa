#ifndef TTL_SERVICE_RPC_STATUS_EXPIRY_VIEW_H_
#define TTL_SERVICE_RPC_STATUS_EXPIRY_VIEW_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "service/core/clock.h"
#include "service/core/delete_holds.h"
#include "service/core/delete_rates.h"
#include "service/core/guarded_clock.h"
#include "service/core/state/delete_limit.h"
#include "service/core/state/published_sweep.h"
#include "service/core/state/store_trust.h"
#include "service/core/state/usage_meter.h"
#include "service/core/windows/window_view.h"
#include "service/storage/storage.h"

namespace ttl {

// What holds deletes back. Computed on demand and not by the sweeper, so that a stalled sweeper is
// noticed. The source of status and metrics. Thread-safe.
class ExpiryView {
 public:
  // All must outlive this.
  struct Parts {
    Storage& storage;
    const GuardedClock& clock;
    const Clock& system_clock;  // gives the steady time
    const PublishedSweep& published;
    const UsageMeter& usage;
    const DeleteLimit& limit;
    const StoreTrust& trust;
    // Limit of a container without one of its own; absent: no limit.
    std::optional<double> container_max_deletes_per_second;
  };

  // The state that concerns all containers, at one instant.
  struct Snapshot {
    ClockStatus clock;
    std::optional<absl::Duration> steady;  // absent: no sound reading
    StoreView store;
    SweeperView sweeper;
    std::optional<Pause> all_paused;
    std::optional<double> limit_per_second;
    absl::Status write_health;
  };

  // The limits and holds of deletes in one container.
  struct Freedom {
    ContainerSweepView sweep;
    WindowView windows;
    DeleteRates rates;
    std::vector<DeleteHold> holds;
    std::optional<absl::Time> deletes_begin;  // see DeletesBegin()
    // The least of limit, budget and the rate that the store accepts; absent: no limit.
    std::optional<double> allowed_per_second;
    // The same as if the container had no windows.
    std::optional<double> allowed_but_windows;
  };

  explicit ExpiryView(const Parts& parts) : parts_(parts) {}

  Snapshot TakeSnapshot() const;
  // Of the container as a whole, and of one of its items, with an expire_at or without.
  Freedom FreedomAt(const Snapshot& snapshot, const Container& container) const {
    return FreedomAt(snapshot, container, container.has_expire_at);
  }
  Freedom FreedomAt(const Snapshot& snapshot, const Container& container,
                    bool with_expire_at) const;
  // The same of the container as a whole, without a look at the index for kRetry, which is never
  // among the holds.
  Freedom FreedomButRetries(const Snapshot& snapshot, const Container& container) const {
    return Compute(snapshot, container, container.has_expire_at, /*waits_for_retry=*/false);
  }

  // Why `store` has to be confirmed; empty if it need not be.
  std::string Unconfirmed(const StoreView& store) const;

 private:
  Freedom Compute(const Snapshot& snapshot, const Container& container, bool with_expire_at,
                  bool waits_for_retry) const;
  // Whether due items wait for their next try; false if the index cannot be read.
  bool WaitsForRetry(const Snapshot& snapshot, const Container& container) const;

  const Parts parts_;
};

}  // namespace ttl

#endif  // TTL_SERVICE_RPC_STATUS_EXPIRY_VIEW_H_
