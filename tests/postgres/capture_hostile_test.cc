// A capture of databases that are older than they were, or whose rows are not what their types say.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "absl/strings/str_cat.h"
#include "tests/postgres/capture_fixture.h"
#include "tests/postgres/capture_process_fixture.h"
#include "tests/testing/process.h"
#include "tests/testing/wait.h"

namespace ttl::postgres {
namespace {

using testing::ElementsAre;

// Also removes what a former restore has left in the way.
void CopyOf(const std::string& from, const std::string& to) {
  std::filesystem::remove_all(to);
  SubprocessOptions options;
  options.argv = {"/bin/cp", "--archive", from, to};
  auto process = Subprocess::Start(options);
  ASSERT_TRUE(process.ok()) << process.status();
  const auto ended = (*process)->Wait(absl::Seconds(60));
  ASSERT_TRUE(ended.ok() && ended->Succeeded());
}

class CaptureRestoreTest : public CaptureProcessFixture,
                           public testing::WithParamInterface<bool> {};

INSTANTIATE_TEST_SUITE_P(WithAndWithoutItsSlots, CaptureRestoreTest, testing::Bool(),
                         [](const auto& info) {
                           return info.param ? std::string("WithSlots") : std::string("NoSlots");
                         });

TEST_P(CaptureRestoreTest, DatabaseThatWasRestoredIsFollowedFromThere) {
  capture_->Sql(kCreateSessions);
  capture_->Sql(
      "INSERT INTO sessions SELECT i, '', to_timestamp(i), 50 "
      "FROM generate_series(1, 5) i");
  capture_->Begin({Sessions()});
  ASSERT_TRUE(capture_->CatchUp());
  ASSERT_TRUE(capture_->WaitForConfirmed());
  const std::string data = server_.path() + "/data";
  server_.Kill();
  CopyOf(data, server_.path() + "/backup");
  ASSERT_TRUE(server_.Start().ok());
  // What the sidecar then knows of 1 to 3 is newer than the backup, and far ahead in the WAL.
  capture_->Sql(
      "SELECT pg_switch_wal(); CREATE TABLE filler AS SELECT 1 AS x;"
      "SELECT pg_switch_wal(); CREATE TABLE more AS SELECT 1 AS x");
  capture_->Sql(
      "UPDATE sessions SET ttl = -1 WHERE id < 3; DELETE FROM sessions WHERE id = 3;"
      "INSERT INTO sessions VALUES (9, '', to_timestamp(9), -1)");
  ASSERT_TRUE(capture_->CatchUp());
  server_.Kill();
  CopyOf(server_.path() + "/backup", data);
  if (!GetParam()) {
    for (const auto& slot : std::filesystem::directory_iterator(data + "/pg_replslot")) {
      std::filesystem::remove_all(slot.path());
    }
  }
  ASSERT_TRUE(server_.Start().ok());
  ASSERT_TRUE(capture_->CatchUp());
  EXPECT_EQ(capture_->Tracked("sessions"), capture_->Rows(kSessionRows));
  capture_->Sql("UPDATE sessions SET ttl = 5 WHERE id < 3");
  ASSERT_TRUE(capture_->CatchUp());
  EXPECT_EQ(capture_->Tracked("sessions"), capture_->Rows(kSessionRows));
}

class CapturePreparedTest : public CaptureProcessFixture {
 protected:
  CapturePreparedTest()
      : CaptureProcessFixture({.settings = {{"max_prepared_transactions", "5"}}}) {}
};

TEST_F(CapturePreparedTest, TransactionsInTwoPhasesComeWhenTheyCommitAcrossACrash) {
  capture_->Sql(kCreateSessions);
  capture_->Sql(
      "CREATE TABLE child (id bigint REFERENCES sessions);"
      "INSERT INTO sessions SELECT i, '', to_timestamp(i), NULL "
      "FROM generate_series(1, 9) i");
  capture_->Begin({Sessions()});
  ASSERT_TRUE(capture_->CatchUp());
  capture_->Sql(
      "BEGIN; DELETE FROM sessions WHERE id < 3; SAVEPOINT s; INSERT INTO sessions "
      "VALUES (11, '', to_timestamp(11), 1); ROLLBACK TO s; UPDATE sessions SET ttl = 5 "
      "WHERE id = 4; INSERT INTO sessions VALUES (10, '', to_timestamp(10), 1)");
  capture_->Sql("PREPARE TRANSACTION 'one'");
  capture_->Sql("UPDATE sessions SET ttl = 7 WHERE id = 5");
  server_.Kill();
  ASSERT_TRUE(server_.Start().ok());
  capture_->Sql("COMMIT PREPARED 'one'");
  ASSERT_TRUE(capture_->CatchUp());
  EXPECT_EQ(capture_->Tracked("sessions"), capture_->Rows(kSessionRows));
  capture_->Sql("TRUNCATE child, sessions CASCADE; INSERT INTO sessions VALUES (1, '', now(), 1)");
  ASSERT_TRUE(capture_->CatchUp());
  EXPECT_EQ(capture_->Tracked("sessions"), capture_->Rows(kSessionRows));
}

class CaptureHostileTest : public CaptureFixture {};

TEST_F(CaptureHostileTest, RowsThatAreOlderThanAConditionOfTheirDomainAreRead) {
  Sql("CREATE DOMAIN code AS varchar(9);"
      "CREATE TABLE sessions (id code PRIMARY KEY, ts timestamptz, ttl integer);"
      "INSERT INTO sessions SELECT 'c' || i, to_timestamp(i), NULL FROM generate_series(1, 50) i;"
      "ALTER DOMAIN code ADD CHECK (VALUE LIKE 'd%') NOT VALID");
  capture_.options().page_rows = 7;
  capture_.Begin({Sessions()});
  ExpectSame();
  Sql("DELETE FROM sessions WHERE id < 'c2'; INSERT INTO sessions VALUES ('d1', now(), 3)");
  ExpectSame();
}

TEST_F(CaptureHostileTest, TableThatWasRewrittenWithoutAWordIsReadAgain) {
  // Without a list of columns in the publication nothing protects their types.
  Sql(kCreateSessions);
  Sql("ALTER TABLE sessions REPLICA IDENTITY FULL;"
      "INSERT INTO sessions SELECT i, '', to_timestamp(i), -1 FROM generate_series(1, 9) i");
  capture_.Begin({Sessions()});
  ExpectSame();
  for (const char* change : {"ALTER TABLE sessions ALTER ttl TYPE integer USING 5",
                             "ALTER TABLE sessions DROP ttl, ADD ttl integer DEFAULT 7"}) {
    Sql(change);
    const std::vector<std::string> rows = capture_.Rows(kSessionRows);
    EXPECT_TRUE(WaitUntil([&] { return Tracked() == rows; }, absl::Seconds(30))) << change;
  }
  ExpectSame();
}

TEST_F(CaptureHostileTest, BytesOfADatabaseWithoutAnEncodingAreKeys) {
  server_->Sql("DROP DATABASE " + capture_.name());
  server_->Sql("CREATE DATABASE " + capture_.name() +
               " ENCODING SQL_ASCII LOCALE 'C' TEMPLATE template0");
  Sql("CREATE TABLE sessions (id text PRIMARY KEY, ts timestamptz, ttl integer);"
      "INSERT INTO sessions VALUES (E'scanned \\xff', to_timestamp(1), 1)");
  capture_.Begin({Sessions()});
  ASSERT_TRUE(capture_.CatchUp());
  Sql("INSERT INTO sessions VALUES (E'streamed \\xfe', to_timestamp(2), 2)");
  ASSERT_TRUE(capture_.CatchUp());
  EXPECT_THAT(Tracked(), ElementsAre("|scanned \xff|1|1", "|streamed \xfe|2|2"));
}

}  // namespace
}  // namespace ttl::postgres
