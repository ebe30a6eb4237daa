#include "service/core/item_histogram.h"

#include <cstdint>
#include <limits>

#include "gtest/gtest.h"
#include "service/core/due_rules.h"

namespace ttl {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr int64_t kTallyNow = 1'800'000'000;

// A histogram of one item of one byte in each of `seconds`.
template <typename Seconds>
TimeHistogram HistogramOf(const Seconds& seconds) {
  TimeHistogram histogram;
  for (const int64_t second : seconds) histogram.Add(second, 1);
  return histogram;
}

std::vector<int64_t> EverySecond(int64_t from, int64_t count, int64_t step = 1) {
  std::vector<int64_t> seconds;
  for (int64_t i = 0; i < count; ++i) seconds.push_back(from + i * step);
  return seconds;
}

TEST(TimeHistogramTest, CountsExactlyWhileItemsSpreadOverFewSeconds) {
  const TimeHistogram histogram = HistogramOf(EverySecond(kTallyNow, 1024));
  for (const int64_t count : {0, 1, 2, 1000, 1024}) {
    const ItemEstimate estimate = histogram.CountUpTo(kTallyNow + count - 1);
    EXPECT_EQ(estimate.sum, (ItemSum{count, count}));
    EXPECT_EQ(estimate.error_bound_items, 0);
  }
}

TEST(TimeHistogramTest, FewSecondsMayBeFarApart) {
  const TimeHistogram histogram =
      HistogramOf(std::vector<int64_t>{1, kTallyNow, kTallyNow + 1, kMax});
  EXPECT_EQ(histogram.CountUpTo(0).sum.items, 0);
  EXPECT_EQ(histogram.CountUpTo(kTallyNow).sum.items, 2);
  EXPECT_EQ(histogram.CountUpTo(kMax - 1).sum.items, 3);
  EXPECT_EQ(histogram.CountUpTo(kMax).sum.items, 4);
}

TEST(TimeHistogramTest, GroupsGrowWiderAndTheCutOfAGroupIsEstimatedByItsPosition) {
  // 1024 * 8 seconds: groups of eight.
  const TimeHistogram histogram = HistogramOf(EverySecond(kTallyNow, 8192));
  EXPECT_EQ(histogram.bucket_count(), 1024u);
  const ItemEstimate at_an_edge = histogram.CountUpTo(kTallyNow + 799);
  EXPECT_EQ(at_an_edge.sum, (ItemSum{800, 800}));
  EXPECT_EQ(at_an_edge.error_bound_items, 0);
  const ItemEstimate inside = histogram.CountUpTo(kTallyNow + 801);
  EXPECT_EQ(inside.sum, (ItemSum{802, 802}));
  EXPECT_EQ(inside.error_bound_items, 6);
}

TEST(TimeHistogramTest, AnEstimateIsWithinItsBoundWhereItemsAreNotSpreadEvenly) {
  TimeHistogram histogram = HistogramOf(EverySecond(kTallyNow, 1024, 8));
  histogram.Add(kTallyNow + 1, 1);
  histogram.Add(kTallyNow + 2, 1);
  const ItemEstimate estimate = histogram.CountUpTo(kTallyNow + 2);  // 3 in truth
  EXPECT_LE(std::abs(estimate.sum.items - 3), estimate.error_bound_items);
  EXPECT_LE(estimate.error_bound_items, 4);
}

TEST(TimeHistogramTest, StaysBoundedOverAllTimes) {
  TimeHistogram histogram;
  for (int64_t i = 0; i < 100'000; ++i) histogram.Add(kMax / 100'000 * i, 1);
  EXPECT_LE(histogram.bucket_count(), TimeHistogram::kMaxBuckets);
  EXPECT_EQ(histogram.CountUpTo(kMax).sum.items, 100'000);
}

TEST(TimeHistogramTest, NegativeTimesCountAsZero) {
  TimeHistogram histogram;
  histogram.Add(-5, 1);
  histogram.Add(std::numeric_limits<int64_t>::min(), 1);
  EXPECT_EQ(histogram.CountUpTo(-1).sum.items, 0);
  EXPECT_EQ(histogram.CountUpTo(0).sum.items, 2);
  EXPECT_TRUE(histogram.Remove(-7, 1));
  EXPECT_EQ(histogram.CountUpTo(0).sum.items, 1);
}

TEST(TimeHistogramTest, RemovingWhatIsNotThereChangesNothing) {
  TimeHistogram histogram;
  EXPECT_FALSE(histogram.Remove(kTallyNow, 1));
  histogram.Add(kTallyNow, 1);
  EXPECT_FALSE(histogram.Remove(kTallyNow + 1, 1));
  EXPECT_FALSE(histogram.Remove(kTallyNow - 1, 1));
  EXPECT_EQ(histogram.CountUpTo(kMax).sum, (ItemSum{1, 1}));
}

TEST(TimeHistogramTest, IsExactAgainOnceItWasEmpty) {
  TimeHistogram histogram = HistogramOf(EverySecond(kTallyNow, 8192));
  for (const int64_t second : EverySecond(kTallyNow, 8192))
    EXPECT_TRUE(histogram.Remove(second, 1));
  EXPECT_EQ(histogram.bucket_count(), 0u);
  histogram.Add(kTallyNow + 1, 1);
  EXPECT_EQ(histogram.CountUpTo(kTallyNow).sum.items, 0);
  EXPECT_EQ(histogram.CountUpTo(kTallyNow).error_bound_items, 0);
}

TEST(TimeHistogramTest, AgreesWithOneOfTheSameItemsWhateverItHeldBefore) {
  const TimeHistogram fresh = HistogramOf(EverySecond(kTallyNow, 100));
  TimeHistogram old = HistogramOf(EverySecond(kTallyNow, 8192));
  for (const int64_t second : EverySecond(kTallyNow + 100, 8092)) old.Remove(second, 1);
  EXPECT_TRUE(fresh.Agrees(old));
  EXPECT_TRUE(old.Agrees(fresh));
  old.Add(kTallyNow + 50, 1);
  EXPECT_FALSE(fresh.Agrees(old));
}

TEST(TimeHistogramTest, AddsUp) {
  TimeHistogram sum = HistogramOf(EverySecond(kTallyNow, 10));
  sum.Add(HistogramOf(EverySecond(kTallyNow - 4000, 8192)));
  EXPECT_EQ(sum.CountUpTo(kMax).sum.items, 8202);
  EXPECT_LE(sum.bucket_count(), TimeHistogram::kMaxBuckets);
}

TEST(ItemHistogramTest, CountsByKindOfItem) {
  ItemHistogram tally;
  tally.Add({kTallyNow, std::nullopt}, 100);
  tally.Add({kTallyNow, 50}, 200);
  tally.Add({kTallyNow, kNeverExpires}, 400);
  tally.Add({kTallyNow, 0}, 800);      // not legal: never expires
  tally.Add({0, std::nullopt}, 1600);  // nor is this
  EXPECT_EQ(tally.total(), (ItemSum{5, 3100}));

  struct Case {
    DueRule rule;
    int64_t after;
    ItemSum due;
  };
  const Case cases[] = {
      {{60, 0}, 49, {0, 0}},
      {{60, 0}, 50, {1, 200}},
      {{60, 0}, 59, {1, 200}},
      {{60, 0}, 60, {2, 300}},
      {{std::nullopt, 0}, 999, {1, 200}},
      {{std::nullopt, 10}, 59, {0, 0}},
      {{std::nullopt, 10}, 60, {1, 200}},
      {{60, std::nullopt}, 60, {1, 100}},
      {{std::nullopt, std::nullopt}, 999, {0, 0}},
      {{kMax, kMax}, 999, {0, 0}},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(tally.CountDue(c.rule, kTallyNow + c.after).sum, c.due) << c.after;
  }
}

TEST(ItemHistogramTest, CountsWhatOnlyOneOfTwoRulesMakesDue) {
  ItemHistogram tally;
  for (int64_t age = 1; age <= 100; ++age) tally.Add({kTallyNow - age, std::nullopt}, 1);
  EXPECT_EQ(tally.CountDueOnlyBy({10, 0}, {60, 0}, kTallyNow).sum.items, 50);  // of age 10 to 59
  EXPECT_EQ(tally.CountDueOnlyBy({60, 0}, {10, 0}, kTallyNow).sum.items, 0);
  EXPECT_EQ(tally.CountDueOnlyBy({10, 0}, DueRule(), kTallyNow).sum.items, 91);
  EXPECT_EQ(tally.CountDueOnlyBy(DueRule(), {10, 0}, kTallyNow).sum.items, 0);
}

TEST(ItemHistogramTest, RemovingWhatIsNotThereChangesNothing) {
  ItemHistogram tally;
  tally.Remove({kTallyNow, std::nullopt}, 1);
  tally.Remove({kTallyNow, kNeverExpires}, 1);
  EXPECT_EQ(tally.total(), ItemSum());
  tally.Add({kTallyNow, 60}, 7);
  tally.Remove({kTallyNow, 61}, 7);
  EXPECT_EQ(tally.total(), (ItemSum{1, 7}));
}

}  // namespace
}  // namespace ttl
