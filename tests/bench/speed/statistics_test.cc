#include "tests/bench/speed/statistics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace ttl::bench {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(SpreadTest, OfAnOddNumberTheMiddleIsTheMedian) {
  const Spread spread = SpreadOf({9, 1, 4});
  EXPECT_EQ(spread.min, 1);
  EXPECT_EQ(spread.median, 4);
  EXPECT_EQ(spread.max, 9);
}

TEST(SpreadTest, OfAnEvenNumberTheMedianIsBetweenTheMiddleTwo) {
  EXPECT_EQ(SpreadOf({10, 1, 2, 4}).median, 3);
}

TEST(SpreadTest, OfNothingIsZero) { EXPECT_EQ(SpreadOf({}).median, 0); }

TEST(RatiosTest, AreThoseOfThePairsNotOfTheMeans) {
  EXPECT_THAT(Ratios({10, 100}, {10, 50}), ElementsAre(1, 2));
}

TEST(RatiosTest, LeaveOutWhatCannotBeDivided) {
  EXPECT_THAT(Ratios({1, 6}, {0, 3}), ElementsAre(2));
  EXPECT_THAT(Ratios({1}, {0}), IsEmpty());
}

TEST(PercentileTest, IsTheSmallestValueThatEnoughDoNotExceed) {
  std::vector<double> values;
  for (int i = 100; i >= 1; --i) values.push_back(i);
  EXPECT_EQ(Percentile(values, 0.5), 50);
  EXPECT_EQ(Percentile(values, 0.99), 99);
  EXPECT_EQ(Percentile(values, 0.991), 100);
  EXPECT_EQ(Percentile(values, 1), 100);
  EXPECT_EQ(Percentile(values, 0), 1);
}

TEST(PercentileTest, OfFewValuesTheHighOnesAreTheLargest) {
  std::vector<double> values = {3, 1, 2};
  EXPECT_EQ(Percentile(values, 0.99), 3);
  EXPECT_EQ(Percentile(values, 0.5), 2);
}

TEST(PercentileTest, OfNothingIsZero) {
  std::vector<double> none;
  EXPECT_EQ(Percentile(none, 0.5), 0);
}

}  // namespace
}  // namespace ttl::bench
