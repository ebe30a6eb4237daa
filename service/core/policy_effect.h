#ifndef TTL_SERVICE_CORE_POLICY_EFFECT_H_
#define TTL_SERVICE_CORE_POLICY_EFFECT_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "absl/time/time.h"
#include "service/core/container.h"
#include "service/core/item_histogram.h"
#include "service/core/tally_view.h"

// The effect of policies on the items of a container, computed from its tally without reading
// items. Pure functions.
namespace ttl {

// Items that expire within each of the following hours; the first hour comes first.
inline constexpr size_t kForecastHours = 24;
using HourlyItems = std::array<int64_t, kForecastHours>;

// The effect of a change of policy on the items of a container. Each figure but the last is at most
// `error_bound_items` off and covers only the items counted so far.
struct PolicyEffect {
  int64_t newly_expired_items = 0;  // visible now, hidden at once
  int64_t newly_visible_items = 0;  // hidden now, shown again
  int64_t newly_due_items = 0;      // due at once, by the new policy alone
  HourlyItems expiring_per_hour{};  // under the new policy
  int64_t error_bound_items = 0;

  // Upper bound of the newly due items, for the brake: all tracked items while not all are counted.
  // 0 for a change that only loosens.
  int64_t newly_due_at_most = 0;
};

// The effect of replacing `present` by `next` at `now`.
PolicyEffect ComputePolicyEffect(const TallyView& tally, const Policy& present, const Policy& next,
                                 absl::Time now);

// Whether a change that makes up to `newly_due_at_most` of `tracked_items` items due pulls `brake`.
bool PullsBrake(const PolicyBrake& brake, int64_t newly_due_at_most, int64_t tracked_items);

// Items that are expired at `now` under `policy`; the others are live.
ItemEstimate CountExpired(const ItemHistogram& tally, const Policy& policy, absl::Time now);

// Items that expire within the hours after `now` under `policy`.
HourlyItems ForecastPerHour(const ItemHistogram& tally, const Policy& policy, absl::Time now);

}  // namespace ttl

#endif  // TTL_SERVICE_CORE_POLICY_EFFECT_H_
