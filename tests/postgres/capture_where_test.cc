// Tables of which only some rows expire: rows that enter and leave the condition are followed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "absl/strings/str_cat.h"
#include "client/postgres/row/lsn.h"
#include "tests/postgres/capture_fixture.h"
#include "tests/testing/wait.h"

namespace ttl::postgres {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr char kCompleted[] =
    "SELECT '', id, floor(extract(epoch FROM ts))::bigint, ttl FROM jobs WHERE state = 'completed'";

class CaptureWhereTest : public CaptureFixture {
 protected:
  CaptureWhereTest() {
    Sql("CREATE TABLE jobs (id bigint PRIMARY KEY, state text NOT NULL, ts timestamptz, "
        "ttl integer, payload text)");
    Sql("ALTER TABLE jobs ALTER payload SET STORAGE EXTERNAL, ALTER state SET STORAGE EXTERNAL");
  }

  static TableConfig Jobs() {
    TableConfig table;
    table.container = "jobs";
    table.table = "jobs";
    table.id = {"id"};
    table.ts_column = "ts";
    table.ttl_column = "ttl";
    table.where = "state = 'completed'";
    table.null_means = NullMeans::kNever;
    return table;
  }
};

TEST_F(CaptureWhereTest, RowsThatEnterAndLeaveAreFollowed) {
  Sql("INSERT INTO jobs VALUES (1, 'created', '2030-01-01'), (2, 'completed', to_timestamp(5)), "
      "(3, 'completed', NULL), (4, 'created', NULL)");
  capture_.Begin({Jobs()});
  ASSERT_TRUE(capture_.CatchUp());
  EXPECT_THAT(Tracked("jobs"), ElementsAre("|2|5|"));

  Sql("UPDATE jobs SET state = 'retry' WHERE id = 2");
  Sql("UPDATE jobs SET state = 'completed', ts = to_timestamp(7), ttl = 9 WHERE id = 1");
  Sql("INSERT INTO jobs VALUES (5, 'completed', to_timestamp(8)), (6, 'active', '9999-01-01')");
  ASSERT_TRUE(capture_.CatchUp());
  EXPECT_THAT(Tracked("jobs"), ElementsAre("|1|7|9", "|5|8|"));

  // Another key, a row that is gone, and one that took its place and waits.
  Sql("UPDATE jobs SET id = 11 WHERE id = 1");
  Sql("BEGIN; DELETE FROM jobs WHERE id = 5; INSERT INTO jobs VALUES (5, 'created', now()); "
      "COMMIT");
  Sql("UPDATE jobs SET state = 'completed' WHERE id = 2");
  ASSERT_TRUE(capture_.CatchUp());
  EXPECT_THAT(Tracked("jobs"), ElementsAre("|11|7|9", "|2|5|"));
  // A time that is far ahead, or none, is no fault of a row that does not expire.
  EXPECT_EQ(capture_.status().tables.at(0).untrackable, 0);
}

// The WAL has not the condition's value of a row whose long columns were not changed.
TEST_F(CaptureWhereTest, ConditionOnAValueThatIsNotInTheWal) {
  TableConfig table = Jobs();
  table.where = "length(payload) > 5000";
  Sql("INSERT INTO jobs SELECT i, 'x', to_timestamp(i), NULL, repeat('y', 4000 + i * 1000) "
      "FROM generate_series(1, 4) i");
  capture_.Begin({table});
  ASSERT_TRUE(capture_.CatchUp());
  EXPECT_THAT(Tracked("jobs"), ElementsAre("|2|2|", "|3|3|", "|4|4|"));
  Sql("UPDATE jobs SET ttl = 60");
  ExpectSame(
      "SELECT '', id, floor(extract(epoch FROM ts))::bigint, ttl FROM jobs "
      "WHERE length(payload) > 5000",
      "jobs");
}

TEST_F(CaptureWhereTest, LargeTransactionsAndOtherTablesAreReportedInOrder) {
  Sql(kCreateSessions);
  capture_.Begin({Jobs(), Sessions()});
  ASSERT_TRUE(capture_.CatchUp());
  Sql("BEGIN; INSERT INTO jobs SELECT i, CASE WHEN i % 3 = 0 THEN 'completed' ELSE 'created' END, "
      "to_timestamp(i) FROM generate_series(1, 5000) i; INSERT INTO sessions SELECT i, '', "
      "to_timestamp(i), NULL FROM generate_series(1, 3000) i; UPDATE jobs SET state = 'completed' "
      "WHERE id % 3 = 1; COMMIT");
  Sql("DELETE FROM jobs WHERE id % 7 = 0");
  ASSERT_TRUE(capture_.CatchUp());
  ExpectSame(kCompleted, "jobs");
  ExpectSame();
}

// Whatever happens between a change and its look-up, and wherever the capture ends.
TEST_F(CaptureWhereTest, ManyChangesOfTheSameRowsEndAsTheyAre) {
  Sql("INSERT INTO jobs SELECT i, 'created', to_timestamp(i) FROM generate_series(1, 50) i");
  capture_.Begin({Jobs()});
  ASSERT_TRUE(capture_.CatchUp());
  std::mt19937 random(1);
  const auto id = [&] { return absl::StrCat(1 + random() % 50); };
  for (int i = 0; i < 600; ++i) {
    switch (random() % 5) {
      case 0:
        Sql(absl::StrCat("UPDATE jobs SET state = 'completed', ts = to_timestamp(", i + 1,
                         ") WHERE id = ", id()));
        break;
      case 1:
        Sql(absl::StrCat("UPDATE jobs SET state = 'retry' WHERE id = ", id()));
        break;
      case 2:
        Sql(absl::StrCat("DELETE FROM jobs WHERE id = ", id()));
        break;
      case 3:
        Sql(absl::StrCat("INSERT INTO jobs VALUES (", id(),
                         ", 'completed', to_timestamp(5)) ON CONFLICT DO NOTHING"));
        break;
      default: {
        const std::string key = id();
        Sql(absl::StrCat("UPDATE jobs SET id = 1000 + id WHERE id = ", key,
                         " AND NOT EXISTS (SELECT FROM jobs AS j WHERE j.id = 1000 + ", key, ")"));
      }
    }
    if (i % 150 == 100) {
      capture_.Stop();
      capture_.Start();
    }
  }
  ExpectSame(kCompleted, "jobs");
}

// Else a row would be lost if the capture ended before its look-up.
TEST_F(CaptureWhereTest, PositionIsAcknowledgedAfterTheLookUpsBeforeIt) {
  Sql(kCreateSessions);
  capture_.Begin({Jobs(), Sessions()});
  ASSERT_TRUE(capture_.CatchUp());
  const auto locker = capture_.Connect();
  ASSERT_TRUE(locker
                  ->Execute("BEGIN; INSERT INTO jobs VALUES (1, 'completed', to_timestamp(5)); "
                            "COMMIT; BEGIN; LOCK TABLE jobs")
                  .ok());
  const auto written = ParseLsn(Value("SELECT pg_current_wal_insert_lsn()"));
  ASSERT_TRUE(written.ok());
  for (size_t i = 1; i <= 5; ++i) {
    Sql(absl::StrCat("INSERT INTO sessions VALUES (", i, ", '', to_timestamp(1), NULL)"));
    ASSERT_TRUE(WaitUntil([&] { return Tracked().size() == i; }, absl::Seconds(60)));
  }
  EXPECT_LT(capture_.status().acknowledged, *written);
  EXPECT_THAT(Tracked("jobs"), IsEmpty());
  ASSERT_TRUE(locker->Execute("ROLLBACK").ok());
  ASSERT_TRUE(capture_.CatchUp());
  EXPECT_THAT(Tracked("jobs"), ElementsAre("|1|5|"));
}

TEST_F(CaptureWhereTest, LockedTableDoesNotKeepTheRowsOfAnotherFromBeingLookedUp) {
  Sql("CREATE TABLE tasks (LIKE jobs INCLUDING ALL)");
  TableConfig tasks = Jobs();
  tasks.container = "tasks";
  tasks.table = "tasks";
  capture_.Begin({Jobs(), tasks});
  ASSERT_TRUE(capture_.CatchUp());
  const auto locker = capture_.Connect();
  ASSERT_TRUE(locker
                  ->Execute("BEGIN; INSERT INTO jobs VALUES (1, 'completed', to_timestamp(5)); "
                            "COMMIT; BEGIN; LOCK TABLE jobs")
                  .ok());
  Sql("INSERT INTO tasks VALUES (2, 'completed', to_timestamp(6))");
  EXPECT_TRUE(WaitUntil([&] { return Tracked("tasks").size() == 1; }, absl::Seconds(60)));
  EXPECT_THAT(Tracked("jobs"), IsEmpty());
  ASSERT_TRUE(locker->Execute("ROLLBACK").ok());
  ASSERT_TRUE(capture_.CatchUp());
  EXPECT_THAT(Tracked("tasks"), ElementsAre("|2|6|"));
  EXPECT_THAT(Tracked("jobs"), ElementsAre("|1|5|"));
}

TEST_F(CaptureWhereTest, AnotherConditionReadsTheTableAgain) {
  Sql("INSERT INTO jobs VALUES (1, 'completed', to_timestamp(1)), (2, 'failed', to_timestamp(2))");
  capture_.Begin({Jobs()});
  ASSERT_TRUE(capture_.CatchUp());
  EXPECT_THAT(Tracked("jobs"), ElementsAre("|1|1|"));
  capture_.Stop();
  TableConfig table = Jobs();
  table.where = "state = 'failed'";
  capture_.Install({table});
  capture_.Start();
  ASSERT_TRUE(capture_.CatchUp());
  EXPECT_THAT(Tracked("jobs"), ElementsAre("|2|2|"));
}

TEST_F(CaptureWhereTest, RowForWhichTheConditionFailsIsNotTrackedAndIsCounted) {
  TableConfig table = Jobs();
  table.where = "10 / ttl > 0";
  capture_.Begin({table});
  ASSERT_TRUE(capture_.CatchUp());
  Sql("INSERT INTO jobs VALUES (1, 'x', to_timestamp(1), 5), (2, 'x', to_timestamp(2), 0), "
      "(3, 'x', to_timestamp(3), 7)");
  ASSERT_TRUE(capture_.CatchUp());
  EXPECT_THAT(Tracked("jobs"), ElementsAre("|1|1|5", "|3|3|7"));
  EXPECT_EQ(capture_.status().tables.at(0).untrackable, 1);
}

TEST_F(CaptureWhereTest, CountsStayWithTheirTableWhenAnotherIsLeftOut) {
  Sql(kCreateSessions);
  TableConfig table = Jobs();
  table.where = "10 / ttl > 0";
  capture_.Begin({Sessions(), table});
  ASSERT_TRUE(capture_.CatchUp());
  Sql("INSERT INTO jobs VALUES (1, 'x', to_timestamp(1), 0)");
  ASSERT_TRUE(capture_.CatchUp());
  EXPECT_EQ(capture_.status().tables.at(1).untrackable, 1);
  capture_.DeleteContainer("sessions");
  ASSERT_TRUE(WaitUntil([&] { return capture_.status().tables.size() == 1; }, absl::Seconds(60)));
  EXPECT_EQ(capture_.status().tables.at(0).container, "jobs");
  EXPECT_EQ(capture_.status().tables.at(0).untrackable, 1);
}

// Also where a function raises, and when the rows are there before the capture.
TEST_F(CaptureWhereTest, RowsForWhichTheConditionFailsArePassedOverInTheFirstReading) {
  Sql("CREATE FUNCTION is_due(state text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$BEGIN "
      "IF state = 'broken' THEN RAISE 'broken'; END IF; RETURN state = 'completed'; END$$");
  Sql("INSERT INTO jobs SELECT i, CASE WHEN i IN (1, 500, 501, 3000) THEN 'broken' WHEN i % 2 = 0 "
      "THEN 'completed' ELSE 'created' END, to_timestamp(i) FROM generate_series(1, 3000) i");
  Sql(kCreateSessions);
  TableConfig table = Jobs();
  table.where = "public.is_due(state)";
  capture_.Begin({table, Sessions()});
  ASSERT_TRUE(capture_.CatchUp());
  ExpectSame(kCompleted, "jobs");
  EXPECT_EQ(capture_.status().tables.at(0).untrackable, 4);
  Sql("INSERT INTO jobs VALUES (4001, 'broken', to_timestamp(1)), (4002, 'completed', "
      "to_timestamp(2)); UPDATE jobs SET state = 'completed' WHERE id = 1");
  ASSERT_TRUE(capture_.CatchUp());
  ExpectSame(kCompleted, "jobs");
  EXPECT_EQ(capture_.status().tables.at(0).untrackable, 5);
}

}  // namespace
}  // namespace ttl::postgres
