#include "tests/testing/rate_bound.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/bench/workload/random.h"

namespace ttl {
namespace {

DeleteBatch At(double seconds, int64_t items) { return {absl::Seconds(seconds), items}; }

TEST(WorstExcessTest, IsTheLargestBatchWhileTheRateIsKept) {
  EXPECT_EQ(WorstExcess({}, 100), 0);
  EXPECT_EQ(WorstExcess({At(5, 10)}, 100), 10);
  EXPECT_DOUBLE_EQ(WorstExcess({At(0, 10), At(0.1, 10), At(0.2, 10)}, 100), 10);
  EXPECT_DOUBLE_EQ(WorstExcess({At(0, 1), At(100, 20), At(101, 1)}, 100), 20);
}

TEST(WorstExcessTest, FindsTheBurstWhereverItIs) {
  EXPECT_DOUBLE_EQ(WorstExcess({At(0, 10), At(0, 10)}, 100), 20);
  EXPECT_DOUBLE_EQ(WorstExcess({At(0, 10), At(50, 10), At(50.05, 10), At(90, 1)}, 100), 15);
}

TEST(WorstExcessTest, AgreesWithLookingAtEveryWindow) {
  workload::Random random(3);
  for (int round = 0; round < 100; ++round) {
    std::vector<DeleteBatch> batches;
    double at = 0;
    for (int i = 0; i < 20; ++i) {
      at += random.Fraction() * 0.2;
      batches.push_back(At(at, static_cast<int64_t>(random.Below(20))));
    }
    double expected = 0;
    for (size_t first = 0; first < batches.size(); ++first) {
      int64_t items = 0;
      for (size_t last = first; last < batches.size(); ++last) {
        items += batches[last].items;
        const double length = absl::ToDoubleSeconds(batches[last].at - batches[first].at);
        expected = std::max(expected, static_cast<double>(items) - 100 * length);
      }
    }
    EXPECT_NEAR(WorstExcess(batches, 100), expected, 1e-6);
  }
}

}  // namespace
}  // namespace ttl
