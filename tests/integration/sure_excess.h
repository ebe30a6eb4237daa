#ifndef TTL_TESTS_INTEGRATION_SURE_EXCESS_H_
#define TTL_TESTS_INTEGRATION_SURE_EXCESS_H_

#include <vector>

#include "tests/testing/rate_bound.h"

namespace ttl {

// Looks at all windows of time: the most deletes that were surely sent in one beyond rate x
// its length. When a batch was sent is not known, only that it was at its instant in `begun`
// at the earliest and at the one in `arrived` at the latest: what is late on its way, and on
// a machine that stands still all is, makes the excess smaller and never larger. Both hold
// the same batches, each in the order of its own instants, by the same clock.
double SureExcess(const std::vector<DeleteBatch>& begun, const std::vector<DeleteBatch>& arrived,
                  double items_per_second);

}  // namespace ttl

#endif  // TTL_TESTS_INTEGRATION_SURE_EXCESS_H_
