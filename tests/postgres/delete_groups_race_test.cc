// The application writes to groups while they are deleted: a live group loses no row, and an
// expired one all of them or none.
#include <gtest/gtest.h>

#include <atomic>
#include <iostream>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "client/postgres/sql/check/catalog.h"
#include "client/postgres/sql/install/installation.h"
#include "tests/postgres/groups_for_test.h"
#include "tests/postgres/store_for_test.h"

namespace ttl::postgres {
namespace {

constexpr int kWriters = 3;
constexpr int kThreadsOfWriter = 12;
constexpr int kDeleted = 1500;
constexpr int kOthers = 15;  // outcomes of other kinds
constexpr absl::Duration kPatience = absl::Minutes(10);
constexpr int kCondemned = 50;  // rows that are deleted in pieces

// Writes of one row: $0 the thread, $1 a number of its own, $2 the time.
constexpr const char* kInserts[] = {
    "INSERT INTO checkpoints (thread_id, checkpoint_id, checkpoint, ttl_written_at) VALUES ('$0', "
    "'$1', '{}', $2)",
    "INSERT INTO checkpoint_blobs (thread_id, channel, version, type, ttl_written_at) VALUES "
    "('$0', "
    "'c', '$1', 't', $2) ON CONFLICT DO NOTHING",
    "INSERT INTO checkpoint_writes (thread_id, checkpoint_id, task_id, idx, channel, blob, "
    "ttl_written_at) VALUES ('$0', '$1', 'x', 1, 'c', '', $2) ON CONFLICT (thread_id, "
    "checkpoint_ns, checkpoint_id, task_id, idx) DO UPDATE SET blob = excluded.blob",
};
constexpr const char* kTables[] = {"checkpoints", "checkpoint_blobs", "checkpoint_writes"};

// An application of which each session has threads that no other writes. `schema` is that of the
// tables, or of their views, by which it reads and changes rows.
class Application {
 public:
  Application(StoreForTest& db, const std::string& schema)
      : schema_(schema), sees_all_(schema == "public") {
    for (int writer = 0; writer < kWriters; ++writer) {
      Connection& connection = *connections_.emplace_back(db.Connect());
      threads_.emplace_back([this, &connection, writer] { Run(connection, writer); });
    }
  }
  ~Application() { Stop(); }

  void Stop() {
    stop_ = true;
    for (std::thread& thread : threads_) {
      if (thread.joinable()) thread.join();
    }
  }

 private:
  void Run(Connection& connection, int writer) {
    std::mt19937 random(static_cast<uint32_t>(writer));
    std::map<std::string, int> rows;  // of each thread, as far as written
    std::set<std::string> live;
    for (int64_t number = 0; !stop_ && !testing::Test::HasFailure(); ++number) {
      const std::string thread = absl::StrCat("w", writer, "_", random() % kThreadsOfWriter);
      int& known = rows[thread];
      switch (random() % 4) {
        case 0:
        case 1:
          Write(connection, thread, number, random, live, known);
          break;
        case 2:
          Age(connection, thread, random, live);
          break;
        default:
          Check(connection, thread, live, known);
      }
    }
  }

  int Count(Connection& connection, const std::string& thread) const {
    const auto counted = connection.Query(
        absl::Substitute("SELECT (SELECT count(*) FROM $0.checkpoints WHERE thread_id = $$1) + "
                         "(SELECT count(*) FROM $0.checkpoint_blobs WHERE thread_id = $$1) + "
                         "(SELECT count(*) FROM $0.checkpoint_writes WHERE thread_id = $$1)",
                         schema_),
        {thread});
    EXPECT_TRUE(counted.ok()) << counted.status();
    return counted.ok() ? static_cast<int>(counted->Number(0, 0)) : -1;
  }

  // Whether the statements took effect: a delete may have got in their way.
  static bool Do(Connection& connection, const std::string& statements) {
    const auto done = connection.Execute(statements);
    if (done.ok()) return true;
    EXPECT_TRUE(absl::IsAborted(done.status())) << done.status();
    EXPECT_TRUE(connection.Execute("ROLLBACK").ok());
    return false;
  }

  // One to three rows in one transaction, of which one is live. The group is locked from the first.
  void Write(Connection& connection, const std::string& thread, int64_t number,
             std::mt19937& random, std::set<std::string>& live, int& known) {
    std::string sql = "BEGIN;";
    const size_t count = 1 + random() % 3;
    for (size_t i = 0; i < count; ++i) {
      const size_t table = (static_cast<size_t>(number) + i) % 3;
      absl::StrAppend(&sql,
                      absl::Substitute(kInserts[table], thread, number,
                                       i == 0 ? "now()" : "to_timestamp(1000000000)"),
                      ";");
    }
    // Held for a while, so that deletes meet locks however the machine schedules.
    if (random() % 4 == 0) absl::StrAppend(&sql, "SELECT pg_sleep(0.02);");
    const bool rolls_back = random() % 5 == 0;
    if (!Do(connection, absl::StrCat(sql, rolls_back ? "ROLLBACK" : "COMMIT")) || rolls_back)
      return;
    const int now = Count(connection, thread);
    const int added = static_cast<int>(count);
    const bool was_live = live.contains(thread);
    EXPECT_TRUE(now == known + added || (!was_live && now == added))
        << thread << " has " << now << " rows after " << added << " more than " << known
        << (was_live ? ", live" : "");
    known = now;
    live.insert(thread);
  }

