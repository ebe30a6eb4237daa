// Tables with an expires_column: what DeleteItems deletes, and what it leaves.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "service/core/ttl_rules.h"
#include "tests/postgres/store_for_test.h"

namespace ttl::postgres {
namespace {

using testing::Contains;
using testing::HasSubstr;

class DeleteExpiresTest : public testing::Test {
 protected:
  DeleteExpiresTest() {
    db_.Sql(
        "CREATE TABLE tokens (id bigint PRIMARY KEY, expires_at timestamptz, ts timestamptz "
        "DEFAULT now() - interval '1 hour', ttl int, n bigint);"
        "INSERT INTO tokens (id, expires_at, n) SELECT i, to_timestamp(1000000000), 1000000000 "
        "FROM generate_series(1, 4) i");
    // The sequence of rows that are read.
    db_.ShowPosition(100);
  }

  static TableConfig Tokens() {
    TableConfig config;
    config.container = "tokens";
    config.table = "tokens";
    config.id = {"id"};
    config.expires_column = "expires_at";
    return config;
  }

  // What the sidecar would ask, without the etag, so that nothing but the times guards a row.
  v1::DeleteItemsRequest JudgedByTimes() {
    v1::DeleteItemsRequest request = StoreForTest::Judged("tokens", db_.Items("tokens"));
    for (v1::ExpiredItem& item : *request.mutable_items()) item.clear_etag();
    return request;
  }

  std::string Ids() {
    return db_.Value("SELECT coalesce(string_agg(id::text, ' ' ORDER BY id), '') FROM tokens");
  }

