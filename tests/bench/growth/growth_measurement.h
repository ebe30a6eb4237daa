#ifndef TTL_TESTS_BENCH_GROWTH_GROWTH_MEASUREMENT_H_
#define TTL_TESTS_BENCH_GROWTH_GROWTH_MEASUREMENT_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "tests/bench/growth/growth_point.h"

namespace ttl::bench {

// Runs a sidecar from empty: loads it with the items of LoadRequest(), asks it for some of
// them, stops it, starts it again beside a store, and lets it sweep the tenth that is
// expired. An answer that is wrong is an error, and so is an item too many or too few
// that was deleted.
absl::StatusOr<GrowthPoint> MeasureGrowth(uint64_t items);

}  // namespace ttl::bench

#endif  // TTL_TESTS_BENCH_GROWTH_GROWTH_MEASUREMENT_H_
