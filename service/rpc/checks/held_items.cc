#include "service/rpc/checks/held_items.h"

#include <cstddef>
#include <string>

#include "absl/status/statusor.h"

namespace ttl {

v1::Visibility JudgeExpired(const Holds& holds, const Container& container, const ItemKey& key) {
  if (!container.settings.show_held) return v1::VISIBILITY_EXPIRED;
  const absl::StatusOr<bool> is_held = holds.IsHeld(container.number, key);
  if (!is_held.ok()) return v1::VISIBILITY_UNTRACKED;
  if (*is_held) return v1::VISIBILITY_VISIBLE;
  return holds.AreInDoubt(container) ? v1::VISIBILITY_UNTRACKED : v1::VISIBILITY_EXPIRED;
}

void JudgeExpiredAgain(absl::Span<const Check> checks,
                       absl::FunctionRef<v1::Visibility(const ItemKey&)> judge,
                       CheckAnswers& answers) {
  for (size_t i = 0; i < checks.size(); ++i) {
    if (answers.VisibilityAt(i) != v1::VISIBILITY_EXPIRED) continue;
    answers.SetVisibility(i,
                          judge({std::string(checks[i].partition_key), std::string(checks[i].id)}));
  }
}

}  // namespace ttl
