#include "tests/integration/sure_excess.h"

#include <algorithm>
#include <cstddef>

namespace ttl {

// What has arrived by the end of a window, less what was begun before the window, was sent
// within it. So the best beginning so far, for each end, is found in one pass.
double SureExcess(const std::vector<DeleteBatch>& begun, const std::vector<DeleteBatch>& arrived,
                  double items_per_second) {
  if (begun.empty()) return 0;
  const auto allowed_until = [&](absl::Duration instant) {
    return items_per_second * absl::ToDoubleSeconds(instant - begun.front().at);
  };
  double worst = 0;
  double best_beginning = 0;
  double begun_items = 0;
  double arrived_items = 0;
  size_t next = 0;
  for (const DeleteBatch& batch : arrived) {
    for (; next < begun.size() && begun[next].at <= batch.at; ++next) {
      best_beginning = std::max(best_beginning, allowed_until(begun[next].at) - begun_items);
      begun_items += static_cast<double>(begun[next].items);
    }
    arrived_items += static_cast<double>(batch.items);
    worst = std::max(worst, arrived_items - allowed_until(batch.at) + best_beginning);
  }
  return worst;
}

}  // namespace ttl
