// The application writes the rows that are being deleted: what it has changed survives.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <iostream>
#include <iterator>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "tests/postgres/store_for_test.h"

namespace ttl::postgres {
namespace {

constexpr int kRows = 400;
constexpr int kTries = 100'000;
constexpr uint32_t kWriters = 3;
constexpr int kWritesBetween = 40;

// Every write gives a row a version of its own. A trigger notes which version a delete of ours
// took, in its transaction.
constexpr char kSetup[] =
    "CREATE SEQUENCE versions;"
    "CREATE TABLE sessions (id bigint PRIMARY KEY, version bigint NOT NULL DEFAULT "
    "nextval('versions'), ts timestamptz NOT NULL, ttl integer) WITH (fillfactor = 50);"
    "CREATE TABLE taken (id bigint, version bigint, ts bigint);"
    "CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$$$ BEGIN INSERT INTO taken "
    "VALUES (OLD.id, OLD.version, floor(extract(epoch FROM OLD.ts))); RETURN NULL; END $$$$;"
    "CREATE TRIGGER note AFTER DELETE ON sessions FOR EACH ROW "
    "WHEN (current_setting('application_name') LIKE 'ttl-postgres%') EXECUTE FUNCTION note();"
    "INSERT INTO sessions SELECT i, nextval('versions'), '2020-01-01', 60 "
    "FROM generate_series(1, $0) i";

// What an application does to the rows from $0 to $1; $2 is a number below a million.
constexpr const char* kWrites[] = {
    // The payload alone.
    "UPDATE sessions SET version = nextval('versions') WHERE id BETWEEN $0 AND $1",
    // Within the same second.
    "UPDATE sessions SET version = nextval('versions'), "
    "ts = date_trunc('second', ts) + interval '$2 microseconds' WHERE id BETWEEN $0 AND $1",
    // Gone, and there again with the same key and the same second.
    "BEGIN; CREATE TEMPORARY TABLE kept ON COMMIT DROP AS SELECT * FROM sessions "
    "WHERE id BETWEEN $0 AND $1; DELETE FROM sessions WHERE id IN (SELECT id FROM kept); "
    "INSERT INTO sessions SELECT id, nextval('versions'), ts, ttl FROM kept ORDER BY id; COMMIT",
    // In savepoints.
    "BEGIN; SAVEPOINT a; UPDATE sessions SET version = nextval('versions') "
    "WHERE id BETWEEN $0 AND $1; RELEASE a; SAVEPOINT b; UPDATE sessions SET ttl = 1 "
    "WHERE id BETWEEN $0 AND $1; ROLLBACK TO b; COMMIT",
    // Not at all.
    "BEGIN; UPDATE sessions SET version = nextval('versions'), ttl = 1 "
    "WHERE id BETWEEN $0 AND $1; ROLLBACK",
    // Of another second, and what has been deleted comes back.
    "INSERT INTO sessions SELECT i, nextval('versions'), '2020-01-01'::timestamptz + "
    "interval '$2 seconds', 60 FROM generate_series($0, $1) i ON CONFLICT (id) DO UPDATE "
    "SET version = excluded.version, ts = excluded.ts",
    "INSERT INTO sessions SELECT i, nextval('versions'), '2020-01-01', 60 "
    "FROM generate_series($0, $1) i ON CONFLICT (id) DO NOTHING",
    // For a reference. Held for a while, so that deletes meet locks however the machine schedules.
    "BEGIN; SELECT FROM sessions WHERE id BETWEEN $0 AND $1 ORDER BY id FOR KEY SHARE; "
    "SELECT pg_sleep(0.003); COMMIT",
};

// An application: sessions that write until the end.
class Application {
 public:
  explicit Application(StoreForTest& db) {
    for (uint32_t seed = 0; seed < kWriters; ++seed) {
      Connection& connection = *connections_.emplace_back(db.Connect());
      threads_.emplace_back([this, &connection, seed] { Run(connection, seed); });
    }
  }
  ~Application() { Stop(); }

  void Stop() {
    stop_ = true;
    for (std::thread& thread : threads_) {
      if (thread.joinable()) thread.join();
    }
  }

  void AwaitWrites(int64_t count) const {
    const int64_t later = writes_ + count;
    while (writes_ < later && !testing::Test::HasFailure()) std::this_thread::yield();
  }

