#ifndef TTL_TESTS_BENCH_SPEED_CONTEST_H_
#define TTL_TESTS_BENCH_SPEED_CONTEST_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tests/bench/speed/report.h"
#include "tests/bench/speed/sample.h"

namespace ttl::bench {

// One that ours competes with.
struct Opponent {
  std::string name;
  Measurement measure;
  std::optional<Target> target;
};

// The same work done by ours and by others.
struct Contest {
  std::string name;
  std::string work;
  std::string unit;
  Measurement ours;
  std::vector<Opponent> opponents;
};

struct Rounds {
  int count = 5;
  Window window;
};

// Measures all of them in turn, round by round, every second round in reverse, so that
// what changes on the machine meanwhile meets all alike. The note of the row says how
// busy generator and server were. The first error ends it.
absl::StatusOr<Row> Hold(const Contest& contest, const Rounds& rounds);

}  // namespace ttl::bench

#endif  // TTL_TESTS_BENCH_SPEED_CONTEST_H_
