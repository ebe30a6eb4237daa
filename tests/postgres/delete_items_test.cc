// Which rows DeleteItems deletes, and what it says of the others.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "client/postgres/sql/connect/quoting.h"
#include "client/postgres/sql/held_times.h"
#include "client/postgres/store/deletes/delete_pause.h"
#include "client/postgres/store/deletes/delete_sql.h"
#include "tests/postgres/store_for_test.h"
#include "tests/testing/wait.h"
#include "ttl/proto_time.h"

namespace ttl::postgres {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// Rows 1.., an hour old, without ttl.
std::string Rows(int count) {
  return absl::StrCat(
      "INSERT INTO sessions SELECT i, 'x', now() - interval '1 hour', NULL "
      "FROM generate_series(1, ",
      count, ") i");
}

// Whether `time` lies between the two, as far as clocks are read alike.
void ExpectBetween(absl::Time before, absl::Time time, absl::Time after) {
  EXPECT_GE(time, before - absl::Seconds(1));
  EXPECT_LE(time, after + absl::Seconds(1));
}

class DeleteItemsTest : public testing::Test {
 protected:
  // The usual table with so many rows, and all of them as they are judged.
  v1::DeleteItemsRequest SessionsJudged(int rows) {
    db_.Sql(absl::StrCat(kSessions, ";", Rows(rows)));
    db_.Open({Sessions()});
    return StoreForTest::Judged("sessions", db_.Items("sessions"));
  }

  std::string Ids() {
    return db_.Value("SELECT coalesce(string_agg(id::text, ' ' ORDER BY id), '') FROM sessions");
  }