  // Nothing of the thread is live any more.
  void Age(Connection& connection, const std::string& thread, std::mt19937& random,
           std::set<std::string>& live) const {
    std::string sql = "BEGIN;";
    for (const char* table : kTables) {
      absl::StrAppend(&sql, "UPDATE ", schema_, ".", table,
                      " SET ttl_written_at = to_timestamp(1000000000 + ", random() % 1000,
                      ") WHERE thread_id = '", thread, "';");
    }
    if (Do(connection, absl::StrCat(sql, "COMMIT"))) live.erase(thread);
  }

  void Check(Connection& connection, const std::string& thread, const std::set<std::string>& live,
             int& known) const {
    const int now = Count(connection, thread);
    if (!sees_all_ && !live.contains(thread)) {
      EXPECT_EQ(now, 0) << thread;  // hidden; a write may show them again
      return;
    }
    EXPECT_TRUE(now == known || (!live.contains(thread) && now == 0))
        << thread << " has " << now << " rows of " << known
        << (live.contains(thread) ? ", live" : "");
    known = now;
  }

  const std::string schema_;
  const bool sees_all_;
  std::atomic<bool> stop_ = false;
  std::vector<std::unique_ptr<Connection>> connections_;
  std::vector<std::thread> threads_;
};

class DeleteGroupsRaceTest : public testing::Test {
 protected:
  void Open(const TableConfig& threads) {
    ASSERT_TRUE(server_.Start().ok());
    db_ = std::make_unique<StoreForTest>(server_);
    db_->Sql(kCreateCheckpoints);
    // Shorter than the writers hold some locks.
    db_->config().lock_timeout = absl::Milliseconds(1);
    db_->config().tables = {threads};
    db_->Sql(InstallSql(db_->config(), Defined()));
    tables_ = Defined();
  }

  // With what is installed, as far as it is.
  std::vector<TableDefinition> Defined() {
    const auto connection = db_->Connect();
    EXPECT_TRUE(connection->Execute(Connection::kSystemNamesOnly).ok());
    const auto report = CheckCatalog(*connection, db_->config());
    EXPECT_TRUE(report.ok() && report->tables.size() == 1);
    return report->tables;
  }

  void DeleteAll() {
    const std::vector<v1::Item> items = db_->Items("threads");
    if (items.empty()) return;
    const v1::DeleteItemsResponse response =
        db_->Delete(StoreForTest::Judged("threads", items, 86400));
    for (const v1::DeleteResult& result : response.results()) ++outcomes_[result.outcome()];
  }

  void Show() const {
    for (const auto& [outcome, count] : outcomes_) {
      std::cout << v1::DeleteOutcome_Name(outcome) << ": " << count << "\n";
    }
  }

  PostgresServer server_{{.settings = {{"deadlock_timeout", "20ms"}}}};
  std::unique_ptr<StoreForTest> db_;
  std::vector<TableDefinition> tables_;
  std::map<v1::DeleteOutcome, int> outcomes_;
};

TEST_F(DeleteGroupsRaceTest, LiveGroupsLoseNoRowAndExpiredOnesAllOrNone) {
  ASSERT_NO_FATAL_FAILURE(Open(Threads()));
  db_->OpenDefined(tables_);
  Application application(*db_, "public");
  const auto has_seen_all = [this] {
    return outcomes_[v1::DELETE_OUTCOME_DELETED] >= kDeleted &&
           outcomes_[v1::DELETE_OUTCOME_NOT_EXPIRED] >= kOthers &&
           outcomes_[v1::DELETE_OUTCOME_THROTTLED] >= kOthers;
  };
  while (!has_seen_all() && !HasFailure()) DeleteAll();
  application.Stop();
  Show();
}

// Some deletes are too slow for one transaction. The application, which reads by views, sees all
// rows of a live group that it has written since the group was expired, or all that were there
// before, too.
TEST_F(DeleteGroupsRaceTest, CondemnedRowsNeverComeBackAndLaterOnesStay) {
  TableConfig threads = Threads();
  const auto show = [](TableConfig& table) {
    table.live_view = table.table;
    table.view_schema = "live";
  };
  show(threads);
  for (TableConfig& member : threads.members) show(member);
  ASSERT_NO_FATAL_FAILURE(Open(threads));
  db_->Sql("INSERT INTO ttl.policy VALUES ('threads', 86400, 1, now())");
  db_->Sql(
      "CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN IF random() < 0.1 THEN "
      "PERFORM pg_sleep(10); END IF; RETURN OLD; END$$");
  for (const char* table : kTables) {
    db_->Sql(absl::StrCat("CREATE TRIGGER slow BEFORE DELETE ON ", table,
                          " FOR EACH ROW EXECUTE FUNCTION slow()"));
  }
  db_->config().statement_timeout = absl::Milliseconds(200);
  const StoreCounters& counters = *db_->OpenDefined(tables_).CountersOf("threads");
  Application application(*db_, "live");
  const auto has_seen_all = [&] {
    return counters.condemned_rows >= kCondemned &&
           outcomes_[v1::DELETE_OUTCOME_DELETED] >= kOthers;
  };
  const absl::Time give_up = absl::Now() + kPatience;
  while (!has_seen_all() && !HasFailure() && absl::Now() < give_up) {
    DeleteAll();
    for (int i = 0; i < 20; ++i) db_->store().DeletePieces();
  }
  application.Stop();
  EXPECT_TRUE(has_seen_all());
  Show();
  std::cout << "rows deleted in pieces: " << counters.condemned_rows << "\n";
}

}  // namespace
}  // namespace ttl::postgres
