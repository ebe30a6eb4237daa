#include "client/postgres/load/load_monitor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "tests/postgres/store_for_test.h"
#include "tests/testing/wait.h"

namespace ttl::postgres {
namespace {

constexpr absl::Duration kInterval = absl::Milliseconds(20);
constexpr absl::Duration kPatience = StoreForTest::kPatience;

// What would go to the sidecar.
class Reports {
 public:
  void Add(absl::string_view container, double units) {
    const std::lock_guard<std::mutex> lock(mutex_);
    units_[std::string(container)] += units;
    ++count_;
  }
  double units(const std::string& container) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return units_[container];
  }
  int count() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return count_;
  }

 private:
  std::mutex mutex_;
  std::map<std::string, double> units_;
  int count_ = 0;
};

class LoadMonitorTest : public testing::Test {
 protected:
  LoadMonitorTest() {
    db_.config().max_latency = absl::ZeroDuration();
    db_.Sql(kSessions);
  }

  LoadMonitor::Parts Parts() {
    return {[this](absl::string_view container, double units) { reports_.Add(container, units); },
            [this](absl::string_view container) {
              const StoreCounters* counters = store_->CountersOf(container);
              return counters == nullptr ? 0 : counters->rows_touched.load();
            },
            kInterval};
  }

  void Watch() {
    store_ = &db_.Open({Sessions()}, [this] { return monitor_->YieldFor(); });
    std::vector<TableDefinition> tables = {db_.Describe(Sessions())};
    monitor_ =
        std::make_unique<LoadMonitor>(db_.config(), tables, Parts(), [] { return absl::Now(); });
    ASSERT_TRUE(WaitUntil([&] { return reports_.count() > 0; }, kPatience));
  }

  StoreForTest db_;
  Reports reports_;
  PrimaryStore* store_ = nullptr;
  std::unique_ptr<LoadMonitor> monitor_;
};

TEST_F(LoadMonitorTest, RowsTouchedAreRequestUnits) {
  Watch();
  EXPECT_EQ(reports_.units("sessions"), 0);
  db_.Sql(
      "INSERT INTO sessions SELECT i FROM generate_series(1, 1000) i;"
      "SELECT pg_stat_force_next_flush()");
  EXPECT_TRUE(WaitUntil([&] { return reports_.units("sessions") == 1000; }, kPatience));
  db_.Sql("UPDATE sessions SET payload = 'y' WHERE id <= 100; SELECT pg_stat_force_next_flush()");
  // Found, and updated.
  EXPECT_TRUE(WaitUntil([&] { return reports_.units("sessions") >= 1200; }, kPatience));
}

TEST_F(LoadMonitorTest, OurOwnDeletesAreNotTheApplications) {
  db_.Sql(
      "INSERT INTO sessions SELECT i, '', '2020-01-01' FROM generate_series(1, 1000) i;"
      "SELECT pg_stat_force_next_flush()");
  Watch();
  const std::vector<v1::Item> items = db_.Items("sessions");
  const absl::Time before = absl::Now();
  const v1::DeleteItemsResponse response = db_.Delete(StoreForTest::Judged("sessions", items));
  for (const v1::DeleteResult& result : response.results()) {
    ASSERT_EQ(result.outcome(), v1::DELETE_OUTCOME_DELETED);
  }
  db_.Sql(
      "INSERT INTO sessions SELECT i FROM generate_series(1, 700) i;"
      "SELECT pg_stat_force_next_flush()");
  // A session tells its statistics at the end of a transaction, once a second at most.
  EXPECT_TRUE(WaitUntil(
      [&] {
        db_.Delete(StoreForTest::Judged("sessions", {items[999]}));
        return db_.Value("SELECT n_tup_del FROM pg_stat_user_tables WHERE relname = 'sessions'") ==
               "1000";
      },
      kPatience));
  const int count = reports_.count();
  EXPECT_TRUE(WaitUntil([&] { return reports_.count() > count + 2; }, kPatience));
  EXPECT_GE(reports_.units("sessions"), 700);
  // What was read to judge them is the application's here; the deletes would be 2000 more. Of these
  // a twentieth is forgotten in each second in which the statistics do not have them.
  const double forgotten = 2000 * absl::ToDoubleSeconds(absl::Now() - before) / 20;
  EXPECT_LE(reports_.units("sessions"), 1000 + 700 + 500 + forgotten);
}

TEST_F(LoadMonitorTest, BackendsThatAreHiddenAreSaid) {
  db_.Sql("DROP ROLE IF EXISTS watcher; CREATE ROLE watcher LOGIN");
  db_.config().database = SharedServer().Conninfo(db_.name(), "watcher");
  db_.config().max_active_backends = 4;
  Watch();
  const auto application = db_.Connect();
  EXPECT_TRUE(WaitUntil(
      [&] { return absl::StrContains(monitor_->state().last_error, "pg_read_all_stats"); },
      kPatience));
  db_.Sql("GRANT pg_read_all_stats TO watcher");
  EXPECT_TRUE(WaitUntil([&] { return monitor_->state().last_error.empty(); }, kPatience));
}

