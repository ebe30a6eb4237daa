#include "service/core/adoption_tally.h"

#include <algorithm>

namespace ttl {

void AdoptionTally::Add(int64_t adopted_until) {
  if (left == 0) {
    items_before_run = items;
    last_adopted_until = 0;
  }
  ++items;
  ++left;
  last_adopted_until = std::max(last_adopted_until, adopted_until);
}

void AdoptionTally::Remove() { left = std::max<int64_t>(left - 1, 0); }

}  // namespace ttl
