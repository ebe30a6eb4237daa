// Tables of which only some rows expire: what DeleteItems deletes, and what it leaves.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "client/postgres/row/row_select.h"
#include "tests/postgres/store_for_test.h"
#include "tests/testing/wait.h"

namespace ttl::postgres {
namespace {

using testing::HasSubstr;

class DeleteWhereTest : public testing::Test {
 protected:
  DeleteWhereTest() {
    db_.Sql(
        "CREATE TABLE jobs (id bigint PRIMARY KEY, state varchar(20), ts timestamptz, n int);"
        "INSERT INTO jobs SELECT i, CASE WHEN i % 2 = 1 THEN 'completed' ELSE 'created' END, "
        "now() - interval '1 hour', i FROM generate_series(1, 6) i");
  }

  static TableConfig Jobs(const std::string& where = "state = 'completed'") {
    TableConfig config;
    config.container = "jobs";
    config.table = "jobs";
    config.id = {"id"};
    config.ts_column = "ts";
    config.where = where;
    return config;
  }

  std::string Ids() {
    return db_.Value("SELECT coalesce(string_agg(id::text, ' ' ORDER BY id), '') FROM jobs");
  }

  StoreForTest db_;
};

TEST_F(DeleteWhereTest, ScanHasTheRowsThatAreTakenInAndTheOthersAreNotDeleted) {
  db_.Open({Jobs()});
  const std::vector<v1::Item> items = db_.Items("jobs");
  ASSERT_EQ(items.size(), 3u);
  const v1::DeleteItemsRequest request = StoreForTest::Judged("jobs", items);
  // Taken back since it was judged, in the same version as far as ts and etag say.
  v1::DeleteItemsRequest stale = request;
  for (v1::ExpiredItem& item : *stale.mutable_items()) item.clear_etag();
  db_.Sql("UPDATE jobs SET state = 'retry' WHERE id = 3");
  db_.Sql("UPDATE jobs SET state = NULL WHERE id = 5");
  const v1::DeleteItemsResponse response = db_.Delete(stale);
  EXPECT_EQ(Outcomes(response), "DELETED MODIFIED MODIFIED");
  EXPECT_EQ(response.results(1).current().ttl(), -1);
  EXPECT_EQ(Ids(), "2 3 4 5 6");
  EXPECT_EQ(Outcomes(db_.Delete(stale)), "NOT_FOUND MODIFIED MODIFIED");
}

// A worker that holds the row, and takes it back.
TEST_F(DeleteWhereTest, RowThatLeavesWhileItIsLockedIsNotDeleted) {
  db_.Open({Jobs()});
  v1::DeleteItemsRequest request = StoreForTest::Judged("jobs", db_.Items("jobs"));
  for (v1::ExpiredItem& item : *request.mutable_items()) item.clear_etag();
  const auto worker = db_.Connect();
  ASSERT_TRUE(worker->Execute("BEGIN; UPDATE jobs SET state = 'retry' WHERE id = 1").ok());
  const v1::DeleteItemsResponse response = db_.Delete(request);
  EXPECT_EQ(Outcomes(response), "FAILED DELETED DELETED");
  EXPECT_THAT(response.results(0).reason(), HasSubstr("locked by another transaction"));
  ASSERT_TRUE(worker->Execute("COMMIT").ok());
  EXPECT_EQ(Outcomes(db_.Delete(request)), "MODIFIED NOT_FOUND NOT_FOUND");
  EXPECT_EQ(Ids(), "1 2 4 6");
}

// The condition means what it meant to `check`, and triggers have the search path of the role.
TEST_F(DeleteWhereTest, WhatOthersPutIntoTheSearchPathDoesNotChangeTheCondition) {
  db_.Sql(absl::StrCat(
      "CREATE SCHEMA evil; CREATE FUNCTION evil.length(varchar) RETURNS int LANGUAGE sql "
      "IMMUTABLE AS 'SELECT 9'; CREATE SCHEMA app; CREATE TABLE app.gone (id bigint);"
      "CREATE FUNCTION app.note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO gone "
      "VALUES (OLD.id); RETURN OLD; END $$;"
      "CREATE FUNCTION app.begin() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM 1 FROM "
      "gone; RETURN NULL; END $$;"
      "CREATE TRIGGER note BEFORE DELETE ON jobs FOR EACH ROW EXECUTE FUNCTION app.note();"
      "CREATE TRIGGER begin BEFORE DELETE ON jobs FOR EACH STATEMENT EXECUTE FUNCTION app.begin();"
      "CREATE CONSTRAINT TRIGGER late AFTER DELETE ON jobs DEFERRABLE INITIALLY DEFERRED FOR EACH "
      "ROW EXECUTE FUNCTION app.begin();"
      "ALTER DATABASE ",
      db_.name(), " SET search_path = evil, app, public"));
  db_.Open({Jobs("length(state) = 9")});
  const std::vector<v1::Item> items = db_.Items("jobs");
  ASSERT_EQ(items.size(), 3u);
  v1::DeleteItemsRequest request = StoreForTest::Judged("jobs", items);
  request.mutable_items(1)->clear_etag();
  db_.Sql("UPDATE public.jobs SET state = 'created' WHERE id = 3");
  EXPECT_EQ(Outcomes(db_.Delete(request)), "DELETED MODIFIED DELETED");
  EXPECT_EQ(db_.Value("SELECT count(*) FROM app.gone"), "2");
}

// It fails for one row alone: that one stays, and says why.
TEST_F(DeleteWhereTest, ConditionThatFailsForARowKeepsThatRow) {
  db_.Open({Jobs("10 / n > 0")});
  v1::DeleteItemsRequest request = StoreForTest::Judged("jobs", db_.Items("jobs"));
  for (v1::ExpiredItem& item : *request.mutable_items()) item.clear_etag();
  db_.Sql("UPDATE jobs SET n = 0 WHERE id = 2");
  const v1::DeleteItemsResponse response = db_.Delete(request);
  EXPECT_EQ(Outcomes(response), "DELETED FAILED DELETED DELETED DELETED DELETED");
  EXPECT_THAT(response.results(1).reason(), HasSubstr("division by zero"));
}

TEST_F(DeleteWhereTest, ConditionOnAColumnThatIsGoneIsNoFaultOfTheItems) {
  db_.Open({Jobs()});
  const v1::DeleteItemsRequest request = StoreForTest::Judged("jobs", db_.Items("jobs"));
  db_.Sql("ALTER TABLE jobs RENAME state TO status");
  const auto response = db_.store().DeleteItems(request, absl::Now() + StoreForTest::kPatience);
  EXPECT_TRUE(absl::IsUnavailable(response.status())) << response.status();
}

// Whatever the columns of our own statements are called.
TEST_F(DeleteWhereTest, ColumnThatIsGoneIsNotTakenForOneOfOurs) {
  for (const std::string ours : {"n", "ttl", "expire_at", "etag", "expire_time", "k1"}) {
    SCOPED_TRACE(ours);
    db_.Sql(absl::StrCat("ALTER TABLE jobs ADD COLUMN IF NOT EXISTS ", ours, " int DEFAULT 1"));
    db_.Open({Jobs(absl::StrCat(ours, " IS NOT NULL"))});
    v1::DeleteItemsRequest request = StoreForTest::Judged("jobs", db_.Items("jobs"));
    for (v1::ExpiredItem& item : *request.mutable_items()) item.clear_etag();
    db_.Sql(absl::StrCat("ALTER TABLE jobs DROP COLUMN ", ours));
    const auto response = db_.store().DeleteItems(request, absl::Now() + StoreForTest::kPatience);
    EXPECT_TRUE(absl::IsUnavailable(response.status())) << response.status();
    EXPECT_EQ(Ids(), "1 2 3 4 5 6");
  }
}

// A scan passes over it, as the capture's first reading does.
TEST_F(DeleteWhereTest, RowForWhichTheConditionFailsDoesNotEndAScan) {
  db_.Open({Jobs("10 / (n - 3) <> 0")});
  EXPECT_EQ(db_.Items("jobs").size(), 5u);
}

// Rows that it does not take in may be many: a page goes through no more than its limit.
TEST_F(DeleteWhereTest, PageGoesThroughAsManyRowsAsItsLimit) {
  db_.Sql(
      "INSERT INTO jobs SELECT i, 'created', now(), i FROM generate_series(100, 20000) i;"
      "ANALYZE jobs");
  const RowSelect select(db_.Describe(Jobs()));
  EXPECT_EQ(db_.Sql(select.FirstPage(100)).rows(), 100);
  EXPECT_THAT(select.NextPage(100), testing::Not(HasSubstr("AND")));
}

}  // namespace
}  // namespace ttl::postgres
