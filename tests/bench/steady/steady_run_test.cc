#include "tests/bench/steady/steady_run.h"

#include <gtest/gtest.h>

#include <chrono>
#include <vector>

namespace ttl::bench {
namespace {

TEST(SteadyRunTest, ChecksReportsAndDeletesGoOnTogether) {
  SteadyPlan plan;
  // What is reported first is deleted after two seconds, and on a machine that stalls a few later.
  plan.length = std::chrono::seconds(8);
  plan.period = std::chrono::milliseconds(1000);
  plan.checks_per_second = 200;
  plan.reports_per_second = 1000;
  plan.ttl_seconds = 1;
  plan.loaded = 1000;
  std::vector<SteadyPeriod> periods;
  const absl::Status status =
      RunSteadily(plan, [&](const SteadyPeriod& period) { periods.push_back(period); });
  ASSERT_TRUE(status.ok()) << status;
  ASSERT_EQ(periods.size(), 8u);
  int64_t deleted = 0;
  for (const SteadyPeriod& period : periods) {
    EXPECT_GT(period.check_p50, 0);
    EXPECT_LE(period.check_p50, period.check_max);
    EXPECT_GT(period.report_p50, 0);
    EXPECT_LE(period.report_p50, period.report_max);
    EXPECT_GT(period.memory_mib, 0);
    deleted += period.deleted;
  }
  EXPECT_GT(deleted, 0);
}

}  // namespace
}  // namespace ttl::bench
