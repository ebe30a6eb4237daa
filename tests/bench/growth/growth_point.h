#ifndef TTL_TESTS_BENCH_GROWTH_GROWTH_POINT_H_
#define TTL_TESTS_BENCH_GROWTH_GROWTH_POINT_H_

#include <cstdint>

namespace ttl::bench {

// What a sidecar with so many tracked items is like.
struct GrowthPoint {
  uint64_t items = 0;
  double loaded_per_second = 0;  // reported durably
  double check_p50_us = 0;       // one key, drawn from all of them, one call at a time
  double check_p99_us = 0;
  double swept_per_second = 0;  // expired, deleted by a store that answers at once
  double start_seconds = 0;     // until it serves
  double memory_mib = 0;        // anonymous, after all of the checks
  double disk_mib = 0;          // after a stop
};

}  // namespace ttl::bench

#endif  // TTL_TESTS_BENCH_GROWTH_GROWTH_POINT_H_
