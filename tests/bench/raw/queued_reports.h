#ifndef TTL_TESTS_BENCH_RAW_QUEUED_REPORTS_H_
#define TTL_TESTS_BENCH_RAW_QUEUED_REPORTS_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "tests/bench/speed/sample.h"

namespace ttl::bench {

// Reports new items to a storage of the sidecar, one by one through its commit queue,
// `in_flight` of them under way at any time: items per second. `first` items were reported
// by earlier runs in that directory.
absl::StatusOr<Sample> ReportThroughQueue(const std::string& directory, uint64_t first,
                                          int in_flight, const Window& window);

}  // namespace ttl::bench

#endif  // TTL_TESTS_BENCH_RAW_QUEUED_REPORTS_H_
