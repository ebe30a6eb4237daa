// A capture whose slot, server or sidecar is not the one that it left.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "tests/postgres/capture_fixture.h"
#include "tests/postgres/capture_process_fixture.h"
#include "tests/testing/wait.h"

namespace ttl::postgres {
namespace {

class CapturePositionTest : public CaptureFixture {
 protected:
  void SetUp() override {
    Sql(kCreateSessions);
    Sql("INSERT INTO sessions SELECT i, '', to_timestamp(i), NULL FROM generate_series(1, 100) i");
    capture_.Begin({Sessions()});
    ExpectSame();
  }

  // By somebody else, with rows written in between.
  void MakeSlotAnew() {
    const std::string slot = absl::StrCat("'", capture_.config().slot, "'");
    const std::string end = absl::StrCat(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
        "WHERE datname = current_database() AND application_name = 'ttl-postgres capture'");
    const std::string active =
        absl::StrCat("SELECT active FROM pg_replication_slots WHERE slot_name = ", slot);
    ASSERT_TRUE(WaitUntil(
        [&] {
          Sql(end);
          return Value(active) == "f";
        },
        absl::Seconds(60)));
    Sql(absl::StrCat("SELECT pg_drop_replication_slot(", slot, ")"));
    Sql("DELETE FROM sessions WHERE id < 20; INSERT INTO sessions VALUES (500, '', "
        "to_timestamp(5), 9); UPDATE sessions SET ts = to_timestamp(900) WHERE id = 50");
    Sql(absl::StrCat("SELECT pg_create_logical_replication_slot(", slot, ", 'pgoutput')"));
  }

  void LetIn(bool let) {
    server_->Sql(absl::StrCat("ALTER DATABASE ", capture_.name(), " ALLOW_CONNECTIONS ",
                              let ? "true" : "false"));
  }
};

TEST_F(CapturePositionTest, SlotMadeAnewWhileStoppedMeansThatAllIsReadAgain) {
  EXPECT_EQ(capture_.status().slots_lost, 0);
  capture_.Stop();
  MakeSlotAnew();
  capture_.Start();
  ExpectSame();
  EXPECT_EQ(capture_.status().slots_lost, 1);
  EXPECT_EQ(capture_.status().tables.at(0).ghosts, 19);
}

TEST_F(CapturePositionTest, SlotMadeAnewWhileRunningMeansThatAllIsReadAgain) {
  LetIn(false);
  MakeSlotAnew();
  LetIn(true);
  ExpectSame();
  EXPECT_EQ(capture_.status().slots_lost, 1);
}

TEST_F(CapturePositionTest, SlotThatSomebodyElseAdvancedMeansThatAllIsReadAgain) {
  LetIn(false);
  const std::string slot = absl::StrCat("'", capture_.config().slot, "'");
  ASSERT_TRUE(WaitUntil(
      [&] {
        Sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND application_name = 'ttl-postgres capture'");
        return Value(absl::StrCat("SELECT active FROM pg_replication_slots WHERE slot_name = ",
                                  slot)) == "f";
      },
      absl::Seconds(60)));
  Sql("DELETE FROM sessions WHERE id < 20; INSERT INTO sessions VALUES (500, '', to_timestamp(5), "
      "9)");
  Sql(absl::StrCat("SELECT pg_replication_slot_advance(", slot, ", pg_current_wal_flush_lsn())"));
  LetIn(true);
  ExpectSame();
  EXPECT_EQ(capture_.status().slots_lost, 1);
}

TEST_F(CapturePositionTest, OrdinaryRestartsReadNothingAgain) {
  Sql("DELETE FROM sessions WHERE id < 20");
  for (int i = 0; i < 3; ++i) {
    capture_.Start();
    Sql(absl::StrCat("INSERT INTO sessions VALUES (", 500 + i, ", '', to_timestamp(5), 9)"));
    ExpectSame();
    EXPECT_EQ(capture_.status().slots_lost, 0);
  }
  EXPECT_TRUE(capture_.WaitForConfirmed());
}

class CaptureRestoredSidecarTest : public CaptureProcessFixture {};

TEST_F(CaptureRestoredSidecarTest, SidecarThatWentBackIsToldAllAgain) {
  namespace fs = std::filesystem;
  capture_->Sql(kCreateSessions);
  capture_->Begin({Sessions()});
  capture_->Sql(
      "INSERT INTO sessions SELECT i, '', to_timestamp(i), NULL FROM generate_series(1, 100) i");
  ASSERT_TRUE(capture_->CatchUp());
  ASSERT_TRUE(sidecar_.Stop().ok());
  const fs::path backup = fs::path(dir_.path()) / "backup";
  fs::copy(sidecar_.data_dir(), backup, fs::copy_options::recursive);
  ASSERT_TRUE(sidecar_.Start().ok());
  capture_->Sql(
      "DELETE FROM sessions WHERE id < 20; INSERT INTO sessions VALUES (500, '', to_timestamp(5), "
      "9)");
  ASSERT_TRUE(capture_->CatchUp());
  ASSERT_TRUE(capture_->WaitForConfirmed());
  ASSERT_TRUE(sidecar_.Stop().ok());
  fs::remove_all(sidecar_.data_dir());
  fs::rename(backup, sidecar_.data_dir());
  ASSERT_TRUE(sidecar_.Start().ok());
  ASSERT_TRUE(capture_->CatchUp());
  EXPECT_EQ(capture_->Tracked("sessions"), capture_->Rows(kSessionRows));
}

TEST_F(CaptureRestoredSidecarTest, AnotherTimelineMeansThatAllIsReadAgain) {
  capture_->Sql(kCreateSessions);
  capture_->Begin({Sessions()});
  capture_->Sql("INSERT INTO sessions VALUES (1, '', to_timestamp(1), NULL)");
  ASSERT_TRUE(capture_->CatchUp());
  capture_->Sql("ALTER SYSTEM SET restore_command = '/bin/false'");
  capture_->Stop();
  ASSERT_TRUE(server_.Stop().ok());
  // It ends its recovery at once, on the next timeline.
  std::ofstream(server_.path() + "/data/recovery.signal").close();
  ASSERT_TRUE(server_.Start().ok());
  ASSERT_TRUE(WaitUntil([&] { return capture_->Value("SELECT pg_is_in_recovery()") == "f"; },
                        absl::Seconds(60)));
  capture_->Start();
  ASSERT_TRUE(capture_->CatchUp());
  EXPECT_EQ(capture_->status().slots_lost, 1);
}

}  // namespace
}  // namespace ttl::postgres