 private:
  void Run(Connection& connection, uint32_t seed) {
    std::mt19937 random(seed);
    std::uniform_int_distribution<int> first(1, kRows);
    std::uniform_int_distribution<int> length(0, 7);
    std::uniform_int_distribution<int> number(0, 999'999);
    std::uniform_int_distribution<size_t> kind(0, std::size(kWrites) - 1);
    for (; !stop_; ++writes_) {
      const int from = first(random);
      const int to = std::min(kRows, from + length(random));
      const auto done =
          connection.Execute(absl::Substitute(kWrites[kind(random)], from, to, number(random)));
      if (done.ok()) continue;
      // Writers may get into each other's way: deadlocks, and the key of a row that is back.
      ASSERT_TRUE(absl::IsAborted(done.status()) || SqlState(done.status()) == "23505")
          << done.status();
      ASSERT_TRUE(connection.Execute("ROLLBACK").ok());
    }
  }

  std::atomic<bool> stop_ = false;
  std::atomic<int64_t> writes_ = 0;
  std::vector<std::unique_ptr<Connection>> connections_;
  std::vector<std::thread> threads_;
};

struct JudgedRow {
  v1::Item item;
  int64_t version = 0;
};

std::vector<JudgedRow> ReadRows(Connection& connection) {
  std::vector<JudgedRow> rows;
  const auto answer = connection.Query(
      "SELECT id, floor(extract(epoch FROM ts))::bigint, ttl, xmin, version FROM sessions");
  EXPECT_TRUE(answer.ok()) << answer.status();
  for (int i = 0; answer.ok() && i < answer->rows(); ++i) {
    JudgedRow& row = rows.emplace_back();
    row.item.set_id(std::string(answer->Text(i, 0)));
    row.item.set_ts(answer->Number(i, 1));
    if (answer->Value(i, 2).has_value()) row.item.set_ttl(answer->Number(i, 2));
    row.item.set_etag(std::string(answer->Text(i, 3)));
    row.version = answer->Number(i, 4);
  }
  return rows;
}

struct TakenRow {
  int64_t version;
  int64_t ts;
};

// What deletes took since this was asked last, by id.
std::map<std::string, TakenRow> ReadTaken(Connection& connection) {
  std::map<std::string, TakenRow> taken;
  const auto answer = connection.Query("DELETE FROM taken RETURNING id, version, ts");
  EXPECT_TRUE(answer.ok()) << answer.status();
  for (int i = 0; answer.ok() && i < answer->rows(); ++i) {
    const bool is_new =
        taken.emplace(answer->Text(i, 0), TakenRow{answer->Number(i, 1), answer->Number(i, 2)})
            .second;
    EXPECT_TRUE(is_new) << "a batch deleted a row twice";
  }
  return taken;
}

TEST(DeleteRaceTest, WhatTheApplicationHasChangedSurvives) {
  PostgresServer server({.settings = {{"deadlock_timeout", "20ms"}}});
  ASSERT_TRUE(server.Start().ok());
  StoreForTest db(server);
  db.Sql(absl::Substitute(kSetup, kRows));
  db.Open({Sessions()});

  Application application(db);
  const auto reader = db.Connect();
  std::map<v1::DeleteOutcome, int> outcomes;
  int tries = 0;
  for (int batch = 0; tries < kTries && !HasFailure(); ++batch) {
    const bool with_etag = batch % 2 == 0;
    const std::vector<JudgedRow> rows = ReadRows(*reader);
    if (rows.empty()) continue;
    std::vector<v1::Item> items;
    for (const JudgedRow& row : rows) items.push_back(row.item);
    v1::DeleteItemsRequest request = StoreForTest::Judged("sessions", items);
    if (!with_etag) {
      for (v1::ExpiredItem& item : *request.mutable_items()) item.clear_etag();
    }
    // Some were judged a while ago: between judgement and delete. The others go at once, so that
    // what is written meets the statement itself.
    if (batch % 4 < 2) application.AwaitWrites(kWritesBetween);
    const v1::DeleteItemsResponse response = db.Delete(request);
    const std::map<std::string, TakenRow> taken = ReadTaken(*reader);
    size_t deleted = 0;
    for (int i = 0; i < response.results_size(); ++i) {
      ++tries;
      ++outcomes[response.results(i).outcome()];
      const JudgedRow& row = rows[static_cast<size_t>(i)];
      const auto found = taken.find(row.item.id());
      const bool is_deleted = response.results(i).outcome() == v1::DELETE_OUTCOME_DELETED;
      ASSERT_EQ(is_deleted, found != taken.end()) << row.item.ShortDebugString();
      if (!is_deleted) continue;
      ++deleted;
      ASSERT_EQ(found->second.ts, row.item.ts());
      ASSERT_TRUE(!with_etag || found->second.version == row.version)
          << row.item.ShortDebugString() << " as " << found->second.version;
    }
    ASSERT_EQ(deleted, taken.size());
  }
  application.Stop();

  EXPECT_GE(tries, kTries);
  for (const v1::DeleteOutcome outcome :
       {v1::DELETE_OUTCOME_DELETED, v1::DELETE_OUTCOME_MODIFIED, v1::DELETE_OUTCOME_FAILED}) {
    EXPECT_GT(outcomes[outcome], 100) << v1::DeleteOutcome_Name(outcome);
  }
  for (const auto& [outcome, count] : outcomes) {
    RecordProperty(v1::DeleteOutcome_Name(outcome), count);
    std::cout << v1::DeleteOutcome_Name(outcome) << ": " << count << "\n";
  }
}

}  // namespace
}  // namespace ttl::postgres
