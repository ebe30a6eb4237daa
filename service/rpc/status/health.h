#ifndef TTL_SERVICE_RPC_STATUS_HEALTH_H_
#define TTL_SERVICE_RPC_STATUS_HEALTH_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "service/core/guarded_clock.h"
#include "service/core/state/published_sweep.h"

// Health, judged from outside of the parts that do the work. Pure functions; times are steady.
namespace ttl {

// The sweeper counts as stalled after this long without a step: it takes one at least every few
// seconds, whatever the store does.
inline constexpr absl::Duration kSweepStall = absl::Seconds(30);

// How long the sweeper has taken no step, if that is longer than kSweepStall; else absent. Before
// its first step the time counts from `started`.
std::optional<absl::Duration> SweepStall(const SweeperView& sweeper, absl::Duration started,
                                         absl::Duration now);

// Everything that health depends on.
struct HealthInputs {
  std::optional<absl::Duration> sweep_stall;
  absl::Status write_health;
  std::vector<std::string> storage_problems = {};  // see Storage::Problems()
  std::string data_doubt = {};                     // see DataTrust
  const ClockStatus& clock;
  const StoreView& store;
  // Why reports are refused although storage accepts writes; OK if they are not.
  absl::Status report_health = {};
  std::vector<std::string> troubles = {};  // of single containers; see OverdueWatch
};

// The problems, one sentence each; empty if the sidecar is healthy.
std::vector<std::string> DegradedReasons(const HealthInputs& inputs);

// The sentence about a sweeper that has taken no step for `stall`.
std::string StalledSweepReason(absl::Duration stall);

}  // namespace ttl

#endif  // TTL_SERVICE_RPC_STATUS_HEALTH_H_
