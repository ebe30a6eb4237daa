#ifndef TTL_TESTS_TESTING_RATE_BOUND_H_
#define TTL_TESTS_TESTING_RATE_BOUND_H_

#include <cstdint>
#include <vector>

#include "absl/time/time.h"

namespace ttl {

// A batch of deletes. `at` is its arrival, by a clock that does not step, as a duration since any
// fixed instant.
struct DeleteBatch {
  absl::Duration at;
  int64_t items;
};

// The maximum, over all windows that begin and end with a batch, of items - rate x length of the
// window. For a limiter that keeps to "rate x window + one batch" it is at most one batch. 0
// without batches. REQUIRES: ordered by `at`.
double WorstExcess(const std::vector<DeleteBatch>& batches, double items_per_second);

}  // namespace ttl

#endif  // TTL_TESTS_TESTING_RATE_BOUND_H_
