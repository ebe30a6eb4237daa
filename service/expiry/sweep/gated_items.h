#ifndef TTL_SERVICE_EXPIRY_SWEEP_GATED_ITEMS_H_
#define TTL_SERVICE_EXPIRY_SWEEP_GATED_ITEMS_H_

#include <optional>
#include <vector>

#include "absl/time/time.h"
#include "service/core/container.h"
#include "service/core/feed/gate_view.h"
#include "service/storage/expiry_index.h"
#include "service/storage/feed.h"

namespace ttl {

// What is to be done about due items that the gates of their container do not let pass.
struct GatedItems {
  std::vector<GatedItem> to_set_aside;
  // Items that stay where they are, because their EXPIRED would have to be logged and the log is
  // full.
  bool are_blocked = false;
};

// Takes those out of `due`. `announced_until`: up to when all expiries were said to be logged;
// absent: not known. Pure.
GatedItems TakeOutGated(const Container& container, const GateView& gates,
                        std::optional<absl::Time> announced_until, std::vector<DueItem>& due);

}  // namespace ttl

#endif  // TTL_SERVICE_EXPIRY_SWEEP_GATED_ITEMS_H_