  StoreForTest db_;
};

TEST_F(DeleteItemsTest, EachItemHasItsOutcome) {
  v1::DeleteItemsRequest request = SessionsJudged(7);
  db_.Sql("DELETE FROM sessions WHERE id = 2");
  db_.Sql("UPDATE sessions SET ts = now() - interval '10 seconds' WHERE id = 3");
  db_.Sql("UPDATE sessions SET ttl = 5 WHERE id = 4");
  db_.Sql("UPDATE sessions SET payload = 'y' WHERE id = 5");
  request.mutable_items(5)->set_expire_time(absl::ToUnixSeconds(absl::Now()) + 60);
  request.mutable_items(6)->clear_etag();  // ts and ttl alone decide

  const absl::Time before = absl::Now();
  const v1::DeleteItemsResponse response = db_.Delete(request);
  EXPECT_EQ(Outcomes(response), "DELETED NOT_FOUND MODIFIED MODIFIED MODIFIED NOT_EXPIRED DELETED");
  EXPECT_EQ(Ids(), "3 4 5 6");
  EXPECT_EQ(response.request_charge(), 2 * 2 + 4 * 2);
  ExpectBetween(before, ToTime(response.store_now()), absl::Now());
}

TEST_F(DeleteItemsTest, ModifiedTellsTheRowAsItIs) {
  v1::DeleteItemsRequest request = SessionsJudged(1);
  db_.ShowPosition(4711);
  db_.Sql("UPDATE sessions SET ts = '2001-02-03 04:05:06.789+00', ttl = 77");
  const v1::DeleteItemsResponse response = db_.Delete(request);
  ASSERT_EQ(Outcomes(response), "MODIFIED");
  const v1::Item& current = response.results(0).current();
  EXPECT_EQ(current.ts(), 981173106);
  EXPECT_EQ(current.ttl(), 77);
  EXPECT_EQ(current.etag(), db_.Value("SELECT xmin FROM sessions"));
  EXPECT_EQ(current.sequence(), 4711u);

  // With what it told, the next delete works.
  request.mutable_items(0)->set_ts(current.ts());
  request.mutable_items(0)->set_ttl(current.ttl());
  request.mutable_items(0)->set_etag(current.etag());
  EXPECT_EQ(Outcomes(db_.Delete(request)), "DELETED");
}

TEST_F(DeleteItemsTest, PositionThatIsNotKnownIsLeftOut) {
  const v1::DeleteItemsRequest request = SessionsJudged(1);
  db_.Sql("UPDATE sessions SET payload = 'y'");
  const v1::DeleteItemsResponse response = db_.Delete(request);
  ASSERT_EQ(Outcomes(response), "MODIFIED");
  EXPECT_FALSE(response.results(0).current().has_sequence());
}

TEST_F(DeleteItemsTest, RowThatCanNoLongerBeTrackedIsModifiedAndNeverExpires) {
  const v1::DeleteItemsRequest request = SessionsJudged(3);
  db_.Sql("UPDATE sessions SET ts = NULL WHERE id = 1");
  db_.Sql("UPDATE sessions SET ts = 'infinity' WHERE id = 2");
  db_.Sql("UPDATE sessions SET ttl = 0 WHERE id = 3");
  const v1::DeleteItemsResponse response = db_.Delete(request);
  EXPECT_EQ(Outcomes(response), "MODIFIED MODIFIED MODIFIED");
  for (const v1::DeleteResult& result : response.results()) {
    EXPECT_EQ(result.current().ttl(), -1);
    EXPECT_GE(result.current().ts(), 1);
  }
  EXPECT_EQ(Ids(), "1 2 3");
}

// 02:30 was there twice that night: the server and we take the later one.
TEST_F(DeleteItemsTest, ReadingOfARepeatedHourIsJudgedByItsLaterInstant) {
  TableConfig table = Sessions();
  table.ts_zone = "Europe/Berlin";
  db_.Sql(
      "CREATE TABLE sessions (id bigint PRIMARY KEY, ts timestamp, ttl integer);"
      "INSERT INTO sessions VALUES (1, '2025-10-26 02:30:00.5', NULL), "
      "(2, '2025-10-26 02:30:00', NULL), (3, 'infinity', NULL)");
  db_.Open({table});
  const std::vector<v1::Item> items = db_.Items("sessions");
  ASSERT_EQ(items.size(), 2u);
  constexpr int64_t kLater = 1'761'442'200;  // 01:30 UTC
  EXPECT_EQ(items[0].ts(), kLater);
  v1::DeleteItemsRequest request = StoreForTest::Judged("sessions", items);
  request.mutable_items(1)->set_ts(kLater - 3600);
  const v1::DeleteItemsResponse response = db_.Delete(request);
  ASSERT_EQ(Outcomes(response), "DELETED MODIFIED");
  EXPECT_EQ(response.results(1).current().ts(), kLater);
}

TEST_F(DeleteItemsTest, RewrittenKeyIsAnotherItem) {
  const v1::DeleteItemsRequest request = SessionsJudged(1);
  // The same row once more, within the same second.
  db_.Sql(
      "CREATE TABLE kept AS SELECT * FROM sessions; DELETE FROM sessions; "
      "INSERT INTO sessions SELECT * FROM kept");
  EXPECT_EQ(Outcomes(db_.Delete(request)), "MODIFIED");
}

TEST_F(DeleteItemsTest, RowWrittenInASavepointIsDeletedAtTheSecondTry) {
  SessionsJudged(0);
  db_.Sql(
      "BEGIN; SAVEPOINT s; INSERT INTO sessions VALUES (1, '', now() - interval '1 hour', 5); "
      "RELEASE s; CREATE TABLE streamed AS SELECT txid_current() AS xid; COMMIT");
  v1::DeleteItemsRequest request = StoreForTest::Judged("sessions", db_.Items("sessions"));
  request.mutable_items(0)->set_etag(db_.Value("SELECT xid FROM streamed"));
  const v1::DeleteItemsResponse response = db_.Delete(request);
  ASSERT_EQ(Outcomes(response), "MODIFIED");
  request.mutable_items(0)->set_etag(response.results(0).current().etag());
  EXPECT_EQ(Outcomes(db_.Delete(request)), "DELETED");
}

TEST_F(DeleteItemsTest, KeyAskedTwiceIsDeletedOnce) {
  v1::DeleteItemsRequest request = SessionsJudged(2);
  *request.add_items() = request.items(0);
  std::string outcomes = Outcomes(db_.Delete(request));
  EXPECT_TRUE(outcomes == "DELETED DELETED NOT_FOUND" || outcomes == "NOT_FOUND DELETED DELETED")
      << outcomes;
  EXPECT_EQ(Ids(), "");
}

TEST_F(DeleteItemsTest, KeyThatIsNoneOfTheTableIsNotFound) {
  v1::DeleteItemsRequest request = SessionsJudged(2);
  const v1::ExpiredItem one = request.items(0);
  const auto add = [&](absl::string_view partition_key, absl::string_view id) {
    v1::ExpiredItem& item = *request.add_items();
    item = one;
    item.set_partition_key(std::string(partition_key));
    item.set_id(std::string(id));
  };
  add("", "one");                        // no number
  add("", "99999999999999999999");       // too large a number
  add("", "01");                         // not as the row's key is written
  add("", absl::string_view("1\0", 2));  // a zero byte
  add("", "\xff\xfe");                   // no UTF-8
  add("eu", "1");                        // there is no partition key
  EXPECT_EQ(Outcomes(db_.Delete(request)),
            "DELETED DELETED NOT_FOUND NOT_FOUND NOT_FOUND NOT_FOUND NOT_FOUND NOT_FOUND");
}

TEST_F(DeleteItemsTest, RowThatIsGoneIsPutOffUntilTheSidecarKnowsAllCommitsBefore) {
  std::atomic<uint64_t> reported = 0;
  db_.set_reported([&] { return reported.load(); });
  const v1::DeleteItemsRequest request = SessionsJudged(3);
  db_.Sql("DELETE FROM sessions WHERE id = 2");
  const v1::DeleteItemsResponse response = db_.Delete(request);
  EXPECT_EQ(Outcomes(response), "DELETED THROTTLED DELETED");
  EXPECT_EQ(response.retry_after().seconds(), 1);
  // What is still asked for then has no explanation.
  reported = std::numeric_limits<uint64_t>::max();
  EXPECT_EQ(Outcomes(db_.Delete(request)), "NOT_FOUND NOT_FOUND NOT_FOUND");
}

TEST_F(DeleteItemsTest, NothingIsDeletedFromNotAfterOn) {
  v1::DeleteItemsRequest request = SessionsJudged(2);
  *request.mutable_not_after() = ToTimestamp(absl::Now() - absl::Milliseconds(1));
  EXPECT_EQ(Outcomes(db_.Delete(request)), "THROTTLED THROTTLED");
  EXPECT_EQ(Ids(), "1 2");
}

TEST_F(DeleteItemsTest, NotAfterHoldsUntilTheEndOfTheTransaction) {
  v1::DeleteItemsRequest request = SessionsJudged(1);
  // Strikes after the delete, where deferred constraints are checked.
  db_.Sql(
      "CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS "
      "$$ BEGIN PERFORM pg_sleep(0.7); RETURN NULL; END $$; "
      "CREATE CONSTRAINT TRIGGER slow AFTER DELETE ON sessions INITIALLY DEFERRED "
      "FOR EACH ROW EXECUTE FUNCTION slow()");
  *request.mutable_not_after() = ToTimestamp(absl::Now() + absl::Milliseconds(500));
  EXPECT_EQ(Outcomes(db_.Delete(request)), "THROTTLED");
  EXPECT_EQ(Ids(), "1");
}

TEST_F(DeleteItemsTest, WhatTheCallHasNoTimeForIsThrottled) {
  const v1::DeleteItemsRequest request = SessionsJudged(2);
  const auto response = db_.store().DeleteItems(request, absl::Now());
  ASSERT_TRUE(response.ok()) << response.status();
  EXPECT_EQ(Outcomes(*response), "THROTTLED THROTTLED");
  EXPECT_EQ(Ids(), "1 2");
}

TEST_F(DeleteItemsTest, NextBatchIsToWaitByWhatThisOneTook) {
  v1::DeleteItemsRequest request = SessionsJudged(300);
  const absl::Time before = absl::Now();
  const v1::DeleteItemsResponse response = db_.Delete(request);
  const absl::Duration most = DeletePause(absl::Now() - before);
  ASSERT_TRUE(response.has_retry_after());
  EXPECT_GT(ToDuration(response.retry_after()), absl::ZeroDuration());
  EXPECT_LE(ToDuration(response.retry_after()), most);

  // What is throttled waits by the rules of the sidecar.
  request.mutable_not_after()->set_seconds(1);
  const v1::DeleteItemsResponse too_late = db_.Delete(request);
  EXPECT_EQ(too_late.results(0).outcome(), v1::DELETE_OUTCOME_THROTTLED);
  EXPECT_FALSE(too_late.has_retry_after());
}

TEST_F(DeleteItemsTest, LockedRowsAreSkippedAtOnce) {
  db_.config().lock_timeout = absl::Seconds(30);
  const v1::DeleteItemsRequest request = SessionsJudged(5);
  db_.Sql("CREATE TABLE baskets (session bigint REFERENCES sessions)");
  const auto application = db_.Connect();
  ASSERT_TRUE(application
                  ->Execute("BEGIN; UPDATE sessions SET ts = now() WHERE id = 2;"
                            "SELECT FROM sessions WHERE id = 3 FOR SHARE;"
                            "INSERT INTO baskets VALUES (4)")
                  .ok());
  const absl::Time before = absl::Now();
  const v1::DeleteItemsResponse response = db_.Delete(request);
  EXPECT_LT(absl::Now() - before, absl::Seconds(20));
  EXPECT_EQ(Outcomes(response), "DELETED FAILED FAILED FAILED DELETED");
  for (int i = 1; i <= 3; ++i) {
    EXPECT_EQ(response.results(i).reason(), "row is locked by another transaction");
  }
  ASSERT_TRUE(application->Execute("ROLLBACK").ok());
  EXPECT_EQ(Outcomes(db_.Delete(request)), "NOT_FOUND DELETED DELETED DELETED NOT_FOUND");
}

TEST_F(DeleteItemsTest, VersionThatTheDatabaseDoesNotShowYetIsAskedForAgain) {
  v1::DeleteItemsRequest request = SessionsJudged(2);
  // What a commit is to others while it waits for a standby: streamed, but still running.
  const auto application = db_.Connect();
  const auto xid = application->Execute(
      "BEGIN; INSERT INTO sessions SELECT 3, 'x', ts, ttl FROM sessions WHERE id = 2;"
      "SELECT txid_current()");
  ASSERT_TRUE(xid.ok());
  request.mutable_items(0)->set_etag(std::string(xid->Text(0, 0)));
  request.mutable_items(1)->set_etag(std::string(xid->Text(0, 0)));
  request.mutable_items(1)->set_id("3");
  EXPECT_EQ(Outcomes(db_.Delete(request)), "THROTTLED THROTTLED");
  ASSERT_TRUE(application->Execute("COMMIT").ok());
  EXPECT_EQ(Outcomes(db_.Delete(request)), "MODIFIED DELETED");
}

TEST_F(DeleteItemsTest, ContainerAndRequestAreChecked) {
  v1::DeleteItemsRequest request = SessionsJudged(1);
  const absl::Time deadline = absl::Now() + StoreForTest::kPatience;
  v1::DeleteItemsRequest other = request;
  other.set_container("orders");
  const auto unknown = db_.store().DeleteItems(other, deadline);
  EXPECT_TRUE(absl::IsNotFound(unknown.status()));
  EXPECT_THAT(std::string(unknown.status().message()),
              AllOf(HasSubstr("orders"), HasSubstr("sessions")));
  other = request;
  other.clear_not_after();
  EXPECT_TRUE(absl::IsInvalidArgument(db_.store().DeleteItems(other, deadline).status()));
  other = request;
  other.clear_items();
  EXPECT_TRUE(absl::IsInvalidArgument(db_.store().DeleteItems(other, deadline).status()));
  for (int i = 0; i <= PrimaryStore::kMaxBatchItems; ++i) *other.add_items() = request.items(0);
  EXPECT_TRUE(absl::IsInvalidArgument(db_.store().DeleteItems(other, deadline).status()));
}

TEST_F(DeleteItemsTest, YieldsWithoutTouchingTheTable) {
  db_.Sql(absl::StrCat(kSessions, ";", Rows(2)));
  db_.Open({Sessions()}, [] { return absl::Milliseconds(1500); });
  const v1::DeleteItemsResponse response = db_.DeleteAll("sessions");
  EXPECT_EQ(Outcomes(response), "THROTTLED THROTTLED");
  EXPECT_EQ(ToDuration(response.retry_after()), absl::Milliseconds(1500));
  EXPECT_EQ(Ids(), "1 2");
  EXPECT_EQ(db_.store().CountersOf("sessions")->yielded_calls, 1);
  EXPECT_EQ(db_.store().CountersOf("sessions")->rows_touched, 0);
}

TEST_F(DeleteItemsTest, CountsWhatBecameOfItems) {
  const v1::DeleteItemsRequest request = SessionsJudged(3);
  db_.Sql("DELETE FROM sessions WHERE id = 2");
  db_.Delete(request);
  const StoreCounters* counters = db_.store().CountersOf("sessions");
  EXPECT_EQ(counters->outcomes[v1::DELETE_OUTCOME_DELETED], 2);
  EXPECT_EQ(counters->outcomes[v1::DELETE_OUTCOME_NOT_FOUND], 1);
  EXPECT_EQ(counters->rows_touched, 4);
  EXPECT_EQ(db_.store().CountersOf("orders"), nullptr);
}

// One kind of table, and rows that must all be deleted, each exactly.
// The new transaction of the row is news, its time is not; and the row still goes by that.
TEST_F(DeleteItemsTest, RowThatARewriteHasLeftIsDeletedByItsFormerTime) {
  db_.Sql("CREATE TABLE plain (id bigint PRIMARY KEY)");
  TableConfig plain;
  plain.container = "plain";
  plain.table = "plain";
  plain.id = {"id"};
  db_.Sql(HoldTimesSql(db_.config().schema, std::vector{db_.Describe(plain)}));
  db_.Sql("INSERT INTO plain VALUES (1)");
  db_.Sql("INSERT INTO plain VALUES (2)");
  const auto ts_of_first = [&] {
    return db_.Value(
        "SELECT floor(extract(epoch FROM pg_xact_commit_timestamp(xmin)))::bigint "
        "FROM plain WHERE id = 1");
  };
  const std::string written = ts_of_first();
  db_.Open({plain});
  v1::DeleteItemsRequest request = StoreForTest::Judged("plain", db_.Items("plain"), 1);
  ASSERT_TRUE(WaitUntil(
      [&] {
        return db_.Value("SELECT floor(extract(epoch FROM now()))::bigint") >
               absl::StrCat(request.items(1).ts());
      },
      absl::Seconds(60)));
  db_.Sql("ALTER TABLE plain ADD other uuid DEFAULT gen_random_uuid()");
  ASSERT_NE(ts_of_first(), written);
  db_.Sql("UPDATE plain SET other = NULL WHERE id = 2");

  const v1::DeleteItemsResponse first = db_.Delete(request);
  ASSERT_EQ(Outcomes(first), "MODIFIED MODIFIED");
  EXPECT_EQ(absl::StrCat(first.results(0).current().ts()), written);
  EXPECT_GT(first.results(1).current().ts(), request.items(1).ts());
  EXPECT_EQ(absl::StrCat(db_.Items("plain")[0].ts()), written);
  request.mutable_items(0)->set_etag(first.results(0).current().etag());
  EXPECT_EQ(Outcomes(db_.Delete(request)), "DELETED MODIFIED");
}

struct TableCase {
  std::string name;
  std::string create;  // the table t with its rows
  TableConfig config;
  int rows;
};

TableConfig Keyed(std::vector<std::string> partition_key, std::vector<std::string> id,
                  std::optional<std::string> ts = "ts",
                  std::optional<std::string> ttl = std::nullopt) {
  TableConfig config;
  config.container = "c";
  config.table = "t";
  config.partition_key = std::move(partition_key);
  config.id = std::move(id);
  config.ts_column = std::move(ts);
  config.ttl_column = std::move(ttl);
  return config;
}

TableConfig InMilliseconds(TableConfig config) {
  config.ts_unit = EpochUnit::kMilliseconds;
  return config;
}

TableConfig OfTable(TableConfig config, std::string schema, std::string table) {
  config.schema = std::move(schema);
  config.table = std::move(table);
  return config;
}

const TableCase kTables[] = {
    {"Uuid",
     "CREATE TABLE t (id uuid PRIMARY KEY, ts timestamptz);"
     "INSERT INTO t SELECT gen_random_uuid(), '2020-01-01 00:00:00.999999+00' "
     "FROM generate_series(1, 20)",
     Keyed({}, {"id"}), 20},
    {"AwkwardTexts",
     "CREATE TABLE t (tenant text, name varchar(60), ts timestamptz, PRIMARY KEY (tenant, name));"
     "INSERT INTO t SELECT a, b, now() - interval '1 day' FROM unnest(ARRAY['', ' ', 'a/b', "
     "'a\\b', '\"', '''', '{x,y}', 'NULL', E'\\n\\t', 'grüße', '\\/', '%s', '$1', E'\\x01']) a, "
     "unnest(ARRAY['', ' ', 'a/b', 'a\\b', '\"', '''', '{x,y}', 'NULL', E'\\n\\t', 'ключ']) b",
     Keyed({"tenant"}, {"name"}), 140},
    {"IdOfTwoTexts",
     "CREATE TABLE t (a text, b text, c char(5), ts timestamptz, PRIMARY KEY (a, b, c));"
     "INSERT INTO t SELECT a, b, 'x', now() - interval '1 day' FROM unnest(ARRAY['', '/', '\\', "
     "'/\\', 'a/', '/a']) a, unnest(ARRAY['', '/', '\\', '\\/', '/b', 'b/']) b",
     Keyed({}, {"a", "b", "c"}), 36},
    {"ManyTypes",
     "CREATE TYPE \"Kind\" AS ENUM ('Web', 'app\"s'); CREATE DOMAIN code AS varchar(8);"
     "CREATE TABLE t (k \"Kind\", n numeric(12,4), at timestamptz, d date, b bytea, u uuid, "
     "i smallint, f boolean, c code, e interval, p inet, ts timestamptz, "
     "PRIMARY KEY (k, n, at, d, b, u, i, f, c, e, p));"
     "INSERT INTO t SELECT k, n, '2024-03-31 01:30:00.123456+01', '2024-02-29', '\\x00ff2f5c', "
     "gen_random_uuid(), -3, true, 'a/b', '1 year 2 days 00:00:01.5', '10.0.0.0/8', "
     "now() - interval '1 day' FROM unnest(enum_range(NULL::\"Kind\")) k, "
     "unnest(ARRAY[1, 1.5, -0.0001, 12345678.9]) n",
     Keyed({"k", "n"}, {"at", "d", "b", "u", "i", "f", "c", "e", "p"}), 8},
    {"EpochSeconds",
     "CREATE TABLE t (id int PRIMARY KEY, ts integer, ttl smallint);"
     "INSERT INTO t SELECT i, 1000000 + i, CASE WHEN i % 2 = 0 THEN i END "
     "FROM generate_series(1, 20) i",
     Keyed({}, {"id"}, "ts", "ttl"), 20},
    {"EpochMilliseconds",
     "CREATE TABLE t (id int PRIMARY KEY, ts bigint, ttl bigint);"
     "INSERT INTO t SELECT i, 1000000000000 + i * 333, NULL FROM generate_series(1, 20) i",
     InMilliseconds(Keyed({}, {"id"}, "ts", "ttl")), 20},
    {"Partitioned",
     "CREATE TABLE t (tenant text, id bigint, ts timestamptz, PRIMARY KEY (tenant, id)) "
     "PARTITION BY LIST (tenant);"
     "CREATE TABLE t_eu PARTITION OF t FOR VALUES IN ('eu') PARTITION BY HASH (id);"
     "CREATE TABLE t_eu0 PARTITION OF t_eu FOR VALUES WITH (MODULUS 2, REMAINDER 0);"
     "CREATE TABLE t_eu1 PARTITION OF t_eu FOR VALUES WITH (MODULUS 2, REMAINDER 1);"
     "CREATE TABLE t_us PARTITION OF t FOR VALUES IN ('us');"
     "INSERT INTO t SELECT p, i, now() - interval '1 day' FROM unnest(ARRAY['eu', 'us']) p, "
     "generate_series(1, 50) i",
     Keyed({"tenant"}, {"id"}), 100},
    {"AwkwardNames",
     "CREATE SCHEMA \"My Shop\"; CREATE TABLE \"My Shop\".\"or\"\"der\" (\"Id\" int PRIMARY KEY, "
     "\"n\" timestamptz, \"ttl\" int, k1 int, etag text);"
     "INSERT INTO \"My Shop\".\"or\"\"der\" SELECT i, '2020-01-01', 5 FROM generate_series(1, 9) i",
     OfTable(Keyed({}, {"Id"}, "n", "ttl"), "My Shop", "or\"der"), 9},
    {"OtherCollation",
     "CREATE TABLE t (id text COLLATE \"C\" PRIMARY KEY, ts timestamptz);"
     "INSERT INTO t SELECT 'k' || i, '2020-01-01' FROM generate_series(1, 9) i",
     Keyed({}, {"id"}), 9},
};

class DeleteItemsTableTest : public testing::TestWithParam<TableCase> {};

TEST_P(DeleteItemsTableTest, EveryRowIsDeletedAndNoOther) {
  const TableCase& table = GetParam();
  StoreForTest db;
  db.Sql(table.create);
  db.Open({table.config});
  const std::vector<v1::Item> items = db.Items("c");
  ASSERT_EQ(items.size(), static_cast<size_t>(table.rows));
  const std::string count = absl::StrCat("SELECT count(*) FROM ",
                                         QuoteQualified(table.config.schema, table.config.table));
  // One at a time: each takes its own row.
  for (size_t i = 0; i < items.size() / 2; ++i) {
    EXPECT_EQ(Outcomes(db.Delete(StoreForTest::Judged("c", {items[i]}))), "DELETED");
    EXPECT_EQ(db.Value(count), absl::StrCat(table.rows - i - 1));
  }
  const v1::DeleteItemsResponse rest = db.Delete(StoreForTest::Judged("c", items));
  for (size_t i = 0; i < items.size(); ++i) {
    EXPECT_EQ(rest.results(static_cast<int>(i)).outcome(),
              i < items.size() / 2 ? v1::DELETE_OUTCOME_NOT_FOUND : v1::DELETE_OUTCOME_DELETED);
  }
  EXPECT_EQ(db.Value(count), "0");
}

INSTANTIATE_TEST_SUITE_P(Tables, DeleteItemsTableTest, testing::ValuesIn(kTables),
                         [](const auto& tested) { return tested.param.name; });

TEST(DeleteItemsKindsTest, TextThatACastWouldCutIsAnotherKey) {
  StoreForTest db;
  db.Sql(
      "CREATE TABLE t (id varchar(3) PRIMARY KEY, ts timestamptz);"
      "INSERT INTO t VALUES ('abc', '2020-01-01')");
  db.Open({Keyed({}, {"id"})});
  v1::DeleteItemsRequest request = StoreForTest::Judged("c", db.Items("c"));
  request.mutable_items(0)->set_id("abcd");
  EXPECT_EQ(Outcomes(db.Delete(request)), "NOT_FOUND");
  EXPECT_EQ(db.Value("SELECT count(*) FROM t"), "1");
}

TEST(DeleteItemsKindsTest, CommitTimeIsTheTimeOfTheLastWrite) {
  StoreForTest db;
  db.Sql("CREATE TABLE t (id int PRIMARY KEY, v int)");
  const absl::Time before = absl::Now();
  db.Sql("INSERT INTO t VALUES (1, 0), (2, 0)");
  const absl::Time after = absl::Now();
  db.Open({Keyed({}, {"id"}, std::nullopt)});
  const std::vector<v1::Item> items = db.Items("c");
  ASSERT_EQ(items.size(), 2u);
  ExpectBetween(before, absl::FromUnixSeconds(items[0].ts()), after);
  db.Sql("UPDATE t SET v = 1 WHERE id = 2");
  v1::DeleteItemsRequest request = StoreForTest::Judged("c", items, /*default_ttl=*/0);
  const v1::DeleteItemsResponse response = db.Delete(request);
  EXPECT_EQ(Outcomes(response), "DELETED MODIFIED");
  EXPECT_EQ(response.results(1).current().etag(), db.Value("SELECT xmin FROM t WHERE id = 2"));
}

TEST(DeleteItemsKindsTest, ChildrenByInheritanceAreOtherTables) {
  StoreForTest db;
  db.Sql(
      "CREATE TABLE t (id int PRIMARY KEY, ts timestamptz); CREATE TABLE child () INHERITS (t);"
      "INSERT INTO t VALUES (1, '2020-01-01'); INSERT INTO child VALUES (1, '2020-01-01')");
  db.Open({Keyed({}, {"id"})});
  EXPECT_EQ(Outcomes(db.DeleteAll("c")), "DELETED");
  EXPECT_EQ(db.Value("SELECT tableoid::regclass FROM t"), "child");
}

TEST(DeleteItemsKindsTest, RowsThatAPolicyHidesAreSeen) {
  StoreForTest db;
  db.Sql(
      "CREATE TABLE t (id int PRIMARY KEY, ts timestamptz);"
      "INSERT INTO t VALUES (1, '2020-01-01');"
      "ALTER TABLE t ENABLE ROW LEVEL SECURITY;"
      "CREATE POLICY live ON t USING (ts > now())");
  db.Open({Keyed({}, {"id"})});
  EXPECT_EQ(Outcomes(db.DeleteAll("c")), "DELETED");
}

TEST(DeleteItemsKindsTest, PolicyThatWouldHideRowsFromUsIsAnErrorAndNotNotFound) {
  StoreForTest db;
  db.Sql(
      "CREATE TABLE t (id int PRIMARY KEY, ts timestamptz);"
      "INSERT INTO t VALUES (1, '2020-01-01');"
      "DROP ROLE IF EXISTS clerk; CREATE ROLE clerk LOGIN;"
      "GRANT SELECT, UPDATE, DELETE ON t TO clerk");
  db.config().database = SharedServer().Conninfo(db.name(), "clerk");
  db.Open({Keyed({}, {"id"})});
  const v1::DeleteItemsRequest request = StoreForTest::Judged("c", db.Items("c"));
  db.Sql("ALTER TABLE t ENABLE ROW LEVEL SECURITY; CREATE POLICY live ON t USING (ts > now())");
  const auto hidden = db.store().DeleteItems(request, absl::Now() + StoreForTest::kPatience);
  EXPECT_TRUE(absl::IsUnavailable(hidden.status())) << hidden.status();
  EXPECT_THAT(std::string(hidden.status().message()), HasSubstr("42501"));
  db.Sql("ALTER TABLE t DISABLE ROW LEVEL SECURITY; REVOKE UPDATE ON t FROM clerk");
  const auto refused = db.store().DeleteItems(request, absl::Now() + StoreForTest::kPatience);
  EXPECT_TRUE(absl::IsUnavailable(refused.status())) << refused.status();
  EXPECT_THAT(std::string(refused.status().message()), HasSubstr("42501"));
  db.Sql("GRANT UPDATE ON t TO clerk");
  EXPECT_EQ(Outcomes(db.Delete(request)), "DELETED");
}

TEST(DeleteItemsKindsTest, TableThatIsGoneIsUnavailableAndNotNotFound) {
  StoreForTest db;
  db.Sql(
      "CREATE TABLE t (id int PRIMARY KEY, ts timestamptz);"
      "INSERT INTO t SELECT i, '2020-01-01' FROM generate_series(1, 100) i");
  db.Open({Keyed({}, {"id"})});
  const v1::DeleteItemsRequest request = StoreForTest::Judged("c", db.Items("c"));
  db.Sql("ALTER TABLE t RENAME TO u");
  const auto response = db.store().DeleteItems(request, absl::Now() + StoreForTest::kPatience);
  EXPECT_TRUE(absl::IsUnavailable(response.status())) << response.status();
  EXPECT_THAT(std::string(response.status().message()), HasSubstr("42P01"));
  EXPECT_EQ(db.store().CountersOf("c")->failed_calls, 1);
}

// The plan of a statement of the table's, with parameters of its own, as text.
std::string PlanOf(StoreForTest& db, const std::string& statement,
                   const std::vector<Connection::Parameter>& parameters) {
  const auto connection = db.Connect();
  const auto plan = connection->Query(absl::StrCat("EXPLAIN ", statement), parameters);
  EXPECT_TRUE(plan.ok()) << plan.status();
  std::string text;
  for (int row = 0; plan.ok() && row < plan->rows(); ++row) {
    absl::StrAppend(&text, plan->Text(row, 0), "\n");
  }
  return text;
}

void ExpectIndexIsUsed(StoreForTest& db, const TableConfig& config) {
  const TableDefinition definition = db.Describe(config);
  const RowSelect select(definition);
  const DeleteSql sql(definition, select);
  const v1::DeleteItemsRequest request = StoreForTest::Judged("c", {v1::Item(), v1::Item()});
  std::vector<AskedItem> asked;
  for (int i = 0; i < 1000; ++i) {
    std::vector<std::string> key(definition.partition_key.size(), absl::StrCat("p", i % 10));
    key.push_back(absl::StrCat(i));
    asked.push_back({0, key, &request.items(0)});
  }
  for (const std::string& plan :
       {PlanOf(db, sql.delete_statement(), sql.DeleteParameters(asked, absl::Now())),
        PlanOf(db, sql.state_statement(), sql.StateParameters(asked))}) {
    EXPECT_THAT(plan, AllOf(Not(HasSubstr("Seq Scan")), HasSubstr("Index"))) << plan;
  }
}

TEST(DeletePlanTest, MillionRowsAreFoundByTheIndex) {
  StoreForTest db;
  db.Sql(
      "CREATE TABLE t (tenant text, id bigint, ts timestamptz, ttl int, "
      "PRIMARY KEY (tenant, id)) WITH (autovacuum_enabled = off)");
  db.Sql("ANALYZE t");  // of an empty table
  db.Sql(
      "INSERT INTO t SELECT 'p' || i % 10, i, '2020-01-01', NULL "
      "FROM generate_series(1, 1000000) i");
  const TableConfig config = Keyed({"tenant"}, {"id"}, "ts", "ttl");
  ExpectIndexIsUsed(db, config);
  db.Sql("ANALYZE t");
  ExpectIndexIsUsed(db, config);
  // Statistics of a time when all rows were alike.
  db.Sql(
      "CREATE TABLE few (LIKE t INCLUDING ALL) WITH (autovacuum_enabled = off);"
      "INSERT INTO few SELECT * FROM t LIMIT 10; ANALYZE few;"
      "INSERT INTO few SELECT 'q', id, ts, ttl FROM t LIMIT 200000");
  ExpectIndexIsUsed(db, OfTable(config, "public", "few"));
}

TEST(DeletePlanTest, PartitionsAreFoundByTheirIndex) {
  StoreForTest db;
  db.Sql("CREATE TABLE t (id bigint PRIMARY KEY, ts timestamptz) PARTITION BY HASH (id)");
  for (int i = 0; i < 8; ++i) {
    db.Sql(absl::StrCat("CREATE TABLE t", i,
                        " PARTITION OF t FOR VALUES WITH (MODULUS 8, REMAINDER ", i, ")"));
  }
  db.Sql("INSERT INTO t SELECT i, '2020-01-01' FROM generate_series(1, 400000) i; ANALYZE t");
  ExpectIndexIsUsed(db, Keyed({}, {"id"}));
}

}  // namespace
}  // namespace ttl::postgres
