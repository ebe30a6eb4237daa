#include "client/postgres/capture/capture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "client/postgres/row/row_key.h"
#include "tests/postgres/capture_fixture.h"
#include "tests/testing/wait.h"

namespace ttl::postgres {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class CaptureTest : public CaptureFixture {};

TEST_F(CaptureTest, RowsThatWereThereAndChangesAreTracked) {
  Sql(kCreateSessions);
  Sql("INSERT INTO sessions SELECT i, 'x', now() - i * interval '1 second', nullif(i % 3, 0) "
      "FROM generate_series(1, 5000) i");
  capture_.options().page_rows = 700;
  capture_.Begin({Sessions()});
  ASSERT_TRUE(capture_.WaitForStream());
  const int64_t restarts = capture_.status().restarts;
  ExpectSame();
  EXPECT_THAT(Tracked(), SizeIs(5000));

  Sql("INSERT INTO sessions VALUES (9005, 'new', '2026-03-01 12:00:00.9+00', 60)");
  Sql("UPDATE sessions SET ts = '2026-02-01', ttl = NULL WHERE id % 10 = 1");
  Sql("DELETE FROM sessions WHERE id % 10 = 2");
  ExpectSame();
  EXPECT_THAT(Tracked(), testing::Contains("|9005|1772366400|60"));
  const CaptureStatus status = capture_.status();
  EXPECT_EQ(status.tables.at(0).scanned, 5000);
  EXPECT_EQ(status.row_changes, 1001);
  EXPECT_EQ(status.restarts, restarts);
}

// Such as those by which deletes are told from the application's.
TEST_F(CaptureTest, LogicalMessagesAreNotStreamed) {
  Sql(kCreateSessions);
  capture_.Begin({Sessions()});
  ASSERT_TRUE(capture_.WaitForStream());
  const int64_t restarts = capture_.status().restarts;
  Sql("BEGIN; SELECT pg_logical_emit_message(true, 'ttl-postgres', '{}'); INSERT INTO sessions "
      "VALUES (1, 'x', now(), NULL); SELECT pg_logical_emit_message(false, 'other', 'x'); COMMIT");
  ExpectSame();
  EXPECT_THAT(Tracked(), SizeIs(1));
  EXPECT_EQ(capture_.status().restarts, restarts);
}

TEST_F(CaptureTest, ItemsCarryTheTransactionAndItsPosition) {
  Sql(kCreateSessions);
  Sql("INSERT INTO sessions VALUES (1, 'scanned', now(), NULL)");
  capture_.Begin({Sessions()});
  ASSERT_TRUE(capture_.CatchUp());
  Sql("INSERT INTO sessions VALUES (2, 'streamed', now(), NULL)");
  Sql("INSERT INTO sessions VALUES (3, 'later', now(), NULL)");
  ASSERT_TRUE(capture_.CatchUp());
  std::map<std::string, v1::Item> items;
  for (const v1::Item& item : capture_.Items("sessions")) items[item.id()] = item;
  for (const char* id : {"1", "2", "3"}) {
    EXPECT_EQ(items[id].etag(), Value(absl::StrCat("SELECT xmin FROM sessions WHERE id = ", id)));
    EXPECT_TRUE(items[id].has_sequence());
  }
  EXPECT_LT(items["1"].sequence(), items["2"].sequence());
  EXPECT_LT(items["2"].sequence(), items["3"].sequence());
}

TEST_F(CaptureTest, KeysThatChangeAreFollowed) {
  Sql(kCreateSessions);
  Sql("INSERT INTO sessions SELECT i, '', to_timestamp(1000 + i), NULL "
      "FROM generate_series(1, 3) i");
  capture_.Begin({Sessions()});
  ExpectSame();
  // 1 and 2 change places, 3 moves.
  Sql("BEGIN; UPDATE sessions SET id = 99 WHERE id = 1; UPDATE sessions SET id = 1 WHERE id = 2;"
      "UPDATE sessions SET id = 2 WHERE id = 99; UPDATE sessions SET id = 4 WHERE id = 3; COMMIT");
  ExpectSame();
  EXPECT_THAT(Tracked(), ElementsAre("|1|1002|", "|2|1001|", "|4|1003|"));
}

TEST_F(CaptureTest, RowsThatCannotBeTrackedAreForgottenAndCounted) {
  Sql(kCreateSessions);
  Sql("INSERT INTO sessions VALUES (1, '', NULL, 5), (2, '', to_timestamp(5), 0), "
      "(3, '', to_timestamp(5), 7), (4, '', '9999-01-01', 7), (5, '', 'infinity', 7)");
  capture_.Begin({Sessions()});
  ASSERT_TRUE(capture_.CatchUp());
  EXPECT_THAT(Tracked(), ElementsAre("|3|5|7"));
  EXPECT_EQ(capture_.status().tables.at(0).untrackable, 4);

  Sql("UPDATE sessions SET ttl = 0 WHERE id = 3");
  Sql("UPDATE sessions SET ttl = 9 WHERE id = 2");
  ASSERT_TRUE(capture_.CatchUp());
  EXPECT_THAT(Tracked(), ElementsAre("|2|5|9"));
  EXPECT_EQ(capture_.status().tables.at(0).untrackable, 5);
}

TEST_F(CaptureTest, ReadingsOfAClockAreTheInstantsOfTheServer) {
  Sql("CREATE TABLE sessions (id bigint PRIMARY KEY, note text, ts timestamp, ttl integer)");
  const std::string hours =
      "SELECT i, '', timestamp '2025-10-25 23:15:00.25' + i % 100 * interval '15 minutes', "
      "NULL::integer "
      "FROM generate_series($0) i UNION ALL "
      "SELECT 1000 + i, '', timestamp '2026-03-28 23:15' + i % 100 * interval '15 minutes', "
      "NULL::integer "
      "FROM generate_series($0) i";
  Sql(absl::Substitute(absl::StrCat("INSERT INTO sessions ", hours), "1, 24"));
  TableConfig table = Sessions();
  table.ts_zone = "Europe/Berlin";
  capture_.Begin({table});
  ASSERT_TRUE(capture_.CatchUp());
  Sql(absl::Substitute(absl::StrCat("INSERT INTO sessions ", hours), "101, 124"));
  Sql("UPDATE sessions SET ts = ts + interval '1 second'");
  ExpectSame(
      "SELECT '', id, floor(extract(epoch FROM ts AT TIME ZONE 'Europe/Berlin'))::bigint, ttl "
      "FROM sessions");
}

TEST_F(CaptureTest, RowsWithoutATimeThatAreExpectedAreCountedApart) {
  Sql(kCreateSessions);
  Sql("INSERT INTO sessions VALUES (1, '', NULL, 5), (2, '', to_timestamp(5), 7)");
  TableConfig table = Sessions();
  table.null_means = NullMeans::kNever;
  capture_.Begin({table});
  ASSERT_TRUE(capture_.CatchUp());
  EXPECT_THAT(Tracked(), ElementsAre("|2|5|7"));
  EXPECT_EQ(capture_.status().tables.at(0).null_times, 1);

  Sql("UPDATE sessions SET ts = NULL WHERE id = 2");
  Sql("UPDATE sessions SET ts = to_timestamp(6) WHERE id = 1");
  Sql("INSERT INTO sessions VALUES (3, '', NULL, 0)");
  ASSERT_TRUE(capture_.CatchUp());
  EXPECT_THAT(Tracked(), ElementsAre("|1|6|5"));
  EXPECT_EQ(capture_.status().tables.at(0).null_times, 3);
  EXPECT_EQ(capture_.status().tables.at(0).untrackable, 0);
}

TEST_F(CaptureTest, TruncateLeavesNoGhosts) {
  Sql(kCreateSessions);
  Sql("INSERT INTO sessions SELECT i, '', to_timestamp(i), NULL FROM generate_series(1, 2500) i");
  capture_.Begin({Sessions()});
  ExpectSame();
  Sql("BEGIN; TRUNCATE sessions; INSERT INTO sessions VALUES (7, '', to_timestamp(70), NULL), "
      "(9000, '', to_timestamp(90), NULL); COMMIT");
  ExpectSame();
  EXPECT_THAT(Tracked(), SizeIs(2));
  EXPECT_EQ(capture_.status().tables.at(0).ghosts, 2499);
}

TEST_F(CaptureTest, RolledBackChangesAreNothing) {
  Sql(kCreateSessions);
  capture_.Begin({Sessions()});
  Sql("BEGIN; INSERT INTO sessions VALUES (1, '', to_timestamp(1), NULL); ROLLBACK");
  Sql("BEGIN; INSERT INTO sessions VALUES (2, '', to_timestamp(2), NULL); SAVEPOINT s;"
      "INSERT INTO sessions VALUES (3, '', to_timestamp(3), NULL); ROLLBACK TO s;"
      "INSERT INTO sessions VALUES (4, '', to_timestamp(4), NULL); COMMIT");
  ExpectSame();
  EXPECT_THAT(Tracked(), ElementsAre("|2|2|", "|4|4|"));
}

TEST_F(CaptureTest, AwkwardKeysComeThrough) {
  Sql("CREATE TYPE kind AS ENUM ('a/b', 'c\\d');"
      "CREATE TABLE odd (tenant text, region varchar(20), kind kind, day date, at timestamptz, "
      "amount numeric(10,2), uid uuid, ok boolean, raw bytea, "
      "seconds bigint NOT NULL, PRIMARY KEY (raw, tenant, region, kind, day, at, amount, uid, "
      "ok))");
  const char* const kInsert =
      "INSERT INTO odd SELECT t, r, k::kind, '2026-02-03', '2026-02-03 04:05:06.789+02', 1.50, "
      "'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', true, '\\x00ff', 5 "
      "FROM unnest(ARRAY['', '/', '\\', 'a/b', E'tab\\tline\\n', 'ünï', '\"q\"', '{x,y}', 'NULL']) "
      "t,"
      "unnest(ARRAY['', ' ', 'x\\', '\\/']) r, unnest(ARRAY['a/b', 'c\\d']) k";
  Sql(kInsert);
  TableConfig odd;
  odd.container = "odd";
  odd.table = "odd";
  odd.partition_key = {"tenant", "region"};
  odd.id = {"kind", "day", "at", "amount", "uid", "ok", "raw"};
  odd.ts_column = "seconds";
  capture_.options().page_rows = 10;
  capture_.Begin({odd});
  ASSERT_TRUE(capture_.CatchUp());
  const std::vector<std::string> scanned = Tracked("odd");
  EXPECT_THAT(scanned, SizeIs(9 * 4 * 2));

  // The stream has the same texts: the same keys are forgotten, and tracked again.
  Sql("DELETE FROM odd");
  ASSERT_TRUE(capture_.CatchUp());
  EXPECT_THAT(Tracked("odd"), IsEmpty());
  Sql(kInsert);
  ASSERT_TRUE(capture_.CatchUp());
  EXPECT_EQ(Tracked("odd"), scanned);
  for (const v1::Item& item : capture_.Items("odd")) {
    const auto key = SplitKey(item.id(), 7);
    ASSERT_TRUE(key.ok()) << key.status();
    EXPECT_EQ(key->at(2), "2026-02-03 02:05:06.789+00");
    EXPECT_EQ(key->at(6), "\\x00ff");
  }

  // And ghosts among them are told from rows.
  Sql("BEGIN; TRUNCATE odd; INSERT INTO odd SELECT t, '\\/', 'c\\d', '2026-02-03', "
      "'2026-02-03 04:05:06.789+02', 1.50, 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', true, "
      "'\\x00ff', 6 FROM unnest(ARRAY['', 'NULL', '\"q\"']) t; COMMIT");
  ASSERT_TRUE(capture_.CatchUp());
  EXPECT_THAT(Tracked("odd"), SizeIs(3));
}

TEST_F(CaptureTest, ItemsThatCanHaveNoRowAreGhosts) {
  Sql(kCreateSessions);
  Sql("INSERT INTO sessions VALUES (7, '', to_timestamp(7), NULL)");
  capture_.CreateContainer("sessions");
  for (const char* id : {"x", "", "99999999999999999999", "007", "1/2", " 7", "8"}) {
    capture_.Track("sessions", id, 5, 1);
  }
  capture_.Track("sessions", std::string("7\0", 2), 5, 1);
  capture_.Track("sessions", "\xff\xfe", 5, 1);
  capture_.Install({Sessions()});
  capture_.Start();
  ExpectSame();
  EXPECT_THAT(Tracked(), ElementsAre("|7|7|"));
}

TEST_F(CaptureTest, KeyStoredOutOfLineIsFollowed) {
  Sql("CREATE TABLE big (id text PRIMARY KEY, note text, ts timestamptz NOT NULL);"
      "ALTER TABLE big ALTER id SET STORAGE EXTERNAL, ALTER note SET STORAGE PLAIN;"
      "ALTER TABLE big SET (toast_tuple_target = 128)");
  const std::string key = std::string(900, 'k');
  Sql(absl::StrCat("INSERT INTO big VALUES ('", key, "', '", std::string(1500, 'n'),
                   "', to_timestamp(1))"));
  TableConfig big;
  big.container = "big";
  big.table = "big";
  big.id = {"id"};
  big.ts_column = "ts";
  capture_.Begin({big});
  ASSERT_TRUE(capture_.CatchUp());
  ASSERT_GT(std::stoll(Value("SELECT pg_relation_size(reltoastrelid) FROM pg_class "
                             "WHERE oid = 'big'::regclass")),
            0);
  // The key does not change, so it is not in the new row.
  Sql("UPDATE big SET ts = to_timestamp(2)");
  ASSERT_TRUE(capture_.CatchUp());
  EXPECT_THAT(Tracked("big"), ElementsAre(absl::StrCat("|", key, "|2|")));
  Sql("UPDATE big SET id = 'short'");
  ASSERT_TRUE(capture_.CatchUp());
  EXPECT_THAT(Tracked("big"), ElementsAre("|short|2|"));
  Sql(absl::StrCat("UPDATE big SET id = '", key, "'"));
  Sql("DELETE FROM big");
  ASSERT_TRUE(capture_.CatchUp());
  EXPECT_THAT(Tracked("big"), IsEmpty());
}

TEST_F(CaptureTest, FullReplicaIdentityWorks) {
  Sql("CREATE TABLE sessions (id bigint NOT NULL UNIQUE, note text, ts timestamptz, ttl integer);"
      "ALTER TABLE sessions REPLICA IDENTITY FULL;"
      "INSERT INTO sessions SELECT i, repeat('long', 5000), to_timestamp(i), NULL "
      "FROM generate_series(1, 10) i");
  capture_.Begin({Sessions()});
  ExpectSame();
  Sql("UPDATE sessions SET ts = to_timestamp(50) WHERE id < 4");
  Sql("UPDATE sessions SET id = id + 100 WHERE id IN (4, 5)");
  Sql("DELETE FROM sessions WHERE id > 8 AND id < 100");
  ExpectSame();
}

TEST_F(CaptureTest, IndexAsReplicaIdentityWorks) {
  Sql("CREATE TABLE sessions (pk serial PRIMARY KEY, id bigint NOT NULL, note text, "
      "ts timestamptz, ttl integer);"
      "CREATE UNIQUE INDEX by_id ON sessions (id);"
      "ALTER TABLE sessions REPLICA IDENTITY USING INDEX by_id;"
      "INSERT INTO sessions (id, ts) SELECT i, to_timestamp(i) FROM generate_series(1, 10) i");
  capture_.Begin({Sessions()});
  ExpectSame();
  Sql("UPDATE sessions SET id = id + 100 WHERE id IN (4, 5)");
  Sql("DELETE FROM sessions WHERE id IN (1, 2)");
  ExpectSame();
}

TEST_F(CaptureTest, CommitTimeIsTheTsWithoutAColumn) {
  Sql("CREATE TABLE plain (id int PRIMARY KEY, note text)");
  Sql("INSERT INTO plain VALUES (1, 'scanned')");
  TableConfig plain;
  plain.container = "plain";
  plain.table = "plain";
  plain.id = {"id"};
  plain.accept_commit_time = true;
  const char* const kRows =
      "SELECT '', id, floor(extract(epoch FROM pg_xact_commit_timestamp(xmin)))::bigint, NULL "
      "FROM plain";
  capture_.Begin({plain});
  ExpectSame(kRows, "plain");
  Sql("INSERT INTO plain VALUES (2, 'streamed')");
  ExpectSame(kRows, "plain");
  EXPECT_THAT(Tracked("plain"), SizeIs(2));
}

TEST_F(CaptureTest, TwoTablesKeepTheirOrder) {
  Sql(kCreateSessions);
  Sql("CREATE TABLE orders (id int PRIMARY KEY, seconds bigint NOT NULL)");
  TableConfig orders;
  orders.container = "orders";
  orders.table = "orders";
  orders.id = {"id"};
  orders.ts_column = "seconds";
  capture_.Begin({Sessions(), orders});
  for (int i = 1; i <= 50; ++i) {
    Sql(absl::StrCat("BEGIN; INSERT INTO orders VALUES (", i, ", ", i, "); INSERT INTO sessions ",
                     "VALUES (", i, ", '', to_timestamp(", i, "), NULL); DELETE FROM orders ",
                     "WHERE id = ", i - 1, "; COMMIT"));
  }
  ExpectSame();
  EXPECT_THAT(Tracked("orders"), ElementsAre("|50|50|"));
}

TEST_F(CaptureTest, TransactionThatWasOpenAtTheStartIsCapturedOnce) {
  Sql(kCreateSessions);
  const auto open = capture_.Connect();
  ASSERT_TRUE(open->Execute("BEGIN").ok());
  ASSERT_TRUE(open->Execute("INSERT INTO sessions VALUES (1, '', to_timestamp(1), NULL)").ok());
  capture_.Begin({Sessions()});
  ASSERT_TRUE(WaitUntil(
      [&] {
        return Value(
                   "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'transactionid' AND "
                   "datname = current_database()") == "1";
      },
      absl::Seconds(60)));
  EXPECT_THAT(capture_.status().state, HasSubstr("waits for the running transactions"));
  ASSERT_TRUE(open->Execute("COMMIT").ok());
  ExpectSame();
  EXPECT_THAT(Tracked(), SizeIs(1));
}

TEST_F(CaptureTest, MissingContainerIsSaidAndThenServed) {
  Sql(kCreateSessions);
  Sql("INSERT INTO sessions VALUES (1, '', to_timestamp(1), NULL)");
  capture_.Install({Sessions()});
  capture_.Start();
  ASSERT_TRUE(capture_.WaitForProblem("no container \"sessions\""));
  capture_.CreateContainer("sessions");
  ExpectSame();
}

TEST_F(CaptureTest, ContainerMadeAnewIsFilledAgain) {
  Sql(kCreateSessions);
  Sql("INSERT INTO sessions SELECT i, '', to_timestamp(i), NULL FROM generate_series(1, 100) i");
  capture_.Begin({Sessions()});
  ExpectSame();
  capture_.DeleteContainer("sessions");
  ASSERT_TRUE(capture_.WaitForProblem("no container \"sessions\""));
  sidecar_.clock().Advance(absl::Seconds(1));
  capture_.CreateContainer("sessions");
  ExpectSame();
  EXPECT_THAT(Tracked(), SizeIs(100));
}

TEST_F(CaptureTest, OtherMappingIsReadAgain) {
  Sql(kCreateSessions);
  Sql("INSERT INTO sessions VALUES (1, '', to_timestamp(1), 60)");
  capture_.Begin({Sessions()});
  ExpectSame();
  capture_.Stop();
  TableConfig without_ttl = Sessions();
  without_ttl.ttl_column.reset();
  capture_.Install({without_ttl});
  capture_.Start();
  ASSERT_TRUE(capture_.CatchUp());
  EXPECT_THAT(Tracked(), ElementsAre("|1|1|"));
}

// So many that reading them one by one takes far longer than a machine stalls.
constexpr char kManyRows[] =
    "INSERT INTO sessions SELECT i, '', to_timestamp(i), NULL FROM generate_series(1, 50000) i";

TEST_F(CaptureTest, RowsOfADeleteThatIsNotSeenYetAreNotReadAgain) {
  Sql(kCreateSessions);
  Sql(kManyRows);
  // A commit waits for a standby that does not come; so it is in the WAL, and nobody sees it.
  Sql(absl::StrCat("ALTER DATABASE ", capture_.name(), " SET synchronous_commit = local"));
  const auto deleting = capture_.Connect();
  ASSERT_TRUE(deleting->Execute("SET synchronous_commit = on").ok());
  server_->HoldCommits();

  capture_.options().page_rows = 1;
  capture_.Begin({Sessions()});
  const auto scanned = [&] {
    const CaptureStatus status = capture_.status();
    return status.tables.empty() ? 0 : status.tables[0].scanned;
  };
  ASSERT_TRUE(WaitUntil([&] { return scanned() > 0; }, absl::Seconds(60)));
  ASSERT_TRUE(PQsendQuery(deleting->raw(), "DELETE FROM sessions WHERE id = 50000") == 1);
  ASSERT_TRUE(WaitUntil([&] { return capture_.status().row_changes == 1; }, absl::Seconds(60)));
  // From now on it stands still, and not at the end.
  int64_t before = -1;
  const auto stands = [&] {
    const int64_t last = std::exchange(before, scanned());
    return last == before;
  };
  EXPECT_TRUE(WaitUntil(stands, absl::Seconds(60), absl::Seconds(3)));
  EXPECT_LT(before, 50000);
  EXPECT_FALSE(capture_.status().is_complete);
  const std::string waiting =
      "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND query LIKE 'DELETE%'";
  ASSERT_EQ(Value(waiting), "1");

  server_->LetCommitsGo();
  ASSERT_TRUE(WaitUntil([&] { return Value(waiting) == "0"; }, absl::Seconds(60)));
  ASSERT_TRUE(WaitUntil([&] { return scanned() > before; }, absl::Seconds(60)));
  capture_.options().page_rows = 1000;
  capture_.Start();
  ExpectSame();
  EXPECT_THAT(Tracked(), SizeIs(49999));
}

TEST_F(CaptureTest, ScanGoesOnWhereItWas) {
  Sql(kCreateSessions);
  Sql(kManyRows);
  capture_.options().page_rows = 1;
  capture_.options().progress_interval = absl::ZeroDuration();
  capture_.Begin({Sessions()});
  ASSERT_TRUE(WaitUntil(
      [&] { return Value("SELECT coalesce(max(scanned), 0) > 50 FROM ttl.progress") == "t"; },
      absl::Seconds(60)));
  capture_.Stop();
  const int64_t before = std::stoll(Value("SELECT scanned FROM ttl.progress"));
  ASSERT_LT(before, 50000);
  Sql("DELETE FROM sessions WHERE id % 2 = 0");
  capture_.options().page_rows = 1000;
  capture_.Start();
  ExpectSame();
  // What was read before was not read again.
  const int64_t scanned = capture_.status().tables.at(0).scanned;
  EXPECT_LE(scanned, before + (50000 - before) / 2 + 1);
  EXPECT_GE(scanned, before + (50000 - before) / 2 - 1);
}

TEST_F(CaptureTest, SidecarThatRestartsLosesNothing) {
  Sql(kCreateSessions);
  capture_.Begin({Sessions()});
  for (int round = 0; round < 5; ++round) {
    Sql(
        absl::StrCat("INSERT INTO sessions SELECT i, '', to_timestamp(i), NULL FROM "
                     "generate_series(",
                     round * 1000 + 1, ", ", round * 1000 + 1000, ") i"));
    if (round > 0) Sql(absl::StrCat("DELETE FROM sessions WHERE id % 7 = ", round));
    sidecar_.Restart();
  }
  ExpectSame();
}

TEST_F(CaptureTest, AcknowledgesWhatIsDurableSoThatTheServerKeepsLittle) {
  Sql(kCreateSessions);
  capture_.Begin({Sessions()});
  Sql("INSERT INTO sessions VALUES (1, '', to_timestamp(1), NULL)");
  ASSERT_TRUE(capture_.CatchUp());
  EXPECT_TRUE(capture_.WaitForConfirmed());
  // Also what is none of ours.
  Sql("CREATE TABLE other AS SELECT repeat('x', 1000) FROM generate_series(1, 10000)");
  EXPECT_TRUE(capture_.WaitForConfirmed());
  EXPECT_TRUE(WaitUntil([&] { return capture_.status().lag_bytes == 0; }, absl::Seconds(60)));
  EXPECT_TRUE(
      WaitUntil([&] { return capture_.status().slot_bytes.has_value(); }, absl::Seconds(60)));
}

TEST_F(CaptureTest, VisiblePositionFollowsWhatIsAcknowledged) {
  Sql(kCreateSessions);
  capture_.Begin({Sessions()});
  ASSERT_TRUE(capture_.CatchUp());
  Sql("INSERT INTO sessions VALUES (1, '', to_timestamp(1), NULL)");
  ASSERT_TRUE(capture_.CatchUp());
  const uint64_t sequence = capture_.Items("sessions").at(0).sequence();
  // Seen twice, with a second between the looks.
  EXPECT_TRUE(WaitUntil([&] { return capture_.visible().Get() >= sequence; }, absl::Seconds(60)));
}

}  // namespace
}  // namespace ttl::postgres
