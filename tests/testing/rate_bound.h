#ifndef TTL_TESTS_TESTING_RATE_BOUND_H_
#define TTL_TESTS_TESTING_RATE_BOUND_H_

#include <cstdint>
#include <vector>

#include "absl/time/time.h"

namespace ttl {

// A batch of deletes as it arrived. `at` is a reading of a clock that does not
// jump, as a duration since any fixed instant.
struct DeleteBatch {
  absl::Duration at;
  int64_t items;
};

// The most by which the items of any window exceed rate x length of the window:
// the largest value, over all windows that begin and end with a batch, of
// items - rate x length. A limiter that keeps to "rate x window + one batch"
// never exceeds one batch. 0 for no batches. REQUIRES: ordered by `at`.
double WorstExcess(const std::vector<DeleteBatch>& batches, double items_per_second);

}  // namespace ttl

#endif  // TTL_TESTS_TESTING_RATE_BOUND_H_
