#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "client/postgres/store/row_state.h"

namespace ttl::postgres {
namespace {

constexpr int64_t kExpireTime = 1060;

v1::ExpiredItem Asked() {
  v1::ExpiredItem item;
  item.set_ts(1000);
  item.set_etag("50");
  item.set_expire_time(kExpireTime);
  return item;
}

v1::DeleteResult Left(const RowState& row, const char* snapshot = "90:100:95", int64_t begun = 2000,
                      int64_t looked = 2000, int64_t not_after = 2005) {
  return WhyLeft(Asked(), row, *ParseTransactionSnapshot(snapshot),
                 {absl::FromUnixSeconds(begun), absl::FromUnixSeconds(looked),
                  absl::FromUnixSeconds(not_after)},
                 /*sequence=*/77);
}

RowState Changed() {
  RowState row;
  row.exists = true;
  v1::Item item;
  item.set_partition_key("eu");
  item.set_id("42");
  item.set_ts(1500);
  item.set_etag("60");
  row.current = item;
  row.xmin = "60";
  return row;
}

RowState Same(bool was_held) {
  RowState row;
  row.exists = true;
  row.is_same = true;
  row.was_held = was_held;
  return row;
}

TEST(StoreRowStateTest, NoRowIsNotFound) {
  EXPECT_EQ(Left({}).outcome(), v1::DELETE_OUTCOME_NOT_FOUND);
}

TEST(StoreRowStateTest, AnotherVersionIsModifiedAndShown) {
  const v1::DeleteResult result = Left(Changed());
  EXPECT_EQ(result.outcome(), v1::DELETE_OUTCOME_MODIFIED);
  EXPECT_EQ(result.current().ts(), 1500);
  EXPECT_EQ(result.current().etag(), "60");
  EXPECT_EQ(result.current().id(), "");  // may be left empty
}

TEST(StoreRowStateTest, JudgedVersionThatIsNotSeenYetIsAskedForAgain) {
  for (const char* snapshot : {"40:60:50", "40:50:"}) {
    EXPECT_EQ(Left({}, snapshot).outcome(), v1::DELETE_OUTCOME_THROTTLED) << snapshot;
    EXPECT_EQ(Left(Changed(), snapshot).outcome(), v1::DELETE_OUTCOME_THROTTLED) << snapshot;
  }
  EXPECT_EQ(Left({}, "40:51:49").outcome(), v1::DELETE_OUTCOME_NOT_FOUND);
}

TEST(StoreRowStateTest, RowThatCannotBeTrackedIsModifiedToOneThatNeverExpires) {
  RowState row = Changed();
  row.current = absl::InvalidArgumentError("ts is NULL");
  const v1::DeleteResult result = Left(row);
  EXPECT_EQ(result.outcome(), v1::DELETE_OUTCOME_MODIFIED);
  EXPECT_EQ(result.current().ts(), 1000);
  EXPECT_EQ(result.current().ttl(), -1);
  EXPECT_EQ(result.current().etag(), "60");
  EXPECT_EQ(result.current().sequence(), 77u);
}

TEST(StoreRowStateTest, SameRowIsLeftForOneOfFourReasons) {
  EXPECT_EQ(Left(Same(false), "90:100:", kExpireTime - 1, kExpireTime - 1).outcome(),
            v1::DELETE_OUTCOME_NOT_EXPIRED);
  // The answer carries the first reading, by which it was not expired.
  EXPECT_EQ(Left(Same(false), "90:100:", kExpireTime - 1, kExpireTime).outcome(),
            v1::DELETE_OUTCOME_NOT_EXPIRED);
  EXPECT_EQ(Left(Same(true), "90:100:", 2000, 2005).outcome(), v1::DELETE_OUTCOME_THROTTLED);
  EXPECT_EQ(Left(Same(false)).outcome(), v1::DELETE_OUTCOME_FAILED);
  EXPECT_EQ(Left(Same(false)).reason(), "row is locked by another transaction");
  EXPECT_EQ(Left(Same(true)).outcome(), v1::DELETE_OUTCOME_FAILED);
  EXPECT_THAT(Left(Same(true)).reason(), testing::HasSubstr("trigger"));
}

TEST(StoreRowStateTest, RowThatWasHeldAndIsNotWhatItWasWasRewrittenByATrigger) {
  RowState moved;
  RowState changed = Changed();
  moved.was_held = changed.was_held = true;
  for (const RowState& row : {moved, changed}) {
    EXPECT_EQ(Left(row).outcome(), v1::DELETE_OUTCOME_FAILED);
    EXPECT_THAT(Left(row).reason(), testing::HasSubstr("trigger"));
  }
}

// The sidecar would adopt a time that is not the row's.
TEST(StoreRowStateTest, RowInDoubtIsAskedAboutAgain) {
  RowState row = Changed();
  row.is_in_doubt = true;
  EXPECT_EQ(Left(row).outcome(), v1::DELETE_OUTCOME_THROTTLED);
  row.is_in_doubt = false;
  EXPECT_EQ(Left(row).outcome(), v1::DELETE_OUTCOME_MODIFIED);
}

}  // namespace
}  // namespace ttl::postgres
