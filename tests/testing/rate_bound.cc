#include "tests/testing/rate_bound.h"

#include <algorithm>

namespace ttl {

// The worst window that ends with a batch either begins with it, or prolongs
// the worst one that ends with the batch before: so one pass sees all windows.
double WorstExcess(const std::vector<DeleteBatch>& batches, double items_per_second) {
  double worst = 0;
  double ending_here = 0;
  absl::Duration last;
  for (const DeleteBatch& batch : batches) {
    const double allowed = items_per_second * absl::ToDoubleSeconds(batch.at - last);
    ending_here = std::max(ending_here - allowed, 0.0) + static_cast<double>(batch.items);
    worst = std::max(worst, ending_here);
    last = batch.at;
  }
  return worst;
}

}  // namespace ttl
