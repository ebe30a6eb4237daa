// What a capture does about schemas that change, slots that go and servers that hang.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "client/postgres/capture/stream/patient_query.h"
#include "client/postgres/capture/stream/replication_stream.h"
#include "tests/postgres/capture_fixture.h"
#include "tests/postgres/capture_process_fixture.h"
#include "tests/testing/wait.h"

namespace ttl::postgres {
namespace {

using testing::SizeIs;

class CaptureTroubleTest : public CaptureFixture {
 protected:
  void SetUp() override {
    Sql(kCreateSessions);
    Sql("INSERT INTO sessions SELECT i, '', to_timestamp(i), NULL FROM generate_series(1, 100) i");
  }

  void EndWalsender() {
    Sql(absl::StrCat("SELECT pg_terminate_backend(active_pid) FROM pg_replication_slots WHERE ",
                     "slot_name = '", capture_.config().slot, "'"));
  }
};

TEST_F(CaptureTroubleTest, UnusedColumnsMayChange) {
  capture_.Begin({Sessions()});
  ExpectSame();
  const int64_t restarts = capture_.status().restarts;
  Sql("ALTER TABLE sessions ADD extra text DEFAULT 'x'");
  Sql("UPDATE sessions SET ts = to_timestamp(500) WHERE id = 1");
  Sql("ALTER TABLE sessions DROP note");
  Sql("UPDATE sessions SET ts = to_timestamp(500) WHERE id = 2");
  Sql("ALTER TABLE sessions RENAME extra TO other");
  Sql("UPDATE sessions SET ts = to_timestamp(500) WHERE id = 3");
  ExpectSame();
  EXPECT_EQ(capture_.status().restarts, restarts);
}

TEST_F(CaptureTroubleTest, RenamedColumnIsRefusedUntilItIsBack) {
  capture_.Begin({Sessions()});
  ExpectSame();
  Sql("ALTER TABLE sessions RENAME ts TO changed");
  Sql("UPDATE sessions SET changed = to_timestamp(700) WHERE id < 50");
  ASSERT_TRUE(capture_.WaitForProblem("there is no column \"ts\""));
  EXPECT_THAT(capture_.status().problem, testing::HasSubstr("public.sessions"));
  Sql("DELETE FROM sessions WHERE id < 10");
  // What was written meanwhile cannot be understood even now; the table is read again.
  Sql("ALTER TABLE sessions RENAME changed TO ts");
  ExpectSame();
  EXPECT_THAT(capture_.Tracked("sessions"), SizeIs(91));
}

// With a list of columns PostgreSQL itself refuses to change their types.
TEST_F(CaptureTroubleTest, OtherTypeOfAKeyColumnIsRefused) {
  Sql("ALTER TABLE sessions REPLICA IDENTITY FULL");
  capture_.Begin({Sessions()});
  ExpectSame();
  Sql("ALTER TABLE sessions ALTER id TYPE integer");
  ASSERT_TRUE(capture_.WaitForProblem("column \"id\" is of type integer, not bigint"));
}

TEST_F(CaptureTroubleTest, RenamedAndDroppedTablesAreRefused) {
  capture_.Begin({Sessions()});
  ExpectSame();
  Sql("ALTER TABLE sessions RENAME TO other");
  ASSERT_TRUE(capture_.WaitForProblem("its name is public.other"));
  Sql("ALTER TABLE other RENAME TO sessions");
  ExpectSame();
  Sql("DROP TABLE sessions");
  ASSERT_TRUE(capture_.WaitForProblem("is gone"));
}

// A view that took the table's name hides rows that are there.
TEST_F(CaptureTroubleTest, ViewOfTheTablesNameTellsNothingOfItsRows) {
  capture_.options().catalog_interval = absl::Hours(1);
  capture_.Begin({Sessions()});
  ExpectSame();
  Sql("BEGIN; CREATE TABLE copied AS TABLE sessions; TRUNCATE sessions; INSERT INTO sessions TABLE "
      "copied; ALTER TABLE sessions RENAME TO stored; CREATE VIEW sessions AS SELECT * FROM stored "
      "WHERE id > 50; COMMIT");
  ASSERT_TRUE(capture_.WaitForProblem("tableoid"));
  Sql("BEGIN; DROP VIEW sessions; ALTER TABLE stored RENAME TO sessions; COMMIT");
  ExpectSame();
  EXPECT_EQ(capture_.status().tables.at(0).ghosts, 0);
}

TEST_F(CaptureTroubleTest, DroppedSlotMeansThatAllIsReadAgain) {
  capture_.Begin({Sessions()});
  ExpectSame();
  capture_.Stop();
  ASSERT_TRUE(WaitUntil(
      [&] {
        return Value(absl::StrCat("SELECT active FROM pg_replication_slots WHERE slot_name = '",
                                  capture_.config().slot, "'")) == "f";
      },
      absl::Seconds(60)));
  Sql(absl::StrCat("SELECT pg_drop_replication_slot('", capture_.config().slot, "')"));
  Sql("DELETE FROM sessions WHERE id < 20; INSERT INTO sessions VALUES (500, '', to_timestamp(5), "
      "9)");
  Sql("UPDATE sessions SET ts = to_timestamp(900) WHERE id = 50");
  capture_.Start();
  ExpectSame();
  EXPECT_EQ(capture_.status().slots_lost, 1);
  EXPECT_EQ(capture_.status().tables.at(0).ghosts, 19);
}

TEST_F(CaptureTroubleTest, SlotThatKeepsTooMuchIsDroppedWhileTheSidecarIsAway) {
  capture_.config().max_slot_bytes = 4 << 20;
  capture_.Begin({Sessions()});
  ExpectSame();
  capture_.DeleteContainer("sessions");  // so nothing can be acknowledged
  ASSERT_TRUE(capture_.WaitForProblem("no container"));
  Sql("DELETE FROM sessions WHERE id < 20");
  Sql("CREATE TABLE filler AS SELECT repeat(md5(i::text), 30) FROM generate_series(1, 20000) i");
  ASSERT_TRUE(WaitUntil(
      [&] {
        return Value(absl::StrCat("SELECT count(*) FROM pg_replication_slots WHERE slot_name = '",
                                  capture_.config().slot, "'")) == "0";
      },
      absl::Seconds(60)));
  capture_.CreateContainer("sessions");
  ExpectSame();
  EXPECT_EQ(capture_.status().slots_lost, 1);
}

TEST_F(CaptureTroubleTest, LostSlotIsReplaced) {
  server_->Sql("ALTER SYSTEM SET max_slot_wal_keep_size = '1MB'");
  server_->Sql("SELECT pg_reload_conf()");
  capture_.Begin({Sessions()});
  ExpectSame();
  capture_.Stop();
  Sql("DELETE FROM sessions WHERE id < 20");
  const std::string lost =
      absl::StrCat("SELECT wal_status FROM pg_replication_slots WHERE slot_name = '",
                   capture_.config().slot, "'");
  ASSERT_TRUE(WaitUntil(
      [&] {
        Sql("SELECT pg_logical_emit_message(true, 'x', repeat('x', 1000000)); "
            "SELECT pg_switch_wal(); CHECKPOINT");
        return Value(lost) == "lost";
      },
      absl::Seconds(60)));
  server_->Sql("ALTER SYSTEM RESET max_slot_wal_keep_size");
  server_->Sql("SELECT pg_reload_conf()");
  capture_.Start();
  ExpectSame();
  EXPECT_EQ(capture_.status().slots_lost, 1);
}

TEST_F(CaptureTroubleTest, SlotOfAnotherKindIsRefused) {
  capture_.CreateContainer("sessions");
  capture_.Install({Sessions()});
  Sql(absl::StrCat("SELECT pg_create_logical_replication_slot('", capture_.config().slot,
                   "', 'test_decoding')"));
  capture_.Start();
  ASSERT_TRUE(capture_.WaitForProblem("must be a logical one of this database for plugin"));
  Sql(absl::StrCat("SELECT pg_drop_replication_slot('", capture_.config().slot, "')"));
  ExpectSame();
}

TEST_F(CaptureTroubleTest, NoSlotIsMadeThatCannotBeRead) {
  capture_.CreateContainer("sessions");
  capture_.config().replication = "host=/nowhere dbname=postgres";
  capture_.Install({Sessions()});
  capture_.Start();
  ASSERT_TRUE(capture_.WaitForProblem("/nowhere"));
  EXPECT_EQ(Value(absl::StrCat("SELECT count(*) FROM pg_replication_slots WHERE slot_name = '",
                               capture_.config().slot, "'")),
            "0");
}

TEST_F(CaptureTroubleTest, StreamIsReadByTheAddressThatIsForReplication) {
  Sql("CREATE ROLE reader LOGIN REPLICATION");
  capture_.config().replication = absl::StrCat(capture_.config().database, " user=reader");
  capture_.Begin({Sessions()});
  ExpectSame();
  EXPECT_EQ(Value(absl::StrCat("SELECT s.usename FROM pg_stat_replication AS s JOIN "
                               "pg_replication_slots AS r ON r.active_pid = s.pid "
                               "WHERE r.slot_name = '",
                               capture_.config().slot, "'")),
            "reader");
  capture_.Stop();
  Sql("DROP ROLE reader");
}

TEST_F(CaptureTroubleTest, SlotInUseIsWaitedFor) {
  capture_.Begin({Sessions()});
  ExpectSame();
  capture_.Stop();
  const Config& config = capture_.config();
  absl::StatusOr<std::unique_ptr<ReplicationStream>> other;
  ASSERT_TRUE(WaitUntil(
      [&] {
        other = ReplicationStream::Start(config.database, config.slot, config.publication);
        return other.ok();
      },
      absl::Seconds(60)))
      << other.status();
  capture_.Start();
  ASSERT_TRUE(capture_.WaitForProblem("55006"));
  other->reset();
  ExpectSame();
}

TEST_F(CaptureTroubleTest, PublicationMadeAnewIsReadAgain) {
  capture_.Begin({Sessions()});
  ExpectSame();
  capture_.Stop();
  Sql(absl::StrCat("DROP PUBLICATION ", capture_.config().publication));
  Sql("UPDATE sessions SET ts = to_timestamp(900) WHERE id = 50");
  capture_.Start();
  ASSERT_TRUE(capture_.WaitForProblem("`ttl-postgres install` makes it"));
  capture_.Install({Sessions()});
  ExpectSame();
  Sql("DELETE FROM sessions WHERE id = 51");
  ExpectSame();
}

TEST_F(CaptureTroubleTest, TableTakenOutOfThePublicationIsRefusedAndThenReadAgain) {
  capture_.Begin({Sessions()});
  ExpectSame();
  Sql(absl::StrCat("ALTER PUBLICATION ", capture_.config().publication, " DROP TABLE sessions"));
  ASSERT_TRUE(capture_.WaitForProblem("does not have table public.sessions"));
  Sql("DELETE FROM sessions WHERE id < 20; UPDATE sessions SET ts = to_timestamp(9) WHERE id = 50");
  capture_.Install({Sessions()});
  ExpectSame();
  EXPECT_THAT(capture_.Tracked("sessions"), SizeIs(81));
}

// In one transaction no look at the catalogue can be in between.
TEST_F(CaptureTroubleTest, TableThatWasOutOfThePublicationUnseenIsReadAgain) {
  capture_.Begin({Sessions()});
  ExpectSame();
  const std::string alter = absl::StrCat("ALTER PUBLICATION ", capture_.config().publication);
  const std::string without =
      absl::StrCat(alter, " DROP TABLE sessions; DELETE FROM sessions WHERE id < 20");
  const std::string columns = Value(
      "SELECT string_agg(attname, ', ') FROM pg_publication_rel AS r JOIN pg_attribute AS a "
      "ON a.attrelid = r.prrelid AND a.attnum = ANY (r.prattrs)");
  const std::string again = absl::StrCat(alter, " ADD TABLE sessions (", columns, ")");
  Sql(absl::StrCat("BEGIN; ", without, "; ", again, "; COMMIT"));
  ExpectSame();

  capture_.Stop();
  Sql(absl::StrCat("BEGIN; ", alter, " DROP TABLE sessions; DELETE FROM sessions WHERE id = 30; ",
                   again, "; COMMIT"));
  capture_.Start();
  ExpectSame();
}

TEST_F(CaptureTroubleTest, WalsenderThatEndsIsReplaced) {
  capture_.Begin({Sessions()});
  ExpectSame();
  const int64_t restarts = capture_.status().restarts;
  EndWalsender();
  Sql("DELETE FROM sessions WHERE id < 20");
  ExpectSame();
  EXPECT_GT(capture_.status().restarts, restarts);
}

TEST_F(CaptureTroubleTest, StatementIsGivenUpAlsoWhileTheServerHangs) {
  const auto connection = capture_.Connect();
  PatientQuery database(*connection, absl::Milliseconds(20),
                        [] { return absl::CancelledError("stopping"); });
  server_->Suspend();
  const absl::Time before = absl::Now();
  const absl::Status status = database.Query("SELECT 1").status();
  const absl::Duration took = absl::Now() - before;
  server_->Resume();
  EXPECT_TRUE(absl::IsCancelled(status)) << status;
  // The server would have hung for ever: what counts is that it ends, on a slow machine too.
  EXPECT_LT(took, absl::Seconds(60));
}

class CaptureDurabilityTest : public CaptureProcessFixture {};

TEST_F(CaptureDurabilityTest, OnlyWhatIsDurableIsAcknowledged) {
  capture_->Sql(kCreateSessions);
  capture_->Begin({Sessions()});
  ASSERT_TRUE(capture_->CatchUp());
  ASSERT_TRUE(sidecar_.Suspend().ok());
  capture_->Sql(
      "INSERT INTO sessions SELECT i, '', to_timestamp(i), NULL FROM generate_series(1, 100) i");
  const std::string confirmed = absl::StrCat(
      "SELECT confirmed_flush_lsn >= '", capture_->Value("SELECT pg_current_wal_flush_lsn()"),
      "' FROM ", "pg_replication_slots WHERE slot_name = '", capture_->config().slot, "'");
  ASSERT_TRUE(WaitUntil([&] { return capture_->status().row_changes == 100; }, absl::Seconds(60)));
  EXPECT_FALSE(WaitUntil([&] { return capture_->Value(confirmed) == "t"; }, absl::Seconds(2)));
  EXPECT_TRUE(
      WaitUntil([&] { return capture_->status().lag > absl::Seconds(1); }, absl::Seconds(60)));
  sidecar_.Kill();
  ASSERT_TRUE(sidecar_.Start().ok());
  ASSERT_TRUE(capture_->CatchUp());
  EXPECT_THAT(capture_->Items("sessions"), SizeIs(100));
}

// Long enough for a machine that stalls: a status goes out every quarter of it.
class CaptureTimeoutTest : public CaptureProcessFixture {
 protected:
  CaptureTimeoutTest() : CaptureProcessFixture({.settings = {{"wal_sender_timeout", "8s"}}}) {}
};

TEST_F(CaptureTimeoutTest, ServerDoesNotGiveUsUpWhileTheSidecarIsBlocked) {
  capture_->Sql(kCreateSessions);
  capture_->Begin({Sessions()});
  ASSERT_TRUE(capture_->CatchUp());
  const int64_t restarts = capture_->status().restarts;
  ASSERT_TRUE(sidecar_.Suspend().ok());
  // More than all queues take.
  capture_->Sql(
      "INSERT INTO sessions SELECT i, '', to_timestamp(i), NULL FROM generate_series(1, 300000) i");
  const std::string slot = absl::StrCat(
      "SELECT active FROM pg_replication_slots WHERE slot_name = '", capture_->config().slot, "'");
  EXPECT_FALSE(WaitUntil([&] { return capture_->Value(slot) != "t"; }, absl::Seconds(12)));
  EXPECT_EQ(capture_->status().restarts, restarts);
  ASSERT_TRUE(sidecar_.Resume().ok());
  ASSERT_TRUE(capture_->CatchUp());
  EXPECT_THAT(capture_->Items("sessions"), SizeIs(300000));
}

}  // namespace
}  // namespace ttl::postgres
