#include "service/rpc/status/due_items.h"

#include <algorithm>

#include "absl/time/time.h"
#include "service/core/due_rules.h"

namespace ttl {

int64_t SetAsideItems(Storage& storage, const Container& container) {
  const int64_t held = storage.holds().Counts(container.number).items_set_aside;
  return container.feed.is_on() ? held + storage.feed().Figures(container).gated_items : held;
}

// The histogram counts items that are set aside as due. The index, which does not, says whether
// others are.
int64_t FreeDueItems(Storage& storage, const Container& container, int64_t due,
                     int64_t now_seconds) {
  const int64_t set_aside = SetAsideItems(storage, container);
  if (set_aside == 0) return due;
  const DueRule rule = ComputeDueRule(container.settings.policy, container.replaced_policies,
                                      absl::FromUnixSeconds(now_seconds));
  const auto oldest = storage.expiry_index().OldestDueTime(container, rule, now_seconds);
  const bool some_are_due = oldest.ok() && oldest->has_value();
  return std::max<int64_t>(due - set_aside, some_are_due ? 1 : 0);
}

}  // namespace ttl
