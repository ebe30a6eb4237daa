#include "service/expiry/sweep/gated_items.h"

#include <cstdint>

#include "service/core/ttl_rules.h"

namespace ttl {

GatedItems TakeOutGated(const Container& container, const GateView& gates,
                        std::optional<absl::Time> announced_until, std::vector<DueItem>& due) {
  GatedItems gated;
  std::erase_if(due, [&](const DueItem& item) {
    const uint64_t sequence = item.item.expired_sequence;
    if (gates.LetsPass(sequence)) return false;
    const bool is_readable = sequence > gates.again_up_to;
    if (!is_readable && gates.is_full) {
      gated.are_blocked = true;
      return true;
    }
    const std::optional<int64_t> end =
        ExpireTime(container.settings.policy.default_ttl, item.item.version.times);
    const bool is_late = announced_until.has_value() && IsExpiredAt(end, *announced_until);
    gated.to_set_aside.push_back({item.key, item.item.generation, is_late});
    return true;
  });
  return gated;
}

}  // namespace ttl
