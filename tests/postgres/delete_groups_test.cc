// Tables with group_by: what DeleteItems deletes of groups, and what it leaves.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "client/postgres/row/row_select.h"
#include "client/postgres/sql/check/catalog.h"
#include "client/postgres/sql/group_rows.h"
#include "client/postgres/sql/install/installation.h"
#include "tests/postgres/groups_for_test.h"
#include "tests/postgres/store_for_test.h"
#include "tests/testing/wait.h"

namespace ttl::postgres {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class DeleteGroupsTest : public testing::Test {
 protected:
  DeleteGroupsTest() { db_.ShowPosition(100); }

  void Open(const TableConfig& table) {
    db_.config().tables = {table};
    const auto connection = db_.Connect();
    ASSERT_TRUE(connection->Execute(Connection::kSystemNamesOnly).ok());
    const auto report = CheckCatalog(*connection, db_.config());
    ASSERT_TRUE(report.ok()) << report.status();
    for (const TableDefinition& definition : report->tables) tables_.push_back(definition);
    ASSERT_EQ(tables_.size(), 1u) << testing::PrintToString(report->problems);
    const auto installed = connection->Execute(InstallSql(db_.config(), tables_));
    ASSERT_TRUE(installed.ok()) << installed.status();
    db_.OpenDefined(tables_);
  }

  // Threads 'a' to 'd' of two checkpoints and three writes each, long past.
  void OpenThreads() {
    db_.Sql(kCreateCheckpoints);
    db_.Sql(
        "INSERT INTO checkpoints (thread_id, checkpoint_id, checkpoint, ttl_written_at) SELECT "
        "t, i, '{}', to_timestamp(1000000000 + i) FROM unnest(ARRAY['a', 'b', 'c', 'd']) AS t, "
        "generate_series(1, 2) AS i;"
        "INSERT INTO checkpoint_writes (thread_id, checkpoint_id, task_id, idx, channel, blob, "
        "ttl_written_at) SELECT t, 1, 'x', i, 'c', '', to_timestamp(1000000007) FROM "
        "unnest(ARRAY['a', 'b', 'c', 'd']) AS t, generate_series(1, 3) AS i");
    Open(Threads());
  }

  std::string ThreadsIn(const std::string& table) {
    return db_.Value(
        absl::StrCat("SELECT coalesce(string_agg(thread_id, '' ORDER BY thread_id), "
                     "'') FROM ",
                     table));
  }

