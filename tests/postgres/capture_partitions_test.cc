#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/postgres/capture_fixture.h"
#include "tests/testing/wait.h"

namespace ttl::postgres {
namespace {

using testing::SizeIs;

// sessions, partitioned by id: p1 has 1 to 999, p2 1000 to 1999.
class CapturePartitionsTest : public CaptureFixture {
 protected:
  void SetUp() override {
    Sql("CREATE TABLE sessions (id bigint PRIMARY KEY, note text, ts timestamptz, ttl integer) "
        "PARTITION BY RANGE (id);"
        "CREATE TABLE p1 PARTITION OF sessions FOR VALUES FROM (1) TO (1000);"
        "CREATE TABLE p2 PARTITION OF sessions FOR VALUES FROM (1000) TO (2000);"
        "INSERT INTO sessions SELECT i, '', to_timestamp(i), NULL "
        "FROM generate_series(1, 1999) i");
    capture_.options().page_rows = 300;
    capture_.Begin({Sessions()});
    ExpectSame();
  }

  // Partitions are looked at from time to time.
  void ExpectSameSoon() {
    const std::vector<std::string> rows = capture_.Rows(kSessionRows);
    EXPECT_TRUE(WaitUntil([&] { return Tracked() == rows; }, absl::Seconds(60)))
        << Tracked().size() << " items, " << rows.size() << " rows";
  }
};

TEST_F(CapturePartitionsTest, ChangesAreThoseOfTheWholeTable) {
  Sql("UPDATE sessions SET ts = to_timestamp(5) WHERE id = 1500");
  Sql("DELETE FROM p1 WHERE id < 10");
  Sql("INSERT INTO p1 VALUES (5, '', to_timestamp(9), NULL)");
  ExpectSame();
}

TEST_F(CapturePartitionsTest, RowThatMovesToAnotherPartitionStays) {
  Sql("BEGIN; DELETE FROM sessions WHERE id = 1500; UPDATE sessions SET id = 1500 WHERE id = 20;"
      "COMMIT");
  ExpectSame();
}

TEST_F(CapturePartitionsTest, TruncateOfTheTableAndOfOnePartition) {
  Sql("TRUNCATE p2");
  ExpectSameSoon();
  Sql("TRUNCATE sessions");
  ExpectSame();
}

TEST_F(CapturePartitionsTest, DetachedAndDroppedPartitionsLeaveNoGhosts) {
  Sql("ALTER TABLE sessions DETACH PARTITION p2");
  ExpectSameSoon();
  Sql("DROP TABLE p1");
  ExpectSameSoon();
}

TEST_F(CapturePartitionsTest, AttachedPartitionIsReadAloneAndThenFollowed) {
  Sql("CREATE TABLE p3 (LIKE sessions INCLUDING ALL);"
      "INSERT INTO p3 SELECT i, '', to_timestamp(i), NULL FROM generate_series(2000, 2999) i;"
      "ALTER TABLE sessions ATTACH PARTITION p3 FOR VALUES FROM (2000) TO (3000)");
  ExpectSameSoon();
  ASSERT_TRUE(capture_.CatchUp());
  EXPECT_EQ(capture_.status().tables.at(0).scanned, 2999);
  Sql("UPDATE sessions SET ts = to_timestamp(5) WHERE id = 2500");
  ExpectSame();
}

TEST_F(CapturePartitionsTest, WhatWasWrittenWhileAPartitionWasDetachedForAMomentIsRead) {
  // One transaction: whoever looks at the catalogue sees the same partitions before and after.
  Sql("BEGIN; ALTER TABLE sessions DETACH PARTITION p2;"
      "INSERT INTO p2 SELECT i, '', to_timestamp(i), 5 FROM generate_series(1000, 1999) i "
      "ON CONFLICT (id) DO UPDATE SET ttl = excluded.ttl; DELETE FROM p2 WHERE id = 1777;"
      "ALTER TABLE sessions ATTACH PARTITION p2 FOR VALUES FROM (1000) TO (2000); COMMIT");
  ExpectSameSoon();
}

TEST_F(CapturePartitionsTest, RightsToTheTableSufficeForAnAttachedPartition) {
  capture_.Stop();
  const std::string role = capture_.name() + "_reader";
  Sql("CREATE ROLE " + role + " LOGIN REPLICATION; GRANT SELECT, UPDATE, DELETE ON sessions TO " +
      role + "; GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ttl TO " + role);
  capture_.config().database = server_->Conninfo(capture_.name(), role);
  capture_.Start();
  Sql("CREATE TABLE p3 (LIKE sessions INCLUDING ALL);"
      "INSERT INTO p3 SELECT i, '', to_timestamp(i), NULL FROM generate_series(2000, 2999) i;"
      "ALTER TABLE sessions ATTACH PARTITION p3 FOR VALUES FROM (2000) TO (3000);"
      "CREATE TABLE p4 (LIKE sessions INCLUDING ALL); INSERT INTO p4 VALUES (5000, '', now(), 1);"
      "ALTER TABLE sessions ATTACH PARTITION p4 DEFAULT");
  ExpectSameSoon();
  ExpectSame();
}

TEST_F(CapturePartitionsTest, NewEmptyPartitionIsFollowed) {
  Sql("CREATE TABLE p3 PARTITION OF sessions FOR VALUES FROM (2000) TO (3000)");
  Sql("INSERT INTO sessions VALUES (2500, '', to_timestamp(1), NULL)");
  ExpectSame();
}

TEST_F(CapturePartitionsTest, WhatHappensWhileNobodyLooksIsFoundAtTheStart) {
  capture_.Stop();
  Sql("TRUNCATE p1; ALTER TABLE sessions DETACH PARTITION p2;"
      "CREATE TABLE p3 (LIKE sessions INCLUDING ALL);"
      "INSERT INTO p3 SELECT i, '', to_timestamp(i), NULL FROM generate_series(2000, 2999) i;"
      "ALTER TABLE sessions ATTACH PARTITION p3 FOR VALUES FROM (2000) TO (3000)");
  capture_.Start();
  ExpectSameSoon();
  EXPECT_THAT(Tracked(), SizeIs(1000));
}

}  // namespace
}  // namespace ttl::postgres
