#ifndef TTL_TESTS_BENCH_STEADY_STEADY_RUN_H_
#define TTL_TESTS_BENCH_STEADY_STEADY_RUN_H_

#include <chrono>
#include <cstdint>
#include <functional>

#include "absl/status/status.h"

namespace ttl::bench {

struct SteadyPlan {
  std::chrono::seconds length{600};
  std::chrono::milliseconds period{10'000};
  double checks_per_second = 2000;     // of one key each
  double reports_per_second = 10'000;  // in calls of a hundred
  int64_t ttl_seconds = 60;            // of what is reported
  uint64_t loaded = 1'000'000;         // the items that are asked for
};

// What was seen in one period. Latencies are in microseconds, from the instant at which
// a call was to be sent.
struct SteadyPeriod {
  double check_p50 = 0, check_p99 = 0, check_max = 0;
  double report_p50 = 0, report_p99 = 0, report_max = 0;
  int64_t deleted = 0;
  double disk_mib = 0;
  double memory_mib = 0;
  double server_cores = 0;
};

// Runs a sidecar beside a store that answers at once, under a load that does not change:
// checks, durable reports of new items, and the deletes of those whose ttl has passed.
// Calls `on_period` after each. The first wrong answer or failed call ends it.
absl::Status RunSteadily(const SteadyPlan& plan,
                         const std::function<void(const SteadyPeriod&)>& on_period);

}  // namespace ttl::bench

#endif  // TTL_TESTS_BENCH_STEADY_STEADY_RUN_H_
