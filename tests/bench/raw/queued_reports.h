#ifndef TTL_TESTS_BENCH_RAW_QUEUED_REPORTS_H_
#define TTL_TESTS_BENCH_RAW_QUEUED_REPORTS_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "tests/bench/speed/sample.h"

namespace ttl::bench {

struct QueuedReports {
  uint64_t first = 0;  // items that were reported by earlier runs in the directory
  int in_flight = 64;  // under way at any time
  bool has_feed = false;
  uint64_t items = 0;  // to report, however long it takes; 0: until the window is over
};

// Reports new items to a storage of the sidecar, one by one through its commit queue: items per
// second; 0 for a number of items.
absl::StatusOr<Sample> ReportThroughQueue(const std::string& directory, const QueuedReports& work,
                                          const Window& window);

}  // namespace ttl::bench

#endif  // TTL_TESTS_BENCH_RAW_QUEUED_REPORTS_H_
