#include "client/postgres/capture/stream/position_tracker.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <vector>

namespace ttl::postgres {
namespace {

const absl::Time kTime = absl::FromUnixSeconds(1'000'000);

TEST(PositionTrackerTest, CommitCountsWhenItsReportsAreDurable) {
  PositionTracker positions(10);
  positions.Commit(20, 3, kTime);
  positions.Commit(30, 5, kTime + absl::Seconds(1));
  EXPECT_FALSE(positions.Advance(2));
  EXPECT_EQ(positions.acknowledged(), 10u);
  EXPECT_EQ(positions.oldest_commit(), kTime);
  EXPECT_TRUE(positions.Advance(4));
  EXPECT_EQ(positions.acknowledged(), 20u);
  EXPECT_EQ(positions.oldest_commit(), kTime + absl::Seconds(1));
  EXPECT_TRUE(positions.Advance(5));
  EXPECT_EQ(positions.acknowledged(), 30u);
  EXPECT_EQ(positions.oldest_commit(), std::nullopt);
}

TEST(PositionTrackerTest, IdleStretchCountsAtOnceIfNothingIsOutstanding) {
  PositionTracker positions(10);
  positions.Idle(50, 0);
  EXPECT_TRUE(positions.Advance(0));
  EXPECT_EQ(positions.acknowledged(), 50u);
}

TEST(PositionTrackerTest, IdleStretchWaitsForWhatIsOutstanding) {
  PositionTracker positions(10);
  positions.Commit(20, 1, kTime);
  positions.Idle(50, 1);
  EXPECT_FALSE(positions.Advance(0));
  EXPECT_TRUE(positions.Advance(1));
  EXPECT_EQ(positions.acknowledged(), 50u);
}

TEST(PositionTrackerTest, TransactionsWithoutReportsTakeNoMemory) {
  PositionTracker positions(10);
  positions.Commit(20, 1, kTime);
  for (uint64_t i = 1; i <= 1000; ++i) positions.Commit(20 + i, 1, kTime + absl::Seconds(i));
  EXPECT_EQ(positions.size(), 1u);
  EXPECT_EQ(positions.oldest_commit(), kTime);
  EXPECT_TRUE(positions.Advance(1));
  EXPECT_EQ(positions.acknowledged(), 1020u);
}

TEST(PositionTrackerTest, NeverGoesBack) {
  PositionTracker positions(100);
  positions.Idle(50, 0);
  EXPECT_FALSE(positions.Advance(0));
  EXPECT_EQ(positions.acknowledged(), 100u);
}

// Against all positions in a list: the last one whose reports are durable.
RC_GTEST_PROP(PositionTrackerProperty, AcknowledgesExactlyWhatIsDurable, ()) {
  const auto steps = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 4));
  PositionTracker positions(1);
  std::vector<std::pair<uint64_t, uint64_t>> all;
  uint64_t reports = 0;
  uint64_t lsn = 1;
  for (const int new_reports : steps) {
    reports += static_cast<uint64_t>(new_reports);
    positions.Commit(++lsn, reports, kTime);
    all.emplace_back(reports, lsn);
  }
  for (uint64_t durable = 0; durable <= reports; ++durable) {
    positions.Advance(durable);
    uint64_t expected = 1;
    for (const auto& [needed, end] : all) {
      if (needed <= durable) expected = end;
    }
    RC_ASSERT(positions.acknowledged() == expected);
  }
}

}  // namespace
}  // namespace ttl::postgres
