#include "service/core/adoption.h"

#include <algorithm>
#include <optional>

#include "service/core/due_rules.h"
#include "service/core/policy_effect.h"

namespace ttl {
namespace {

// First whole second not before `time`.
int64_t CeilUnixSeconds(absl::Time time) {
  const int64_t seconds = absl::ToUnixSeconds(time);
  return absl::FromUnixSeconds(seconds) < time ? seconds + 1 : seconds;
}

}  // namespace

int64_t AdoptedUntil(const Container& container, const AdoptionTerms& terms,
                     const ItemTimes& times) {
  const bool is_new = terms.now < container.create_time + terms.grace;
  if (!terms.adopted && !is_new) return 0;
  // Without either there is nothing to wait for.
  if (terms.grace <= absl::ZeroDuration() && !container.settings.brake.has_value()) return 0;
  const DueRule rule = ComputeDueRule(container.settings.policy, {}, terms.now);
  if (!IsExpiredAt(DueTime(rule, times), terms.latest)) return 0;
  // An earlier confirmation does not apply to items that are adopted later.
  return std::max(CeilUnixSeconds(terms.now + terms.grace), container.adoption.freed_until + 1);
}

bool IsToConfirm(const Container& container, int64_t adopted_until) {
  return adopted_until > container.adoption.freed_until;
}

int64_t AdoptionEnd(const Container& container, int64_t adopted_until) {
  const AdoptionState& state = container.adoption;
  if (adopted_until == 0) return 0;
  if (!IsToConfirm(container, adopted_until)) return std::min(adopted_until, state.freed_at);
  if (!state.brake.has_value()) return adopted_until;
  return std::max(adopted_until, CeilUnixSeconds(state.brake->until));
}

int64_t LastAdoptionEnded(const Container& container, int64_t now_seconds) {
  const AdoptionState& state = container.adoption;
  const bool is_braked =
      state.brake.has_value() && now_seconds < CeilUnixSeconds(state.brake->until);
  return is_braked ? state.freed_until : std::max(now_seconds, state.freed_until);
}

int64_t AdoptedItemsToConfirm(const Container& container, const AdoptionTally& tally) {
  return tally.items - std::max(tally.items_before_run, container.adoption.counted_items);
}

bool AdoptionPullsBrake(const Container& container, const AdoptionTally& tally,
                        int64_t tracked_items) {
  const std::optional<PolicyBrake>& brake = container.settings.brake;
  return brake.has_value() &&
         PullsBrake(*brake, AdoptedItemsToConfirm(container, tally), tracked_items);
}

bool AdoptionIsBraked(const Container& container, absl::Time now) {
  const std::optional<AdoptionBrake>& brake = container.adoption.brake;
  return brake.has_value() && now < brake->until;
}

AdoptionState PullBrake(const Container& container, const AdoptionTally& tally, absl::Time now) {
  const int64_t release_after_seconds =
      container.settings.brake.value_or(PolicyBrake()).release_after_seconds;
  AdoptionState state = container.adoption;
  state.brake = {AdoptedItemsToConfirm(container, tally),
                 now + absl::Seconds(release_after_seconds)};
  state.counted_items = tally.items;
  return state;
}

AdoptionState ConfirmAdopted(const Container& container, const AdoptionTally& tally,
                             absl::Time now) {
  AdoptionState state;
  state.freed_until = std::max(tally.last_adopted_until, container.adoption.freed_until);
  state.freed_at = absl::ToUnixSeconds(now);
  state.counted_items = tally.items;
  return state;
}

}  // namespace ttl
