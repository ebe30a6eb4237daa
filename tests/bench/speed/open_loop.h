#ifndef TTL_TESTS_BENCH_SPEED_OPEN_LOOP_H_
#define TTL_TESTS_BENCH_SPEED_OPEN_LOOP_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "tests/bench/speed/grpc_load.h"
#include "tests/bench/speed/sample.h"

namespace ttl::bench {

// What checks at a fixed rate saw.
struct OpenLoopResult {
  // From the instant at which a check was to be sent until its answer, in microseconds: a
  // check that waits behind a slow one is slow itself.
  std::vector<double> latencies;
  // Over the window.
  double generator_cores = 0;
  double server_cores = 0;
};

// Sends checks of one key, of the first `items` loaded ones, at a fixed rate whether the
// earlier ones are answered or not. INTERNAL with the first wrong answer or failed call.
absl::StatusOr<OpenLoopResult> CheckAtRate(const Server& server, uint64_t items,
                                           double calls_per_second, const Window& window);

}  // namespace ttl::bench

#endif  // TTL_TESTS_BENCH_SPEED_OPEN_LOOP_H_
