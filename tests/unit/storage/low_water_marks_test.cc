#include "service/storage/commit/low_water_marks.h"

#include <gtest/gtest.h>

namespace ttl {
namespace {

constexpr IndexFamily kFamily = IndexFamily::kTs;

TEST(LowWaterMarksTest, BeginsAtTheBeginning) {
  LowWaterMarks marks;
  EXPECT_EQ(marks.Get(1, kFamily).time, 0);
}

TEST(LowWaterMarksTest, AScanRaisesIt) {
  LowWaterMarks marks;
  EXPECT_EQ(marks.BeginScan(1, kFamily), IndexPlace());
  marks.EndScan(1, kFamily, {100});
  EXPECT_EQ(marks.Get(1, kFamily).time, 100);
  EXPECT_EQ(marks.Get(1, IndexFamily::kExpireTime).time, 0);
  EXPECT_EQ(marks.Get(2, kFamily).time, 0);
}

TEST(LowWaterMarksTest, AnEarlierEntryLowersItAndALaterOneDoesNot) {
  LowWaterMarks marks;
  marks.BeginScan(1, kFamily);
  marks.EndScan(1, kFamily, {100});
  EXPECT_FALSE(marks.EntryWritten(1, kFamily, 150, "k"));
  EXPECT_FALSE(marks.EntryWritten(1, kFamily, 100, "k"));
  EXPECT_TRUE(marks.EntryWritten(1, kFamily, 40, "k"));
  EXPECT_EQ(marks.Get(1, kFamily).time, 40);
}

TEST(LowWaterMarksTest, WithinOneSecondTheKeyDecides) {
  LowWaterMarks marks;
  marks.BeginScan(1, kFamily);
  marks.EndScan(1, kFamily, {100, "m"});
  EXPECT_FALSE(marks.EntryWritten(1, kFamily, 100, "n"));
  EXPECT_EQ(marks.Get(1, kFamily), (IndexPlace{100, "m"}));
  // It is found by the next scan, but nothing is due earlier than it was.
  EXPECT_FALSE(marks.EntryWritten(1, kFamily, 100, "k"));
  EXPECT_EQ(marks.Get(1, kFamily), (IndexPlace{100, "k"}));
  marks.BeginScan(1, kFamily);
  marks.EntryWritten(1, kFamily, 100, "l");
  marks.EndScan(1, kFamily, {100, "x"});
  EXPECT_EQ(marks.Get(1, kFamily), (IndexPlace{100, "l"}));
}

// What is there after a reopening nobody may have heard of.
TEST(LowWaterMarksTest, AScanThatBeganBeforeEverythingWasForgottenRaisesNothing) {
  LowWaterMarks marks;
  marks.BeginScan(1, kFamily);
  marks.EndScan(1, kFamily, {50});
  EXPECT_EQ(marks.BeginScan(1, kFamily).time, 50);
  marks.Clear();
  marks.EndScan(1, kFamily, {100});
  EXPECT_EQ(marks.Get(1, kFamily), IndexPlace());
}

TEST(LowWaterMarksTest, AnEntryWrittenDuringAScanIsNotPassedOver) {
  LowWaterMarks marks;
  marks.BeginScan(1, kFamily);
  marks.EndScan(1, kFamily, {50});
  marks.BeginScan(1, kFamily);
  // Above the mark, below what the scan will find: it does not lower the mark,
  // but the scan may not have seen it.
  marks.EntryWritten(1, kFamily, 70, "k");
  marks.EndScan(1, kFamily, {100});
  EXPECT_EQ(marks.Get(1, kFamily).time, 70);
}

TEST(LowWaterMarksTest, AnEmptyFamilyHasNoNextTimeUntilAnEntryComes) {
  LowWaterMarks marks;
  marks.BeginScan(1, kFamily);
  marks.EndScan(1, kFamily, {LowWaterMarks::kEmpty});
  EXPECT_EQ(marks.Get(1, kFamily).time, LowWaterMarks::kEmpty);
  EXPECT_TRUE(marks.EntryWritten(1, kFamily, 70, "k"));
  EXPECT_EQ(marks.Get(1, kFamily).time, 70);
}

TEST(LowWaterMarksTest, ForgottenMarksBeginAnew) {
  LowWaterMarks marks;
  for (const uint64_t index : {1, 2}) {
    marks.BeginScan(index, kFamily);
    marks.EndScan(index, kFamily, {100});
  }
  marks.Forget(1);
  EXPECT_EQ(marks.Get(1, kFamily).time, 0);
  EXPECT_EQ(marks.Get(2, kFamily).time, 100);
  marks.Clear();
  EXPECT_EQ(marks.Get(2, kFamily).time, 0);
}

// A scan of one family makes an index known again that was forgotten during that of another.
TEST(LowWaterMarksTest, NothingIsRaisedByWhatWasFoundBeforeMarksWereForgotten) {
  LowWaterMarks marks;
  const uint64_t generation = marks.Generation();
  marks.BeginScan(1, kFamily);
  marks.EndScanOf(generation, 1, kFamily, {100});
  EXPECT_EQ(marks.Get(1, kFamily).time, 100);
  marks.Clear();
  marks.BeginScan(1, IndexFamily::kRetryTime);
  marks.EndScanOf(generation, 1, kFamily, {200});
  EXPECT_EQ(marks.Get(1, kFamily).time, 0);
}

}  // namespace
}  // namespace ttl