TEST_F(LoadMonitorTest, PartitionsCountForTheirTable) {
  db_.Sql(
      "DROP TABLE sessions; CREATE TABLE sessions (id bigint PRIMARY KEY, ts timestamptz, "
      "ttl int) PARTITION BY HASH (id);"
      "CREATE TABLE s0 PARTITION OF sessions FOR VALUES WITH (MODULUS 2, REMAINDER 0);"
      "CREATE TABLE s1 PARTITION OF sessions FOR VALUES WITH (MODULUS 2, REMAINDER 1)");
  Watch();
  db_.Sql(
      "INSERT INTO sessions SELECT i FROM generate_series(1, 1000) i;"
      "SELECT pg_stat_force_next_flush()");
  EXPECT_TRUE(WaitUntil([&] { return reports_.units("sessions") == 1000; }, kPatience));
}

TEST_F(LoadMonitorTest, DeletesYieldWhileManyBackendsAreAtWork) {
  db_.Sql("INSERT INTO sessions SELECT i, '', '2020-01-01' FROM generate_series(1, 100) i");
  db_.config().max_active_backends = 4;
  Watch();
  const v1::DeleteItemsRequest request = StoreForTest::Judged("sessions", db_.Items("sessions"));

  // Each does short transactions, one after the other, as pgbench does.
  std::atomic<bool> stop = false;
  std::vector<std::thread> clients;
  for (int i = 0; i < 12; ++i) {
    clients.emplace_back([this, &stop] {
      const auto connection = db_.Connect();
      while (!stop) {
        ASSERT_TRUE(connection
                        ->Query("UPDATE sessions SET payload = payload || pg_sleep(0.05) "
                                "WHERE id = 1")
                        .ok());
      }
    });
  }
  // On a machine that stalls, a monitor yields for want of samples, or meets a moment at which
  // the clients have not gone on yet: what counts is what it comes to.
  EXPECT_TRUE(WaitUntil(
      [&] {
        const LoadState state = monitor_->state();
        return state.active_backends > 4 && state.yielding && monitor_->YieldFor().has_value();
      },
      kPatience));
  v1::DeleteItemsRequest others = request;
  others.mutable_items()->DeleteSubrange(50, 50);
  EXPECT_TRUE(WaitUntil(
      [&] {
        const v1::DeleteItemsResponse yielded = db_.Delete(others);
        return yielded.has_retry_after() &&
               yielded.results(0).outcome() == v1::DELETE_OUTCOME_THROTTLED;
      },
      kPatience));
  stop = true;
  for (std::thread& client : clients) client.join();

  EXPECT_TRUE(WaitUntil([&] { return !monitor_->YieldFor().has_value(); }, kPatience));
  EXPECT_TRUE(WaitUntil(
      [&] { return db_.Delete(request).results(50).outcome() == v1::DELETE_OUTCOME_DELETED; },
      kPatience));
}

TEST(LoadMonitorDisasterTest, DatabaseThatDoesNotAnswerIsBusyAndThenFound) {
  PostgresServer server;
  ASSERT_TRUE(server.Start().ok());
  StoreForTest db(server);
  // Slow is another matter.
  db.config().max_latency = absl::Seconds(30);
  db.Sql(kSessions);
  std::vector<TableDefinition> tables = {db.Describe(Sessions())};
  LoadMonitor monitor(
      db.config(), tables,
      {[](absl::string_view, double) {}, [](absl::string_view) { return 0; }, kInterval},
      [] { return absl::Now(); });
  ASSERT_TRUE(WaitUntil([&] { return monitor.state().samples > 5; }, kPatience));
  EXPECT_EQ(monitor.state().last_error, "");
  server.Kill();
  EXPECT_TRUE(WaitUntil([&] { return monitor.state().failed_samples > 0; }, kPatience));
  EXPECT_NE(monitor.state().last_error, "");
  EXPECT_TRUE(WaitUntil([&] { return monitor.YieldFor().has_value(); }, kPatience));
  ASSERT_TRUE(server.Start().ok());
  EXPECT_TRUE(WaitUntil([&] { return !monitor.YieldFor().has_value(); }, kPatience));
}

TEST(LoadMonitorDisasterTest, EndsAtOnceWhileTheDatabaseHangs) {
  PostgresServer server;
  ASSERT_TRUE(server.Start().ok());
  StoreForTest db(server);
  const auto ends_at_once = [&] {
    auto monitor = std::make_unique<LoadMonitor>(
        db.config(), std::vector<TableDefinition>(),
        LoadMonitor::Parts{[](absl::string_view, double) {}, [](absl::string_view) { return 0; },
                           kInterval},
        [] { return absl::Now(); });
    EXPECT_TRUE(WaitUntil([&] { return monitor->state().samples > 0; }, kPatience));
    server.Suspend();
    // None ends any more: one waits for its answer, and would for 4 s.
    int64_t samples = -1;
    const auto waits = [&] {
      const int64_t last = std::exchange(samples, monitor->state().samples);
      return last == samples;
    };
    EXPECT_TRUE(WaitUntil(waits, kPatience, 5 * kInterval));
    const absl::Time before = absl::Now();
    monitor.reset();
    const absl::Duration took = absl::Now() - before;
    server.Resume();
    return took < absl::Seconds(3);
  };
  // The machine may stall for as long, but not every time.
  EXPECT_TRUE(WaitUntil(ends_at_once, kPatience));
}

}  // namespace
}  // namespace ttl::postgres
