// Random changes by several sessions, while a capture runs and everything around it is killed:
// in the end the sidecar tracks what is in the table, no more and no less.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/postgres/capture_fixture.h"
#include "tests/postgres/capture_process_fixture.h"
#include "tests/testing/wait.h"

namespace ttl::postgres {
namespace {

constexpr char kCreate[] =
    "CREATE TABLE sessions (tenant text, id bigint, note text, ts timestamptz, ttl integer, "
    "PRIMARY KEY (id, tenant))";
constexpr char kRows[] =
    "SELECT tenant, id, floor(extract(epoch FROM ts))::bigint, ttl FROM sessions";

TableConfig TenantSessions() {
  TableConfig table = Sessions();
  table.partition_key = {"tenant"};
  return table;
}

// Changes rows of a small set of keys in transactions of several statements.
class Writer {
 public:
  explicit Writer(unsigned seed) : random_(seed) {}

  std::string Transaction() {
    std::string sql = "BEGIN;";
    const int statements = Below(6) + 1;
    for (int i = 0; i < statements; ++i) absl::StrAppend(&sql, Statement(), ";");
    return absl::StrCat(sql, Below(8) == 0 ? "ROLLBACK" : "COMMIT");
  }

 private:
  int Below(int end) { return std::uniform_int_distribution<int>(0, end - 1)(random_); }

  std::string Where() {
    const int first = Below(200);
    return absl::StrCat(" WHERE tenant = '", Tenant(), "' AND id BETWEEN ", first, " AND ",
                        first + Below(10));
  }
  std::string Tenant() { return std::string(1, static_cast<char>('a' + Below(2))); }
  std::string Time() { return absl::StrCat("to_timestamp(", 1 + Below(1'000'000), ".7)"); }

  std::string Insert() {
    const int first = Below(200);
    return absl::StrCat(
        "INSERT INTO sessions SELECT '", Tenant(), "', i, '', ", Time(),
        ", nullif(i % 5, 0) FROM generate_series(", first, ", ", first + Below(20),
        ") i ON CONFLICT (id, tenant) DO UPDATE SET ts = ", "excluded.ts, ttl = excluded.ttl");
  }

  std::string Statement() {
    switch (Below(12)) {
      case 0:
      case 1:
      case 2:
        return Insert();
      case 3:
      case 4:
        return absl::StrCat("UPDATE sessions SET ts = ", Time(), ", ttl = NULL", Where());
      case 5:
        return absl::StrCat("UPDATE sessions SET note = note || 'x'", Where());
      case 6: {
        // Moves a row to a free key.
        const std::string to = absl::StrCat(200 + Below(50));
        return absl::StrCat("UPDATE sessions SET id = ", to, " WHERE (tenant, id) = (SELECT ",
                            "tenant, min(id) FROM sessions s WHERE tenant = '", Tenant(),
                            "' AND NOT EXISTS (SELECT FROM sessions o WHERE o.tenant = s.tenant ",
                            "AND o.id = ", to, ") GROUP BY tenant)");
      }
      case 7:
      case 8:
        return absl::StrCat("DELETE FROM sessions", Where());
      case 9:
        return absl::StrCat("SAVEPOINT s; ", Insert(), Below(2) == 0 ? "; ROLLBACK TO s" : "");
      case 10:
        return absl::StrCat("UPDATE sessions SET ttl = 0", Where());
      default:
        return Below(6) == 0 ? "TRUNCATE sessions" : absl::StrCat("DELETE FROM sessions", Where());
    }
  }

  std::mt19937 random_;
};

// What is to be tracked: rows with a legal ttl.
std::vector<std::string> Trackable(CaptureForTest& capture) {
  return capture.Rows(absl::StrCat(kRows, " WHERE ttl IS NULL OR ttl <> 0"));
}

// Sessions that write until they are told to stop.
class Writers {
 public:
  Writers(CaptureForTest& capture, int count, unsigned seed) {
    for (int i = 0; i < count; ++i) {
      threads_.emplace_back([this, &capture, seed, i] {
        Writer writer(seed * 100 + static_cast<unsigned>(i));
        absl::StatusOr<std::unique_ptr<Connection>> connection;
        while (!stop_) {
          if (!connection.ok() || *connection == nullptr || !(*connection)->is_open()) {
            connection = Connection::Open(capture.config().database, "writer");
            continue;
          }
          // Deadlocks and doubled keys end a transaction, which is as good as any end.
          if (!(*connection)->Execute(writer.Transaction()).ok() && (*connection)->is_open()) {
            static_cast<void>((*connection)->Execute("ROLLBACK"));
          }
          ++transactions_;
        }
      });
    }
  }
  ~Writers() { Stop(); }

  void Stop() {
    stop_ = true;
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }
  int transactions() const { return transactions_; }

 private:
  std::atomic<bool> stop_ = false;
  std::atomic<int> transactions_ = 0;
  std::vector<std::thread> threads_;
};

class CaptureModelTest : public CaptureFixture {};

TEST_F(CaptureModelTest, TracksWhatManySessionsLeave) {
  capture_.Sql(kCreate);
  capture_.Sql(
      "INSERT INTO sessions SELECT 'a', i, '', to_timestamp(i + 1), NULL "
      "FROM generate_series(0, 150) i");
  capture_.options().page_rows = 7;
  for (unsigned seed = 1; seed <= 4; ++seed) {
    Writers writers(capture_, 3, seed);
    if (seed == 1) {
      capture_.Begin({TenantSessions()});
    } else {
      capture_.Start();
    }
    const int before = writers.transactions();
    ASSERT_TRUE(
        WaitUntil([&] { return writers.transactions() > before + 400; }, absl::Seconds(60)));
    writers.Stop();
    ASSERT_TRUE(capture_.CatchUp());
    EXPECT_EQ(capture_.Tracked("sessions"), Trackable(capture_)) << "seed " << seed;
    capture_.Stop();
  }
}

class CaptureKillTest : public CaptureProcessFixture {};

TEST_F(CaptureKillTest, NothingIsLostWhateverIsKilled) {
  capture_->Sql(kCreate);
  // Enough that the first scan meets some kills.
  capture_->Sql(
      "INSERT INTO sessions SELECT 'c', i, '', to_timestamp(i), NULL "
      "FROM generate_series(1000, 30999) i");
  capture_->options().page_rows = 50;
  capture_->options().progress_interval = absl::Milliseconds(20);
  capture_->Begin({TenantSessions()});
  std::mt19937 random(7);
  Writers writers(*capture_, 2, 9);
  for (int round = 0; round < 12; ++round) {
    const int enough = writers.transactions() + 20 + static_cast<int>(random() % 60);
    ASSERT_TRUE(WaitUntil([&] { return writers.transactions() > enough; }, absl::Seconds(60)));
    switch (round % 4) {
      case 0:
        capture_->Start();
        break;
      case 1:
        sidecar_.Kill();
        ASSERT_TRUE(sidecar_.Start().ok());
        break;
      case 2:
        server_.Kill();
        ASSERT_TRUE(server_.Start().ok());
        break;
      default:
        capture_->Stop();
        sidecar_.Kill();
        server_.Kill();
        ASSERT_TRUE(server_.Start().ok());
        ASSERT_TRUE(sidecar_.Start().ok());
        capture_->Start();
    }
  }
  writers.Stop();
  ASSERT_TRUE(capture_->CatchUp(absl::Seconds(120)));
  EXPECT_EQ(capture_->Tracked("sessions"), Trackable(*capture_));
}

}  // namespace
}  // namespace ttl::postgres
