#ifndef TTL_SERVICE_RPC_STATUS_HEALTH_H_
#define TTL_SERVICE_RPC_STATUS_HEALTH_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "service/core/guarded_clock.h"
#include "service/core/state/sweep_board.h"

// Whether all is as it should be, as far as it can be seen from outside of what does
// the work. Pure functions; times are steady.
namespace ttl {

// The sweeper takes a step at least every few seconds, whatever the store does.
inline constexpr absl::Duration kSweepStall = absl::Seconds(30);

// For how long the sweeper has taken no step, if that is longer than it ever should;
// absent if it is not. A sweeper that never took one is measured from `started`.
std::optional<absl::Duration> SweepStall(const SweeperView& sweeper, absl::Duration started,
                                         absl::Duration now);

// All that health looks at.
struct HealthInputs {
  std::optional<absl::Duration> sweep_stall;
  absl::Status write_health;
  std::vector<std::string> storage_problems = {};  // see Storage::Problems()
  std::string data_doubt = {};                     // see DataTrust
  const ClockStatus& clock;
  const StoreView& store;
  // Why reports are refused although storage takes writes; OK if they are not.
  absl::Status report_health = {};
  std::vector<std::string> overdue = {};  // see OverdueWatch
};

// What needs a look, in one sentence each; empty if all is well.
std::vector<std::string> DegradedReasons(const HealthInputs& inputs);

// The one about a sweeper that stands still for `stall`.
std::string StalledSweepReason(absl::Duration stall);

}  // namespace ttl

#endif  // TTL_SERVICE_RPC_STATUS_HEALTH_H_
