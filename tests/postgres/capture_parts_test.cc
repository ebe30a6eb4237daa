#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "client/postgres/capture/stream/replication_stream.h"
#include "client/postgres/capture/tables/scan_display.h"
#include "client/postgres/capture/tables/table_catalog.h"

namespace ttl::postgres {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

TEST(StatusIntervalTest, IsWellBelowTheServersTimeout) {
  EXPECT_EQ(StatusInterval(absl::ZeroDuration()), absl::Seconds(10));
  EXPECT_EQ(StatusInterval(absl::Seconds(60)), absl::Seconds(10));
  EXPECT_EQ(StatusInterval(absl::Seconds(2)), absl::Milliseconds(500));
  EXPECT_EQ(StatusInterval(absl::Milliseconds(1)), absl::Milliseconds(20));
}

TEST(PartitionChangesTest, SameSetChangesNothing) {
  const auto changes = ComparePartitions({1, 11, 2, 12}, {{1, 11, "s", "a"}, {2, 12, "s", "b"}});
  EXPECT_FALSE(changes.has_lost_rows);
  EXPECT_THAT(changes.added, IsEmpty());
  EXPECT_THAT(changes.noted, ElementsAre(1, 11, 2, 12));
}

TEST(PartitionChangesTest, OneThatIsGoneHasLostItsRows) {
  const auto changes = ComparePartitions({1, 11, 2, 12}, {{2, 12, "s", "b"}});
  EXPECT_TRUE(changes.has_lost_rows);
  EXPECT_THAT(changes.noted, ElementsAre(2, 12));
}

TEST(PartitionChangesTest, OtherMarkMeansAnotherOneInItsPlace) {
  const auto changes = ComparePartitions({1, 11, 2, 12}, {{1, 99, "s", "a"}, {2, 12, "s", "b"}});
  EXPECT_TRUE(changes.has_lost_rows);
  ASSERT_THAT(changes.added, SizeIs(1));
  EXPECT_EQ(changes.added[0].mark, 99u);
  EXPECT_THAT(changes.noted, ElementsAre(2, 12));
}

TEST(PartitionChangesTest, NewOneIsToBeReadBeforeItIsNoted) {
  const auto changes = ComparePartitions({1, 11}, {{1, 11, "s", "a"}, {3, 13, "s", "c"}});
  EXPECT_FALSE(changes.has_lost_rows);
  ASSERT_THAT(changes.added, SizeIs(1));
  EXPECT_EQ(changes.added[0].name, "c");
  EXPECT_THAT(changes.noted, ElementsAre(1, 11));
}

TableStatus Scanning(int64_t scanned, int64_t estimated) {
  TableStatus table;
  table.container = "orders";
  table.scanned = scanned;
  table.estimated = estimated;
  return table;
}

TEST(ScanTextTest, SaysHowFarAndHowLong) {
  EXPECT_EQ(ScanText(Scanning(1200, 5000), 100),
            "orders: 1200 of about 5000 rows (24 %), 100 rows/s, 38s left");
}

TEST(ScanTextTest, SaysNothingThatIsNotKnown) {
  EXPECT_EQ(ScanText(Scanning(1200, 0), 0), "orders: 1200 rows");
  EXPECT_EQ(ScanText(Scanning(1200, 5000), 0), "orders: 1200 of about 5000 rows (24 %)");
}

TEST(ScanTextTest, OldStatisticsNeverMakeItComplete) {
  EXPECT_EQ(ScanText(Scanning(6000, 5000), 100),
            "orders: 6000 of about 5000 rows (99 %), 100 rows/s");
}

TEST(ScanBarTest, FillsUp) {
  EXPECT_EQ(ScanBar(Scanning(0, 100), 0, 100),
            "[..............................] orders: 0 % of about 100 rows");
  EXPECT_EQ(ScanBar(Scanning(50, 100), 0, 100),
            "[###############...............] orders: 50 % of about 100 rows");
}

TEST(ScanBarTest, TakesNoMoreThanTheLine) {
  const TableStatus table = Scanning(1'200'000, 5'000'000);
  const std::pair<int, std::string> kCases[] = {
      {80, "[####.............] orders: 24 % of about 5000000 rows, 150000 rows/s, 26s left"},
      {68, "[#....] orders: 24 % of about 5000000 rows, 150000 rows/s, 26s left"},
      {67, "orders: 24 % of about 5000000 rows, 150000 rows/s, 26s left"},
      {20, "orders: 24 % of abo"},
      {1, ""},
      {0, ""},
  };
  for (const auto& [columns, bar] : kCases) {
    EXPECT_EQ(ScanBar(table, 150'000, columns), bar) << columns << " columns";
  }
}

TEST(ScanBarTest, EndsWithAWholeCharacter) {
  TableStatus table = Scanning(5, 0);
  table.container = "caf\u00e9s";
  EXPECT_EQ(ScanBar(table, 0, 7), "caf\u00e9s");
  EXPECT_EQ(ScanBar(table, 0, 5), "caf");
}

}  // namespace
}  // namespace ttl::postgres
