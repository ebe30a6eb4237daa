#ifndef TTL_TESTS_BENCH_SPEED_SAMPLE_H_
#define TTL_TESTS_BENCH_SPEED_SAMPLE_H_

#include <chrono>
#include <functional>

#include "absl/status/statusor.h"

namespace ttl::bench {

// How long to measure, after a time that does not count.
struct Window {
  std::chrono::milliseconds warm_up{300};
  std::chrono::milliseconds length{1000};
};

// What one measurement saw.
struct Sample {
  double value = 0;  // in the unit of its row, mostly something per second
  // Cores kept busy meanwhile, by this process and by the one measured; 0: not known.
  double generator_cores = 0;
  double server_cores = 0;
};

// Loads one contender for a window. An answer that is wrong is an error.
using Measurement = std::function<absl::StatusOr<Sample>(const Window&)>;

}  // namespace ttl::bench

#endif  // TTL_TESTS_BENCH_SPEED_SAMPLE_H_
