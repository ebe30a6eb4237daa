// An application that knows nothing of a time to live, on a real PostgreSQL, while its rows
// expire and sidecar, ttl-postgres and the database are killed at random moments.
//
//   TTL_PROOF_ROWS     rows at the start, default 20000
//   TTL_PROOF_SECONDS  how long the application runs, default 25
//   TTL_PROOF_SEED     seed of moments and load, default 1

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/time/clock.h"
#include "tests/testing/postgres_server.h"
#include "tests/testing/sidecar_process.h"
#include "tests/testing/temp_dir.h"
#include "tests/testing/ttl_postgres_process.h"
#include "tests/testing/wait.h"
#include "ttl/client.h"
#include "ttl/container_client.h"

namespace ttl {
namespace {

using postgres::Connection;

constexpr int64_t kDefaultTtl = 12;
// A kill comes at a random moment within this after the last recovery.
constexpr double kLongestLifeSeconds = 1.5;

int64_t FromEnvironment(const char* name, int64_t otherwise) {
  const char* text = std::getenv(name);
  int64_t value = 0;
  return text != nullptr && absl::SimpleAtoi(text, &value) ? value : otherwise;
}

// What the application has, and, for the test alone, a note of every row that is deleted, in
// the transaction that deletes it.
constexpr char kTables[] = R"sql(
  CREATE TABLE sessions (id bigint PRIMARY KEY, updated_at timestamptz NOT NULL, ttl integer,
                         payload text NOT NULL);
  CREATE TABLE deleted (id bigint, updated_at timestamptz, ttl integer, by text, at timestamptz);
  CREATE SEQUENCE session_ids;
  CREATE FUNCTION note_delete() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    INSERT INTO deleted VALUES (old.id, old.updated_at, old.ttl,
                                current_setting('application_name'), clock_timestamp());
    RETURN NULL;
  END $$;
  CREATE TRIGGER note_delete AFTER DELETE ON sessions FOR EACH ROW EXECUTE FUNCTION note_delete();
)sql";

constexpr char kConfig[] = R"yaml(
tables:
  - container: sessions
    table: sessions
    id: [id]
    ts_column: updated_at
    ttl_column: ttl
    live_view: live_sessions
)yaml";

// A lifetime by a number of 0 to 99, in proportions of a production cluster, scaled: 39 % live
// 3 s, 24 % 8 s, 13 % have none of their own, 12 % 20 s, 9 % an hour; the rest for ever.
std::string TtlOf(absl::string_view draw) {
  return absl::StrReplaceAll(
      "CASE WHEN $d < 39 THEN 3 WHEN $d < 63 THEN 8 WHEN $d < 76 THEN NULL WHEN $d < 88 THEN 20 "
      "WHEN $d < 97 THEN 3600 ELSE -1 END",
      {{"$d", draw}});
}

// Whether a row is live at `now`, by the rules alone; knows nothing of what is installed.
std::string IsLive(absl::string_view row, absl::string_view now) {
  return absl::StrReplaceAll(
      "(coalesce($r.ttl, $default) = -1 OR floor(extract(epoch FROM $now)) < "
      "floor(extract(epoch FROM $r.updated_at)) + coalesce($r.ttl, $default))",
      {{"$r", row}, {"$now", now}, {"$default", absl::StrCat(kDefaultTtl)}});
}

// One thread of the application: statement after statement, whatever fails.
class Client {
 public:
  Client(const PostgresServer& server, int64_t rows, uint64_t seed)
      : server_(server), rows_(rows), random_(seed) {}

  void Step() {
    if (connection_ == nullptr || !connection_->is_open()) {
      auto opened = Connection::Open(server_.Conninfo(), "application");
      if (!opened.ok()) return;
      connection_ = *std::move(opened);
    }
    connection_->Execute(NextStatement()).IgnoreError();
  }

 private:
  int64_t Draw(int64_t below) {
    return std::uniform_int_distribution<int64_t>(0, below - 1)(random_);
  }

  std::string NextStatement() {
    const std::string id = absl::StrCat(1 + Draw(rows_));
    const int64_t kind = Draw(100);
    if (kind < 40) {
      return absl::StrCat("UPDATE sessions SET updated_at = now() WHERE id = ", id);
    }
    if (kind < 50) {
      return absl::StrCat("UPDATE sessions SET updated_at = now(), ttl = ",
                          TtlOf(absl::StrCat(Draw(100))), " WHERE id = ", id);
    }
    if (kind < 55) return absl::StrCat("DELETE FROM sessions WHERE id = ", id);
    if (kind < 60) {  // in a subtransaction, and rolled back now and then
      return absl::StrCat("BEGIN; SAVEPOINT s; UPDATE sessions SET updated_at = now() WHERE id = ",
                          id, Draw(2) == 0 ? "; ROLLBACK TO s" : "", "; COMMIT");
    }
    return absl::StrCat("INSERT INTO sessions SELECT ", rows_, " + nextval('session_ids'), now(), ",
                        TtlOf(absl::StrCat(Draw(100))), ", 'new' FROM generate_series(1, 10)");
  }

  const PostgresServer& server_;
  const int64_t rows_;
  std::mt19937_64 random_;
  std::unique_ptr<Connection> connection_;
};

class PostgresSystemTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(database_.Start().ok()) << database_.Log();
    database_.Sql(kTables);
    Fill();
    ASSERT_TRUE(sidecar_.Start().ok()) << sidecar_.Log();
    v1::Container container;
    container.set_id("sessions");
    container.set_default_ttl(kDefaultTtl);
    TtlClientOptions options;
    options.address = sidecar_.address();
    ASSERT_TRUE(TtlClient(options).containers().Create(container).ok());
    ASSERT_TRUE(postgres_.RunCommand({"install"}).ok()) << postgres_.Log();
    ASSERT_TRUE(postgres_.Start(absl::Minutes(2)).ok()) << postgres_.Log();
  }

  // Rows in the middle of their lives.
  void Fill() {
    database_.Sql(absl::StrCat(
        "INSERT INTO sessions SELECT id, now() - random() * interval '5 seconds', ", TtlOf("draw"),
        ", 'old' FROM (SELECT id, floor(random() * 100) AS draw FROM "
        "generate_series(1, ",
        rows_, ") AS id) AS drawn"));
  }

  // Rows that the view shows and should not, or hides and should not, at one instant.
  absl::StatusOr<int64_t> CountViewErrors(Connection& connection) {
    const auto result = connection.Query(absl::StrCat(
        "SELECT count(*) FROM sessions AS s LEFT JOIN live_sessions AS l ON l.id = s.id WHERE ",
        IsLive("s", "statement_timestamp()"), " <> (l.id IS NOT NULL)"));
    if (!result.ok()) return result.status();
    return result->Number(0, 0);
  }

  // Looks at the view all the time.
  void WatchView() {
    std::unique_ptr<Connection> connection;
    while (!stop_) {
      if (connection == nullptr || !connection->is_open()) {
        auto opened = Connection::Open(database_.Conninfo(), "reader");
        if (!opened.ok()) continue;
        connection = *std::move(opened);
      }
      const absl::StatusOr<int64_t> errors = CountViewErrors(*connection);
      if (!errors.ok()) continue;
      ++looks_;
      view_errors_ += *errors;
    }
  }

  void RunApplication(uint64_t seed) {
    Client client(database_, rows_, seed);
    while (!stop_) client.Step();
  }

  void KillOne(int which) {
    switch (which) {
      case 0:
        sidecar_.Kill();
        ASSERT_TRUE(sidecar_.Start().ok()) << sidecar_.Log();
        break;
      case 1:
        EXPECT_TRUE(postgres_.IsRunning());
        postgres_.Kill();
        ASSERT_TRUE(postgres_.Launch().ok()) << postgres_.Log();
        break;
      default:
        database_.Kill();
        ASSERT_TRUE(database_.Start().ok()) << database_.Log();
    }
  }

  std::string CountOf(absl::string_view where) {
    return database_.Value(absl::StrCat("SELECT count(*) FROM ", where));
  }

  const int64_t rows_ = FromEnvironment("TTL_PROOF_ROWS", 20'000);
  const int64_t seconds_ = FromEnvironment("TTL_PROOF_SECONDS", 25);
  const uint64_t seed_ = static_cast<uint64_t>(FromEnvironment("TTL_PROOF_SEED", 1));

  TempDir dir_;
  // As in earnest, with what the server does by itself.
  PostgresServer database_{{.fsync = true, .settings = {{"autovacuum", "on"}}}};
  const TtlPostgresProcessOptions postgres_options_ = {
      dir_.path(), "postgres", database_.Conninfo(),
      absl::StrCat("unix:", dir_.File("sidecar.sock")), kConfig};
  SidecarProcess sidecar_{
      {dir_.path(), "sidecar", TtlPostgresProcess::AddressOf(postgres_options_), {}, {}}};
  TtlPostgresProcess postgres_{postgres_options_};

  std::atomic<bool> stop_ = false;
  std::atomic<int64_t> looks_ = 0;
  std::atomic<int64_t> view_errors_ = 0;
};

TEST_F(PostgresSystemTest, WhateverIsKilledNoLiveRowIsLostAndEveryExpiredOneGoes) {
  std::vector<std::thread> threads;
  for (uint64_t i = 0; i < 2; ++i) {
    threads.emplace_back([this, i] { RunApplication(seed_ * 100 + i); });
  }
  threads.emplace_back([this] { WatchView(); });

  std::mt19937_64 random(seed_);
  std::uniform_real_distribution<double> life(0, kLongestLifeSeconds);
  const absl::Time end = absl::Now() + absl::Seconds(seconds_);
  for (int i = 0; absl::Now() < end && !HasFatalFailure(); ++i) {
    absl::SleepFor(absl::Seconds(life(random)));
    KillOne(i % 3);
  }
  stop_ = true;
  for (std::thread& thread : threads) thread.join();
  // Whatever died beneath it, it is still the process that was started.
  EXPECT_TRUE(postgres_.IsRunning());
  ASSERT_TRUE(postgres_.WaitReady(absl::Minutes(5)).ok()) << postgres_.Log();

  const std::string expired =
      absl::StrCat("sessions AS s WHERE NOT ", IsLive("s", "statement_timestamp()"));
  EXPECT_TRUE(WaitUntil([&] { return CountOf(expired) == "0"; },
                        absl::Minutes(3) + absl::Seconds(rows_ / 1000), absl::Milliseconds(200)))
      << CountOf(expired) << " expired rows are left; " << postgres_.Log();

  EXPECT_EQ(
      CountOf(absl::StrCat("deleted AS d WHERE by <> 'application' AND ", IsLive("d", "d.at"))),
      "0")
      << "live rows were deleted";
  const std::string deleted = CountOf("deleted WHERE by <> 'application'");
  EXPECT_NE(deleted, "0");
  RecordProperty("deleted", deleted);
  RecordProperty("looks", std::to_string(looks_));
  EXPECT_EQ(view_errors_, 0);
  EXPECT_GT(looks_, 0);
  const auto left = CountViewErrors(database_.sql());
  ASSERT_TRUE(left.ok());
  EXPECT_EQ(*left, 0);
  EXPECT_TRUE(postgres_.Stop().ok());
  EXPECT_TRUE(sidecar_.Stop().ok());
}

}  // namespace
}  // namespace ttl
