#include "service/core/state/lateness_histogram.h"

#include <numeric>

#include "gtest/gtest.h"

namespace ttl {
namespace {

// The only slot that one delete so late is counted in.
size_t SlotOf(absl::Duration lateness) {
  LatenessHistogram histogram;
  histogram.Add(lateness);
  size_t slot = 0;
  while (histogram.counts[slot] == 0) ++slot;
  return slot;
}

TEST(LatenessHistogramTest, BoundsBelongToTheirSlot) {
  for (size_t i = 0; i < LatenessHistogram::kUpperBounds.size(); ++i) {
    const absl::Duration bound = LatenessHistogram::kUpperBounds[i];
    EXPECT_EQ(SlotOf(bound), i) << bound;
    EXPECT_EQ(SlotOf(bound + absl::Nanoseconds(1)), i + 1) << bound;
  }
}

TEST(LatenessHistogramTest, EveryDeleteIsCountedOnce) {
  LatenessHistogram histogram;
  for (const absl::Duration lateness : {absl::ZeroDuration(), absl::Seconds(3), absl::Hours(2),
                                        absl::Hours(24 * 365), absl::Seconds(-5)}) {
    histogram.Add(lateness);
  }
  EXPECT_EQ(std::accumulate(histogram.counts.begin(), histogram.counts.end(), int64_t{0}), 5);
}

TEST(LatenessHistogramTest, EarlyCountsAsInTimeAndTakesNothingOffTheSum) {
  LatenessHistogram histogram;
  histogram.Add(absl::Seconds(10));
  histogram.Add(absl::Seconds(-4));
  EXPECT_EQ(histogram.sum, absl::Seconds(10));
  EXPECT_EQ(histogram.counts[0], 1);
}

TEST(LatenessHistogramTest, SumsAddSlotBySlot) {
  LatenessHistogram a;
  a.Add(absl::Seconds(1));
  a.Add(absl::Hours(1));
  LatenessHistogram b;
  b.Add(absl::Seconds(1));
  b.Add(absl::Hours(48));
  a += b;
  EXPECT_EQ(a.counts[0], 2);
  EXPECT_EQ(a.counts[8], 1);
  EXPECT_EQ(a.counts.back(), 1);
  EXPECT_EQ(a.sum, absl::Seconds(2) + absl::Hours(49));
}

}  // namespace
}  // namespace ttl
