#ifndef TTL_SERVICE_RPC_STATUS_EXPIRY_VIEW_H_
#define TTL_SERVICE_RPC_STATUS_EXPIRY_VIEW_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "service/core/clock.h"
#include "service/core/delete_budget.h"
#include "service/core/delete_holds.h"
#include "service/core/guarded_clock.h"
#include "service/core/state/delete_limit.h"
#include "service/core/state/store_trust.h"
#include "service/core/state/sweep_board.h"
#include "service/core/state/usage_ledger.h"
#include "service/storage/storage.h"

namespace ttl {

// How free deletes are to go, computed when asked, never by the sweeper: one that stands
// still shows. What the status and the metrics say comes from here. Thread-safe.
class ExpiryView {
 public:
  // What it looks at; all must outlive it.
  struct Parts {
    Storage& storage;
    const GuardedClock& clock;
    const Clock& system_clock;  // gives the steady time
    const SweepBoard& board;
    const UsageLedger& usage;
    const DeleteLimit& limit;
    const StoreTrust& trust;
    // Of a container that sets none of its own; absent: no limit.
    std::optional<double> container_max_deletes_per_second;
  };

  // What concerns all containers, at one moment.
  struct Moment {
    ClockStatus clock;
    std::optional<absl::Duration> steady;  // absent: no sound reading
    StoreView store;
    SweeperView sweeper;
    std::optional<Pause> all_paused;
    std::optional<double> limit_per_second;
    absl::Status write_health;
  };

  // What lets deletes of one container go, or not.
  struct Freedom {
    ContainerSweepView sweep;
    std::optional<double> limit_per_second;  // of the container or of all, the lesser
    std::optional<DeleteBudget> budget;      // absent: usage does not matter
    std::vector<DeleteHold> holds;
    // The least of limit, budget and what the store bears; absent: no limit.
    std::optional<double> allowed_per_second;
  };

  explicit ExpiryView(const Parts& parts) : parts_(parts) {}

  Moment TakeMoment() const;
  Freedom FreedomAt(const Moment& moment, const Container& container) const;

  // Why `store` has to be confirmed; empty if it has not.
  std::string Unconfirmed(const StoreView& store) const;

 private:
  // Whether items that are due wait for their next try; false if that cannot be read.
  bool WaitsForRetry(const Moment& moment, const Container& container) const;

  const Parts parts_;
};

}  // namespace ttl

#endif  // TTL_SERVICE_RPC_STATUS_EXPIRY_VIEW_H_