  StoreForTest db_;
  std::vector<TableDefinition> tables_;
};

TEST_F(DeleteGroupsTest, GroupsAreScannedWithTheirLatestTimes) {
  OpenThreads();
  const std::vector<v1::Item> items = db_.Items("threads");
  ASSERT_EQ(items.size(), 4u);
  EXPECT_EQ(items[0].id(), "a");
  EXPECT_EQ(items[0].ts(), 1'000'000'007);
  EXPECT_FALSE(items[0].has_ttl());
  EXPECT_FALSE(items[0].has_expire_at());
  EXPECT_EQ(items[0].etag(), "");
}

// Many pages, whose groups are in some of the tables. None of the pages reads a whole table.
TEST_F(DeleteGroupsTest, EachGroupIsScannedOnce) {
  OpenThreads();
  db_.Sql(
      "INSERT INTO checkpoints (thread_id, checkpoint_id, checkpoint, ttl_written_at) SELECT i "
      "* 2, j, '{}', to_timestamp(i * 10 + j) FROM generate_series(1, 2500) i, "
      "generate_series(1, 2) j; INSERT INTO checkpoint_writes (thread_id, checkpoint_id, "
      "task_id, idx, channel, blob, ttl_written_at) SELECT i * 3, 1, 'x', 1, 'c', '', "
      "to_timestamp(i * 20 + 5) FROM generate_series(1, 2500) i; ANALYZE");
  std::vector<std::string> seen;
  for (const v1::Item& item : db_.Items("threads")) {
    seen.push_back(absl::StrCat(item.id(), " ", item.ts()));
  }
  const QueryResult groups = db_.Sql(
      "SELECT thread_id || ' ' || floor(extract(epoch FROM max(at)))::bigint FROM (SELECT "
      "thread_id, ttl_written_at AS at FROM checkpoints UNION ALL SELECT thread_id, ttl_written_at "
      "FROM checkpoint_writes) AS rows GROUP BY thread_id ORDER BY thread_id");
  std::vector<std::string> expected;
  for (int i = 0; i < groups.rows(); ++i) expected.emplace_back(groups.Text(i, 0));
  EXPECT_GT(seen.size(), 4000u);
  EXPECT_EQ(seen, expected);

  const RowSelect select(GroupsAsRows(tables_[0]));
  std::string plan;
  const QueryResult lines = db_.Sql(
      absl::StrCat("PREPARE page(text) AS ", select.NextPage(100), "; EXPLAIN EXECUTE page('3')"));
  for (int i = 0; i < lines.rows(); ++i) absl::StrAppend(&plan, lines.Text(i, 0), "\n");
  EXPECT_THAT(plan, AllOf(HasSubstr("Index"), Not(HasSubstr("Seq Scan on checkpoints ")),
                          Not(HasSubstr("Seq Scan on checkpoint_writes "))));
}

TEST_F(DeleteGroupsTest, AllRowsOfExpiredGroupsGo) {
  OpenThreads();
  EXPECT_EQ(Outcomes(db_.DeleteAll("threads")), "DELETED DELETED DELETED DELETED");
  EXPECT_EQ(ThreadsIn("checkpoints"), "");
  EXPECT_EQ(ThreadsIn("checkpoint_writes"), "");
}

TEST_F(DeleteGroupsTest, GroupThatWasWrittenIsModifiedWithItsEndAndStaysWhole) {
  OpenThreads();
  const v1::DeleteItemsRequest request = StoreForTest::Judged("threads", db_.Items("threads"));
  db_.Sql(
      "INSERT INTO checkpoint_blobs (thread_id, channel, version, type, ttl_written_at) VALUES "
      "('b', 'c', '1', 't', to_timestamp(1500000000));"
      "DELETE FROM checkpoint_writes WHERE thread_id = 'c';"
      "DELETE FROM checkpoint_writes WHERE thread_id = 'd';"
      "DELETE FROM checkpoints WHERE thread_id = 'd'");
  const v1::DeleteItemsResponse response = db_.Delete(request);
  EXPECT_EQ(Outcomes(response), "DELETED MODIFIED MODIFIED NOT_FOUND");
  EXPECT_EQ(response.results(1).current().ts(), 1'500'000'000);
  EXPECT_EQ(response.results(1).current().sequence(), 100u);
  // The time has gone back with the rows that had it.
  EXPECT_EQ(response.results(2).current().ts(), 1'000'000'002);
  EXPECT_EQ(ThreadsIn("checkpoints"), "bbcc");
  EXPECT_EQ(ThreadsIn("checkpoint_writes"), "bbb");
}

TEST_F(DeleteGroupsTest, RowThatNeverExpiresKeepsItsGroup) {
  db_.Sql(kCreateOrders);
  db_.Sql(
      "INSERT INTO orders SELECT i, 1, to_timestamp(1000000000) FROM generate_series(1, 4) i;"
      "INSERT INTO orders VALUES (1, 2, NULL), (2, 2, 'infinity'), (3, 2, '-infinity');"
      "INSERT INTO lines SELECT i, 1, 1 FROM generate_series(1, 4) i");
  Open(Orders());
  const std::vector<v1::Item> items = db_.Items("orders");
  ASSERT_EQ(items.size(), 4u);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(items[i].ttl(), -1);
    EXPECT_FALSE(items[i].has_expire_at());
  }
  EXPECT_EQ(items[3].expire_at(), 1'000'000'000);
  v1::DeleteItemsRequest request = StoreForTest::Judged("orders", items);
  for (v1::ExpiredItem& item : *request.mutable_items()) {
    item.clear_ttl();
    item.set_expire_at(1'000'000'000);
    item.set_expire_time(1'000'000'000);
  }
  const v1::DeleteItemsResponse response = db_.Delete(request);
  EXPECT_EQ(Outcomes(response), "MODIFIED MODIFIED MODIFIED DELETED");
  EXPECT_EQ(response.results(0).current().ttl(), -1);
  EXPECT_EQ(db_.Value("SELECT string_agg(order_id::text, ' ' ORDER BY order_id) FROM lines"),
            "1 2 3");
}

TEST_F(DeleteGroupsTest, GroupIsNotDeletedBeforeItsEnd) {
  db_.Sql(kCreateOrders);
  db_.Sql("INSERT INTO orders VALUES (1, 1, '2001-01-01'), (1, 2, now() + interval '1 hour')");
  Open(Orders());
  EXPECT_EQ(Outcomes(db_.DeleteAll("orders")), "NOT_EXPIRED");
  EXPECT_EQ(db_.Value("SELECT count(*) FROM orders"), "2");
}

// The writer has begun before the delete, and commits after it: its row must find its group, or
// begin a new one.
TEST_F(DeleteGroupsTest, GroupThatAnOpenTransactionWritesIsLeft) {
  OpenThreads();
  const v1::DeleteItemsRequest request = StoreForTest::Judged("threads", db_.Items("threads"));
  const auto writer = db_.Connect();
  ASSERT_TRUE(writer
                  ->Execute("BEGIN; INSERT INTO checkpoint_writes (thread_id, checkpoint_id, "
                            "task_id, idx, channel, blob) VALUES ('b', '1', 'y', 1, 'c', '');"
                            "UPDATE checkpoints SET ttl_written_at = now() WHERE thread_id = 'c' "
                            "AND checkpoint_id = '2'")
                  .ok());
  v1::DeleteItemsResponse response = db_.Delete(request);
  EXPECT_EQ(Outcomes(response), "DELETED THROTTLED THROTTLED DELETED");
  ASSERT_TRUE(writer->Execute("COMMIT").ok());
  EXPECT_EQ(Outcomes(db_.Delete(request)), "NOT_FOUND MODIFIED MODIFIED NOT_FOUND");
  EXPECT_EQ(ThreadsIn("checkpoints"), "bbcc");
  // A transaction that was rolled back keeps nothing.
  ASSERT_TRUE(writer->Execute("BEGIN; UPDATE checkpoints SET type = 'x'; ROLLBACK").ok());
  EXPECT_EQ(Outcomes(db_.DeleteAll("threads")), "NOT_EXPIRED NOT_EXPIRED");
}

// Of writers that follow one another without a gap, the later waits behind the delete.
TEST_F(DeleteGroupsTest, DeleteGetsItsTurnBetweenWriters) {
  db_.config().lock_timeout = StoreForTest::kPatience;
  db_.config().statement_timeout = StoreForTest::kPatience;
  OpenThreads();
  const v1::DeleteItemsRequest request = StoreForTest::Judged("threads", db_.Items("threads"));
  const auto first = db_.Connect();
  const auto second = db_.Connect();
  ASSERT_TRUE(
      first->Execute("BEGIN; UPDATE checkpoints SET type = 'x' WHERE thread_id = 'b'").ok());
  auto response = std::async(std::launch::async, [&] { return db_.Delete(request); });
  const auto waiting = [&](const char* count) {
    return WaitUntil(
        [&] {
          return db_.Value(
                     "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT "
                     "granted") == count;
        },
        StoreForTest::kPatience);
  };
  EXPECT_TRUE(waiting("1"));
  auto later = std::async(std::launch::async, [&] {
    return second
        ->Execute(
            "INSERT INTO checkpoints (thread_id, checkpoint_id, checkpoint) VALUES ('b', '9', "
            "'{}')")
        .ok();
  });
  EXPECT_TRUE(waiting("2"));
  ASSERT_TRUE(first->Execute("COMMIT").ok());
  EXPECT_EQ(Outcomes(response.get()), "DELETED DELETED DELETED DELETED");
  EXPECT_TRUE(later.get());
  EXPECT_EQ(ThreadsIn("checkpoints"), "b");
}

TEST_F(DeleteGroupsTest, GroupsOfOneLockAreDeletedTogether) {
  db_.Sql(kCreateCheckpoints);
  db_.Sql(
      "INSERT INTO checkpoints (thread_id, checkpoint_id, checkpoint, ttl_written_at) SELECT "
      "i, 1, '{}', '2001-01-01' FROM generate_series(1, 1000) i");
  Open(Threads());
  const v1::DeleteItemsResponse response = db_.DeleteAll("threads");
  EXPECT_EQ(db_.Value("SELECT count(*) FROM checkpoints"), "0") << Outcomes(response);
}

TEST_F(DeleteGroupsTest, WritersThatCannotBeSeenByTheLockStopTheDeletes) {
  OpenThreads();
  db_.Sql("ALTER TABLE checkpoint_blobs DISABLE TRIGGER ALL");
  const v1::DeleteItemsResponse response = db_.DeleteAll("threads");
  EXPECT_EQ(Outcomes(response), "FAILED FAILED FAILED FAILED");
  EXPECT_THAT(response.results(0).reason(), HasSubstr("run ttl-postgres install"));
  // Enabled as most triggers are, it would not fire for an apply worker of logical replication.
  db_.Sql("ALTER TABLE checkpoint_blobs ENABLE TRIGGER ALL");
  EXPECT_EQ(Outcomes(db_.DeleteAll("threads")), "FAILED FAILED FAILED FAILED");
  db_.Sql(InstallSql(db_.config(), tables_));
  EXPECT_EQ(Outcomes(db_.DeleteAll("threads")), "DELETED DELETED DELETED DELETED");
}

// The same tables in another order have other locks, which a store of the former order does not
// see.
TEST_F(DeleteGroupsTest, TriggersOfAnotherConfigurationStopTheDeletes) {
  OpenThreads();
  TableConfig turned = MemberOf(Threads(), "checkpoint_blobs");
  turned.ts_column = "ttl_written_at";
  for (const char* table : {"checkpoints", "checkpoint_writes"}) {
    turned.members.push_back(MemberOf(turned, table));
    turned.members.back().ts_column = "ttl_written_at";
  }
  Config other = db_.config();
  other.tables = {turned};
  const auto connection = db_.Connect();
  ASSERT_TRUE(connection->Execute(Connection::kSystemNamesOnly).ok());
  const auto report = CheckCatalog(*connection, other);
  ASSERT_TRUE(report.ok() && report->tables.size() == 1);
  db_.Sql(InstallSql(other, report->tables));
  const auto writer = db_.Connect();
  ASSERT_TRUE(writer
                  ->Execute("BEGIN; INSERT INTO checkpoints (thread_id, checkpoint_id, "
                            "checkpoint) VALUES ('b', '3', '{}')")
                  .ok());
  const v1::DeleteItemsResponse response = db_.DeleteAll("threads");
  EXPECT_EQ(Outcomes(response), "FAILED FAILED FAILED FAILED");
  EXPECT_THAT(response.results(1).reason(), HasSubstr("as this configuration needs it"));
  ASSERT_TRUE(writer->Execute("COMMIT").ok());
  EXPECT_EQ(ThreadsIn("checkpoints"), "aabbbccdd");
}

// Each makes the trigger miss writers, or lets them hold another lock.
TEST_F(DeleteGroupsTest, ChangedTriggersStopTheDeletes) {
  OpenThreads();
  const std::string drop = "DROP TRIGGER zz_ttl_postgres_lock_group ON checkpoints;";
  const std::string create = "CREATE TRIGGER zz_ttl_postgres_lock_group ";
  const std::string enable =
      ";ALTER TABLE checkpoints ENABLE ALWAYS TRIGGER zz_ttl_postgres_lock_group";
  const std::string function = db_.Value(
      "SELECT tgfoid::regproc FROM pg_trigger WHERE tgrelid = 'checkpoints'::regclass AND tgname = "
      "'zz_ttl_postgres_lock_group'");
  const std::string execute = absl::StrCat(" FOR EACH ROW EXECUTE FUNCTION ", function, "()");
  const std::string executes_other = " FOR EACH ROW EXECUTE FUNCTION locks_nothing()";
  db_.Sql(
      "CREATE FUNCTION locks_nothing() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; "
      "END'");
  const std::string ons[] = {
      "BEFORE INSERT ON checkpoints" + execute,
      "BEFORE UPDATE ON checkpoints" + execute,
      "AFTER INSERT OR UPDATE ON checkpoints" + execute,
      "BEFORE INSERT OR UPDATE OF thread_id ON checkpoints" + execute,
      "BEFORE INSERT OR UPDATE ON checkpoints FOR EACH ROW WHEN (NEW.type = 'x') EXECUTE "
      "FUNCTION " +
          function + "()",
      "BEFORE INSERT OR UPDATE ON checkpoints" + executes_other,
  };
  for (const std::string& on : ons) {
    db_.Sql(absl::StrCat(drop, create, on, enable));
    EXPECT_EQ(Outcomes(db_.DeleteAll("threads")), "FAILED FAILED FAILED FAILED") << on;
  }
  db_.Sql(absl::StrCat(drop, create, "BEFORE INSERT OR UPDATE ON checkpoints", execute, enable));
  EXPECT_EQ(Outcomes(db_.DeleteAll("threads")), "DELETED DELETED DELETED DELETED");
}

TEST_F(DeleteGroupsTest, TableThatHasTakenTheNameOfACheckedOneStopsTheDeletes) {
  OpenThreads();
  const v1::DeleteItemsRequest request = StoreForTest::Judged("threads", db_.Items("threads"));
  db_.Sql(
      "BEGIN; CREATE TABLE copied (LIKE checkpoints INCLUDING ALL); INSERT INTO copied SELECT * "
      "FROM checkpoints; ALTER TABLE checkpoints RENAME TO former; ALTER TABLE copied RENAME TO "
      "checkpoints; COMMIT");
  const v1::DeleteItemsResponse response = db_.Delete(request);
  EXPECT_EQ(Outcomes(response), "FAILED FAILED FAILED FAILED");
  EXPECT_THAT(response.results(0).reason(), HasSubstr("was replaced by another of its name"));
  EXPECT_EQ(ThreadsIn("checkpoints"), "aabbccdd");
  EXPECT_EQ(ThreadsIn("checkpoint_writes"), "aaabbbcccddd");
}

// The schema gives its name to another while the group is being deleted.
TEST_F(DeleteGroupsTest, TableOfASchemaThatTakesTheNameMeanwhileKeepsItsRows) {
  OpenThreads();
  const v1::DeleteItemsRequest request = StoreForTest::Judged("threads", db_.Items("threads"));
  db_.Sql(
      "CREATE SCHEMA other; CREATE TABLE other.checkpoints AS TABLE checkpoints; CREATE TABLE "
      "other.checkpoint_blobs AS TABLE checkpoint_blobs; CREATE TABLE other.checkpoint_writes AS "
      "TABLE checkpoint_writes; DELETE FROM other.checkpoints;"
      "CREATE FUNCTION swap() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN IF to_regnamespace("
      "'other') IS NOT NULL THEN ALTER SCHEMA public RENAME TO former; ALTER SCHEMA other RENAME "
      "TO public; END IF; RETURN OLD; END$$;"
      "CREATE TRIGGER swap BEFORE DELETE ON checkpoints FOR EACH ROW EXECUTE FUNCTION swap()");
  const v1::DeleteItemsResponse response = db_.Delete(request);
  EXPECT_EQ(Outcomes(response), "FAILED FAILED FAILED FAILED");
  EXPECT_THAT(response.results(0).reason(), HasSubstr("was replaced by another of its name"));
  EXPECT_EQ(ThreadsIn("other.checkpoint_writes"), "aaabbbcccddd");
}

TEST_F(DeleteGroupsTest, TriggerThatFiresAfterTheLockStopsTheDeletes) {
  OpenThreads();
  db_.Sql(
      "CREATE FUNCTION moves() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN NEW.thread_id := 'b'; "
      "RETURN NEW; END$$; CREATE TRIGGER zzz BEFORE UPDATE ON checkpoint_writes FOR EACH ROW "
      "EXECUTE FUNCTION moves()");
  const v1::DeleteItemsResponse response = db_.DeleteAll("threads");
  EXPECT_EQ(Outcomes(response), "FAILED FAILED FAILED FAILED");
  EXPECT_THAT(response.results(0).reason(), HasSubstr("fires after the one that locks groups"));
  db_.Sql("ALTER TABLE checkpoint_writes DISABLE TRIGGER zzz");
  EXPECT_EQ(Outcomes(db_.DeleteAll("threads")), "DELETED DELETED DELETED DELETED");
}

TEST_F(DeleteGroupsTest, ForeignKeyThatCascadesToOtherGroupsStopsTheDeletes) {
  OpenThreads();
  db_.Sql(
      "ALTER TABLE checkpoints ADD COLUMN n int UNIQUE, ADD COLUMN parent int REFERENCES "
      "checkpoints (n) ON DELETE CASCADE");
  const v1::DeleteItemsResponse response = db_.DeleteAll("threads");
  EXPECT_EQ(Outcomes(response), "FAILED FAILED FAILED FAILED");
  EXPECT_THAT(response.results(0).reason(), HasSubstr("changes rows of other groups"));
}

TEST_F(DeleteGroupsTest, WritersOfReplicationLockTheirGroupsToo) {
  OpenThreads();
  const v1::DeleteItemsRequest request = StoreForTest::Judged("threads", db_.Items("threads"));
  const auto writer = db_.Connect();
  ASSERT_TRUE(writer
                  ->Execute("SET session_replication_role = replica; BEGIN; INSERT INTO "
                            "checkpoints (thread_id, checkpoint_id, checkpoint) VALUES ('b', '3', "
                            "'{}')")
                  .ok());
  EXPECT_EQ(Outcomes(db_.Delete(request)), "DELETED THROTTLED DELETED DELETED");
}

TEST_F(DeleteGroupsTest, GroupOfWhichATriggerKeepsARowStaysWhole) {
  OpenThreads();
  db_.Sql(
      "CREATE FUNCTION keep() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RETURN CASE WHEN "
      "OLD.thread_id = 'b' AND OLD.idx = 2 THEN NULL ELSE OLD END; END$$;"
      "CREATE TRIGGER keep BEFORE DELETE ON checkpoint_writes FOR EACH ROW EXECUTE FUNCTION "
      "keep()");
  const v1::DeleteItemsResponse response = db_.DeleteAll("threads");
  EXPECT_EQ(Outcomes(response), "DELETED FAILED DELETED DELETED");
  EXPECT_THAT(response.results(1).reason(), HasSubstr("a trigger keeps or creates them"));
  EXPECT_EQ(ThreadsIn("checkpoints"), "bb");
  EXPECT_EQ(ThreadsIn("checkpoint_writes"), "bbb");
}

TEST_F(DeleteGroupsTest, ForeignKeyFromOutsideKeepsTheWholeGroup) {
  db_.Sql(kCreateOrders);
  db_.Sql(
      "CREATE TABLE bills (id bigint, part int, FOREIGN KEY (id, part) REFERENCES orders);"
      "INSERT INTO orders SELECT i, 1, '2001-01-01' FROM generate_series(1, 3) i;"
      "INSERT INTO lines SELECT i, 1, 1 FROM generate_series(1, 3) i;"
      "INSERT INTO bills VALUES (2, 1)");
  Open(Orders());
  const v1::DeleteItemsResponse response = db_.DeleteAll("orders");
  EXPECT_EQ(Outcomes(response), "DELETED FAILED DELETED");
  EXPECT_THAT(response.results(1).reason(), HasSubstr("bills"));
  EXPECT_EQ(db_.Value("SELECT count(*) FROM lines"), "1");
}

TEST_F(DeleteGroupsTest, RowThatIsLockedKeepsTheWholeGroup) {
  OpenThreads();
  const auto reader = db_.Connect();
  ASSERT_TRUE(reader
                  ->Execute("BEGIN; SELECT FROM checkpoint_writes WHERE thread_id = 'b' AND idx "
                            "= 3 FOR KEY SHARE")
                  .ok());
  EXPECT_EQ(Outcomes(db_.DeleteAll("threads")), "DELETED FAILED DELETED DELETED");
  EXPECT_EQ(ThreadsIn("checkpoints"), "bb");
  EXPECT_EQ(ThreadsIn("checkpoint_writes"), "bbb");
}

// The delete waits for the row, which is then in a live group.
TEST_F(DeleteGroupsTest, RowThatIsMovedToAnotherGroupMeanwhileStays) {
  db_.config().lock_timeout = StoreForTest::kPatience;
  OpenThreads();
  const v1::DeleteItemsRequest request = StoreForTest::Judged("threads", db_.Items("threads"));
  // So that a row is found by its place, as in large tables.
  db_.Sql(
      "INSERT INTO checkpoints (thread_id, checkpoint_id, checkpoint) SELECT 'n' || i, 1, '{}' "
      "FROM generate_series(1, 20000) i; ANALYZE checkpoints");
  const auto writer = db_.Connect();
  ASSERT_TRUE(
      writer
          ->Execute("BEGIN; UPDATE checkpoints SET thread_id = 'live' WHERE thread_id = 'b' "
                    "AND checkpoint_id = '2'")
          .ok());
  auto response = std::async(std::launch::async, [&] { return db_.Delete(request); });
  EXPECT_TRUE(WaitUntil(
      [&] {
        return db_.Value(
                   "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND "
                   "application_name LIKE 'ttl-postgres%'") == "1";
      },
      StoreForTest::kPatience));
  ASSERT_TRUE(writer
                  ->Execute("UPDATE checkpoints SET ttl_written_at = now() WHERE thread_id = "
                            "'live'; COMMIT")
                  .ok());
  EXPECT_EQ(Outcomes(response.get()), "DELETED DELETED DELETED DELETED");
  EXPECT_EQ(ThreadsIn("checkpoints WHERE thread_id NOT LIKE 'n%'"), "live");
  EXPECT_EQ(ThreadsIn("checkpoint_writes"), "");
}

// Each group is found by the index, in each table, whatever the statistics say.
TEST_F(DeleteGroupsTest, NoTableIsReadAsAWhole) {
  OpenThreads();
  db_.Sql(
      "INSERT INTO checkpoints (thread_id, checkpoint_id, checkpoint) SELECT 'n' || i, 1, '{}' "
      "FROM generate_series(1, 20000) i; INSERT INTO checkpoint_writes (thread_id, "
      "checkpoint_id, task_id, idx, channel, blob) SELECT 'n' || i, 1, 'x', 1, 'c', '' FROM "
      "generate_series(1, 20000) i");
  v1::Item item;
  item.set_id("a");
  item.set_ts(1'000'000'007);
  const auto request = StoreForTest::Judged("threads", {item});
  const std::string read = "SELECT sum(seq_tup_read) FROM pg_stat_user_tables";
  db_.Sql("SELECT pg_stat_reset()");
  EXPECT_EQ(Outcomes(db_.Delete(request)), "DELETED");
  // The sessions of the store report what they have read when they end.
  db_.store().Close();
  ASSERT_TRUE(
      WaitUntil([&] { return db_.Value("SELECT sum(n_tup_del) FROM pg_stat_user_tables") == "5"; },
                StoreForTest::kPatience));
  EXPECT_EQ(db_.Value(read), "0");
}

TEST_F(DeleteGroupsTest, LargeGroupGoesWithinTheUsualTimeout) {
  OpenThreads();
  db_.Sql(
      "INSERT INTO checkpoint_writes (thread_id, checkpoint_id, task_id, idx, channel, blob, "
      "ttl_written_at) SELECT 'large', i, 'x', i, 'c', '', '2001-01-01' FROM "
      "generate_series(1, 100000) i");
  const absl::Time began = absl::Now();
  EXPECT_EQ(Outcomes(db_.DeleteAll("threads")), "DELETED DELETED DELETED DELETED DELETED");
  RecordProperty("milliseconds", static_cast<int>(absl::ToInt64Milliseconds(absl::Now() - began)));
  // Of a number of steps that grows with the square of the rows, it would take a minute.
  EXPECT_LT(absl::Now() - began, absl::Seconds(20));
  EXPECT_EQ(db_.Value("SELECT count(*) FROM checkpoint_writes"), "0");
}

// The trigger and the delete must compute the same lock of each type of a key.
TEST_F(DeleteGroupsTest, KeyOfEveryTypeHasOneLock) {
  db_.Sql(
      "CREATE TYPE kind AS ENUM ('x', 'y'); CREATE DOMAIN label AS text;"
      "CREATE TABLE keys (a bool, b int2, c int4, d int8, e oid, f text, g varchar, h varchar(9), "
      "i char(5), j numeric(9, 2), k uuid, l bytea, m date, n time, o timetz, p timestamp, q "
      "timestamptz, r inet, s cidr, t macaddr, u macaddr8, v kind, w label, at timestamptz NOT "
      "NULL);"
      "CREATE INDEX ON keys (a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, "
      "at);"
      "ALTER TABLE keys REPLICA IDENTITY FULL;"
      "INSERT INTO keys VALUES (true, -2, -4, -8, 4000000000, 't', 'v', 'v', 'c', 1.50, "
      "gen_random_uuid(), '\\x0001', '2001-01-01', '12:00:00.5', '12:00:00+05:30', '2001-01-01', "
      "'2001-01-01 12:00:00+05', '10.0.0.1/8', '10.0.0.0/8', '08:00:2b:01:02:03', "
      "'08:00:2b:01:02:03:04:05', 'y', 'w', '2001-01-01')");
  TableConfig keys;
  keys.container = keys.table = "keys";
  keys.is_group = true;
  keys.ts_column = "at";
  for (char name = 'a'; name <= 'w'; ++name) {
    keys.id.emplace_back(1, name);
    db_.Sql(absl::StrCat("ALTER TABLE keys ALTER ", keys.id.back(), " SET NOT NULL"));
  }
  Open(keys);
  const v1::DeleteItemsRequest request = StoreForTest::Judged("keys", db_.Items("keys"));
  const auto writer = db_.Connect();
  ASSERT_TRUE(writer->Execute("BEGIN; UPDATE keys SET at = at").ok());
  EXPECT_EQ(Outcomes(db_.Delete(request)), "THROTTLED");
  ASSERT_TRUE(writer->Execute("ROLLBACK").ok());
  EXPECT_EQ(Outcomes(db_.Delete(request)), "DELETED");
}

TEST_F(DeleteGroupsTest, KeysThatNoRowCanHaveAreNotFound) {
  db_.Sql(kCreateOrders);
  db_.Sql("INSERT INTO orders VALUES (1, 1, '2001-01-01')");
  Open(Orders());
  std::vector<v1::Item> items = db_.Items("orders");
  ASSERT_EQ(items.size(), 1u);
  for (const char* id : {"x", "01", ""}) {
    items.push_back(items[0]);
    items.back().set_id(id);
  }
  EXPECT_EQ(Outcomes(db_.Delete(StoreForTest::Judged("orders", items))),
            "DELETED NOT_FOUND NOT_FOUND NOT_FOUND");
}

}  // namespace
}  // namespace ttl::postgres