  StoreForTest db_;
};

TEST_F(DeleteExpiresTest, StoreSaysThatItKnowsExpireAt) {
  db_.Open({Tokens()});
  const auto info = db_.store().GetStoreInfo(absl::Now() + StoreForTest::kPatience);
  ASSERT_TRUE(info.ok()) << info.status();
  EXPECT_THAT(info->capabilities(), Contains(v1::STORE_CAPABILITY_EXPIRE_AT));
}

TEST_F(DeleteExpiresTest, RowsThatWereExtendedMeanwhileAreModifiedAndStay) {
  db_.Open({Tokens()});
  const v1::DeleteItemsRequest request = JudgedByTimes();
  ASSERT_EQ(request.items_size(), 4);
  EXPECT_EQ(request.items(0).ts(), 1);
  EXPECT_EQ(request.items(0).expire_at(), 1'000'000'000);
  db_.Sql(
      "UPDATE tokens SET expires_at = to_timestamp(4000000000) WHERE id = 1;"
      "UPDATE tokens SET expires_at = NULL WHERE id = 2;"
      "UPDATE tokens SET expires_at = '-infinity' WHERE id = 3");
  const v1::DeleteItemsResponse response = db_.Delete(request);
  EXPECT_EQ(Outcomes(response), "MODIFIED MODIFIED MODIFIED DELETED");
  EXPECT_EQ(Ids(), "1 2 3");
  const v1::Item& extended = response.results(0).current();
  EXPECT_EQ(extended.expire_at(), 4'000'000'000);
  EXPECT_FALSE(extended.has_ttl());
  EXPECT_EQ(extended.ts(), 1);
  EXPECT_EQ(extended.sequence(), 100u);
  for (const int never : {1, 2}) {
    EXPECT_FALSE(response.results(never).current().has_expire_at());
    EXPECT_EQ(response.results(never).current().ttl(), -1);
  }
}

TEST_F(DeleteExpiresTest, RowIsNotDeletedBeforeItsEnd) {
  db_.Sql("UPDATE tokens SET expires_at = to_timestamp(4000000000)");
  db_.Open({Tokens()});
  EXPECT_EQ(Outcomes(db_.DeleteAll("tokens")), "NOT_EXPIRED NOT_EXPIRED NOT_EXPIRED NOT_EXPIRED");
}

TEST_F(DeleteExpiresTest, AllOfTheTimesAreCompared) {
  TableConfig config = Tokens();
  config.ts_column = "ts";
  config.ttl_column = "ttl";
  config.expires_null = NullEnd::kInherits;
  db_.Sql(
      "UPDATE tokens SET ttl = 60 WHERE id < 4; UPDATE tokens SET expires_at = NULL WHERE id "
      "= 2");
  db_.Open({config});
  const v1::DeleteItemsRequest request = JudgedByTimes();
  ASSERT_EQ(request.items_size(), 4);
  db_.Sql(
      "UPDATE tokens SET ttl = 61 WHERE id = 1;"
      "UPDATE tokens SET expires_at = to_timestamp(4000000000) WHERE id = 2;"
      "UPDATE tokens SET ts = now() WHERE id = 3");
  EXPECT_EQ(Outcomes(db_.Delete(request)), "MODIFIED MODIFIED MODIFIED DELETED");
  EXPECT_EQ(Outcomes(db_.DeleteAll("tokens")), "DELETED DELETED DELETED");
}

// An item that has none of it was judged by a rule that the row is not under.
TEST_F(DeleteExpiresTest, ItemWithoutAnEndIsNotTheRowThatHasOne) {
  TableConfig config = Tokens();
  config.ts_column = "ts";
  db_.Open({config});
  v1::DeleteItemsRequest request = JudgedByTimes();
  for (v1::ExpiredItem& item : *request.mutable_items()) item.clear_expire_at();
  EXPECT_EQ(Outcomes(db_.Delete(request)), "MODIFIED MODIFIED MODIFIED MODIFIED");
  // And the other way round.
  config.expires_column.reset();
  db_.Open({config});
  request = JudgedByTimes();
  ASSERT_EQ(request.items_size(), 4);
  request.mutable_items(0)->set_expire_at(1'000'000'000);
  EXPECT_EQ(Outcomes(db_.Delete(request)), "MODIFIED DELETED DELETED DELETED");
}

TEST_F(DeleteExpiresTest, MillisecondsAreComparedInWholeSecondsRoundedUp) {
  TableConfig config = Tokens();
  config.expires_column = "n";
  config.expires_unit = EpochUnit::kMilliseconds;
  db_.Sql("UPDATE tokens SET n = 1000000000000 + id - 1");
  db_.Open({config});
  const v1::DeleteItemsRequest request = JudgedByTimes();
  EXPECT_EQ(request.items(0).expire_at(), 1'000'000'000);
  EXPECT_EQ(request.items(1).expire_at(), 1'000'000'001);
  db_.Sql("UPDATE tokens SET n = n + 1000 WHERE id = 3");
  EXPECT_EQ(Outcomes(db_.Delete(request)), "DELETED DELETED MODIFIED DELETED");
}

// Without a sequence, and without a _ts that moves, the sidecar could not tell which version of a
// row is the newer one.
TEST_F(DeleteExpiresTest, RowsAreNotReadBeforeTheyHaveAnOrder) {
  StoreForTest db;
  db.Sql("CREATE TABLE tokens (id bigint PRIMARY KEY, expires_at timestamptz)");
  db.Open({Tokens()});
  v1::ScanItemsRequest request;
  request.set_container("tokens");
  request.set_max_items(1);
  const auto scan = [&](absl::Duration patience) {
    return db.store().ScanItems(
        request, absl::Now() + patience, [] { return false; },
        [](const v1::ScanItemsResponse&) { return true; });
  };
  EXPECT_TRUE(absl::IsUnavailable(scan(absl::Milliseconds(100))));
  db.ShowPosition(5);
  EXPECT_TRUE(scan(StoreForTest::kPatience).ok());
}

// Both have to hold when the row is deleted.
TEST_F(DeleteExpiresTest, RowThatLeavesTheConditionOrIsExtendedStays) {
  TableConfig config = Tokens();
  config.where = "n > 2";
  db_.Sql("UPDATE tokens SET n = id; INSERT INTO tokens (id, n) VALUES (5, 5)");
  db_.Open({config});
  const v1::DeleteItemsRequest request = JudgedByTimes();
  ASSERT_EQ(request.items_size(), 3);
  EXPECT_EQ(request.items(0).expire_at(), 1'000'000'000);
  EXPECT_EQ(request.items(2).ttl(), -1);
  db_.Sql(
      "UPDATE tokens SET n = 0 WHERE id = 3;"
      "UPDATE tokens SET expires_at = to_timestamp(4000000000) WHERE id = 4;"
      "UPDATE tokens SET expires_at = to_timestamp(5) WHERE id = 5");
  const v1::DeleteItemsResponse left = db_.Delete(request);
  EXPECT_EQ(Outcomes(left), "MODIFIED MODIFIED MODIFIED");
  EXPECT_EQ(left.results(0).current().ttl(), -1);
  EXPECT_EQ(left.results(1).current().expire_at(), 4'000'000'000);
  EXPECT_EQ(left.results(2).current().expire_at(), 5);
  db_.Sql("UPDATE tokens SET n = 3 WHERE id = 3");
  const v1::DeleteItemsRequest again = JudgedByTimes();
  ASSERT_EQ(again.items_size(), 3);
  EXPECT_EQ(Outcomes(db_.Delete(again)), "DELETED NOT_EXPIRED DELETED");
  EXPECT_EQ(Ids(), "1 2 4");
}

}  // namespace
}  // namespace ttl::postgres
