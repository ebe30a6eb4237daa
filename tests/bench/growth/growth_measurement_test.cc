#include "tests/bench/growth/growth_measurement.h"

#include <gtest/gtest.h>

namespace ttl::bench {
namespace {

// For the sake of the answers, all of which are checked; the figures mean nothing.
TEST(GrowthMeasurementTest, FindsEveryFigureAndNoWrongAnswer) {
  const absl::StatusOr<GrowthPoint> point = MeasureGrowth(1000);
  ASSERT_TRUE(point.ok()) << point.status();
  EXPECT_EQ(point->items, 1000u);
  EXPECT_GT(point->loaded_per_second, 0);
  EXPECT_GT(point->check_p50_us, 0);
  EXPECT_GE(point->check_p99_us, point->check_p50_us);
  EXPECT_GT(point->swept_per_second, 0);
  EXPECT_GT(point->start_seconds, 0);
  EXPECT_GT(point->memory_mib, 0);
  EXPECT_GT(point->disk_mib, 0);
}

}  // namespace
}  // namespace ttl::bench
