// Rows that cannot be deleted, and databases that cannot delete: the others go on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <string>
#include <thread>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "tests/postgres/store_for_test.h"
#include "tests/testing/wait.h"
#include "ttl/proto_time.h"

namespace ttl::postgres {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr absl::Duration kPatience = StoreForTest::kPatience;

class DeleteRefusalsTest : public testing::Test {
 protected:
  int64_t Rows() {
    int64_t rows = -1;
    EXPECT_TRUE(absl::SimpleAtoi(db_.Value("SELECT count(*) FROM sessions"), &rows));
    return rows;
  }

  static int Count(const v1::DeleteItemsResponse& response, v1::DeleteOutcome outcome) {
    int count = 0;
    for (const v1::DeleteResult& result : response.results()) count += result.outcome() == outcome;
    return count;
  }

  StoreForTest db_;
};

TEST_F(DeleteRefusalsTest, DeletesThatAreMeantForAnotherStoreAreRefused) {
  db_.FillSessions(5);
  PrimaryStore& store = db_.Open({Sessions()});
  v1::DeleteItemsRequest request = StoreForTest::Judged("sessions", db_.Items("sessions"), 10);
  request.set_store_id("postgresql/1/1");
  const auto refused = store.DeleteItems(request, absl::Now() + kPatience);
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kFailedPrecondition) << refused.status();
  EXPECT_EQ(Rows(), 5);
  request.set_store_id(store.GetStoreInfo(absl::Now() + kPatience).value().store_id());
  EXPECT_EQ(Count(db_.Delete(request), v1::DELETE_OUTCOME_DELETED), 5);
}

TEST_F(DeleteRefusalsTest, RowsThatOthersReferToAreLeftAndTheOthersGo) {
  db_.FillSessions(500);
  db_.Sql(
      "CREATE TABLE baskets (id int, session bigint REFERENCES sessions);"
      "INSERT INTO baskets SELECT i, i * 100 FROM generate_series(1, 5) i");
  db_.Open({Sessions()});
  const v1::DeleteItemsResponse response = db_.DeleteAll("sessions");
  EXPECT_EQ(Count(response, v1::DELETE_OUTCOME_DELETED), 495);
  EXPECT_EQ(Count(response, v1::DELETE_OUTCOME_FAILED), 5);
  EXPECT_EQ(Rows(), 5);
  const std::string reason = response.results(99).reason();
  EXPECT_THAT(reason,
              AllOf(HasSubstr("baskets_session_fkey"), HasSubstr("baskets"), HasSubstr("23503")));
  EXPECT_EQ(response.results(499).reason(), reason);  // the same words
}

TEST_F(DeleteRefusalsTest, DeferredConstraintsStrikeBeforeTheEnd) {
  db_.FillSessions(100);
  db_.Sql(
      "CREATE TABLE baskets (id int, session bigint REFERENCES sessions "
      "DEFERRABLE INITIALLY DEFERRED);"
      "INSERT INTO baskets SELECT i, i * 10 FROM generate_series(1, 3) i");
  db_.Open({Sessions()});
  const v1::DeleteItemsResponse response = db_.DeleteAll("sessions");
  EXPECT_EQ(Count(response, v1::DELETE_OUTCOME_DELETED), 97);
  EXPECT_EQ(Count(response, v1::DELETE_OUTCOME_FAILED), 3);
  EXPECT_THAT(response.results(9).reason(), HasSubstr("baskets_session_fkey"));
  EXPECT_EQ(Rows(), 3);
}

TEST_F(DeleteRefusalsTest, DeferredConstraintsAreCheckedAfterTheTriggersThatServeThem) {
  db_.FillSessions(10);
  db_.Sql(
      "CREATE TABLE baskets (id int, session bigint REFERENCES sessions "
      "DEFERRABLE INITIALLY DEFERRED);"
      "INSERT INTO baskets SELECT i, i FROM generate_series(1, 10) i;"
      "CREATE FUNCTION clean() RETURNS trigger LANGUAGE plpgsql AS "
      "$$ BEGIN DELETE FROM baskets WHERE session = OLD.id; RETURN NULL; END $$;"
      "CREATE TRIGGER zz_clean AFTER DELETE ON sessions FOR EACH ROW EXECUTE FUNCTION clean()");
  db_.Open({Sessions()});
  EXPECT_EQ(Count(db_.DeleteAll("sessions"), v1::DELETE_OUTCOME_DELETED), 10);
  EXPECT_EQ(db_.Value("SELECT count(*) FROM baskets"), "0");
}

TEST_F(DeleteRefusalsTest, CascadesTakeWhatHangsOnTheRow) {
  db_.FillSessions(10);
  db_.Sql(
      "CREATE TABLE baskets (id int, session bigint REFERENCES sessions ON DELETE CASCADE);"
      "INSERT INTO baskets SELECT i, i % 10 + 1 FROM generate_series(1, 100) i");
  db_.Open({Sessions()});
  EXPECT_EQ(Count(db_.DeleteAll("sessions"), v1::DELETE_OUTCOME_DELETED), 10);
  EXPECT_EQ(db_.Value("SELECT count(*) FROM baskets"), "0");
}

TEST_F(DeleteRefusalsTest, TriggerThatRaisesKeepsItsRowsOnly) {
  db_.FillSessions(50);
  db_.Sql(
      "CREATE FUNCTION guard() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
      "IF OLD.id = 7 THEN RAISE EXCEPTION 'seven is holy'; END IF;"
      "IF OLD.id = 8 THEN PERFORM 1 / 0; END IF;"
      "IF OLD.id = 9 THEN PERFORM no_such_function(); END IF;"
      "IF OLD.id = 10 THEN RETURN NULL; END IF;"
      "RETURN OLD; END $$;"
      "CREATE TRIGGER guard BEFORE DELETE ON sessions FOR EACH ROW EXECUTE FUNCTION guard()");
  db_.Open({Sessions()});
  const v1::DeleteItemsResponse response = db_.DeleteAll("sessions");
  EXPECT_EQ(Count(response, v1::DELETE_OUTCOME_DELETED), 46);
  EXPECT_EQ(Count(response, v1::DELETE_OUTCOME_FAILED), 4);
  EXPECT_THAT(response.results(6).reason(), HasSubstr("seven is holy"));
  EXPECT_THAT(response.results(7).reason(), HasSubstr("22012"));
  EXPECT_THAT(response.results(8).reason(), HasSubstr("no_such_function"));
  EXPECT_THAT(response.results(9).reason(), HasSubstr("trigger"));
  EXPECT_EQ(Rows(), 4);
}

TEST_F(DeleteRefusalsTest, LockOnWhatMustGoAlongIsWaitedForShortly) {
  db_.FillSessions(64);
  db_.Sql(
      "CREATE TABLE baskets (id int, session bigint REFERENCES sessions ON DELETE CASCADE);"
      "INSERT INTO baskets VALUES (1, 33)");
  db_.config().lock_timeout = absl::Milliseconds(50);
  db_.Open({Sessions()});
  const v1::DeleteItemsRequest request = StoreForTest::Judged("sessions", db_.Items("sessions"));
  const auto application = db_.Connect();
  ASSERT_TRUE(application->Execute("BEGIN; UPDATE baskets SET id = 2").ok());
  const v1::DeleteItemsResponse response = db_.Delete(request);
  EXPECT_EQ(Count(response, v1::DELETE_OUTCOME_DELETED), 63);
  EXPECT_EQ(response.results(32).outcome(), v1::DELETE_OUTCOME_FAILED);
  EXPECT_THAT(response.results(32).reason(), HasSubstr("55P03"));
}

TEST_F(DeleteRefusalsTest, TableThatIsLockedIsNoItemsFault) {
  db_.FillSessions(64);
  db_.config().lock_timeout = absl::Milliseconds(500);
  db_.Open({Sessions()});
  const v1::DeleteItemsRequest request = StoreForTest::Judged("sessions", db_.Items("sessions"));
  const auto application = db_.Connect();
  ASSERT_TRUE(application->Execute("BEGIN; LOCK TABLE sessions").ok());
  const absl::Time before = absl::Now();
  const v1::DeleteItemsResponse response = db_.Delete(request);
  // Waiting for each row would take more than half a minute.
  EXPECT_LT(absl::Now() - before, absl::Seconds(20));
  EXPECT_EQ(Count(response, v1::DELETE_OUTCOME_THROTTLED), 64);
  EXPECT_EQ(ToDuration(response.retry_after()), absl::Seconds(1));
  v1::DeleteItemsRequest single = request;
  single.mutable_items()->DeleteSubrange(1, 63);
  EXPECT_EQ(Outcomes(db_.Delete(single)), "THROTTLED");
}

TEST_F(DeleteRefusalsTest, RowThatTakesTooLongIsFoundAndTheOthersGo) {
  db_.FillSessions(8);
  db_.Sql(
      "CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
      "IF OLD.id = 5 THEN PERFORM pg_sleep(60); END IF; RETURN OLD; END $$;"
      "CREATE TRIGGER slow BEFORE DELETE ON sessions FOR EACH ROW EXECUTE FUNCTION slow()");
  // Four statements run into it. The others must not, although the machine stalls.
  db_.config().statement_timeout = absl::Milliseconds(3500);
  db_.Open({Sessions()});
  const v1::DeleteItemsResponse response = db_.DeleteAll("sessions");
  EXPECT_EQ(Outcomes(response), "DELETED DELETED DELETED DELETED FAILED DELETED DELETED DELETED");
  EXPECT_THAT(response.results(4).reason(), HasSubstr("57014"));
  EXPECT_EQ(ToDuration(response.retry_after()), absl::Seconds(1));
}

// Such as of rows whose foreign keys have no index. Half of the batch takes longer than a call has.
TEST_F(DeleteRefusalsTest, SlowDeletesGetOnInSmallerTransactionsFromCallToCall) {
  db_.FillSessions(60);
  db_.Sql(
      "CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS "
      "$$ BEGIN PERFORM pg_sleep(0.1); RETURN OLD; END $$;"
      "CREATE TRIGGER slow BEFORE DELETE ON sessions FOR EACH ROW EXECUTE FUNCTION slow()");
  db_.config().statement_timeout = absl::Seconds(1);
  db_.Open({Sessions()});
  const auto is_done = [&] {
    const auto left = db_.Items("sessions");
    if (left.empty()) return true;
    const auto response = db_.store().DeleteItems(StoreForTest::Judged("sessions", left),
                                                  absl::Now() + absl::Seconds(3));
    return !response.ok() && !absl::IsUnavailable(response.status());
  };
  EXPECT_TRUE(WaitUntil(is_done, absl::Minutes(2)));
  EXPECT_EQ(Rows(), 0);
  EXPECT_GT(db_.store().CountersOf("sessions")->overruns.load(), 0);
}

TEST_F(DeleteRefusalsTest, CallEndsAtItsDeadlineAndNotAfterBoundsTheStatement) {
  db_.FillSessions(4);
  db_.Sql(
      "CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS "
      "$$ BEGIN PERFORM pg_sleep(60); RETURN OLD; END $$;"
      "CREATE TRIGGER slow BEFORE DELETE ON sessions FOR EACH ROW EXECUTE FUNCTION slow()");
  db_.config().statement_timeout = absl::Seconds(30);
  db_.Open({Sessions()});
  v1::DeleteItemsRequest request = StoreForTest::Judged("sessions", db_.Items("sessions"));
  const absl::Time before = absl::Now();
  absl::StatusOr<v1::DeleteItemsResponse> response;
  // A call that outlives its deadline, as on a machine that stalls, is cut: it is made again.
  EXPECT_TRUE(WaitUntil([&] {
    response = db_.store().DeleteItems(request, absl::Now() + absl::Milliseconds(500));
    return response.ok();
  }));
  ASSERT_TRUE(response.ok()) << response.status();
  EXPECT_EQ(Outcomes(*response), "THROTTLED THROTTLED THROTTLED THROTTLED");
  for (const v1::DeleteResult& result : response->results()) {
    EXPECT_EQ(result.throttle_reason(), v1::THROTTLE_REASON_OUT_OF_TIME);
  }
  const StoreCounters& counters = *db_.store().CountersOf("sessions");
  EXPECT_EQ(counters.out_of_time, 4);
  EXPECT_EQ(counters.outcomes[v1::DELETE_OUTCOME_THROTTLED], 0);
  // Half a minute is what the first statement may take, by its own limit.
  EXPECT_LT(absl::Now() - before, absl::Seconds(20));

  *request.mutable_not_after() = ToTimestamp(absl::Now() + absl::Milliseconds(300));
  const absl::Time again = absl::Now();
  const v1::DeleteItemsResponse late = db_.Delete(request);
  EXPECT_EQ(Count(late, v1::DELETE_OUTCOME_THROTTLED), 4);
  EXPECT_EQ(late.results(3).throttle_reason(), v1::THROTTLE_REASON_UNSPECIFIED);
  EXPECT_LT(absl::Now() - again, absl::Seconds(20));
  EXPECT_EQ(counters.out_of_time, 4);
  EXPECT_EQ(counters.outcomes[v1::DELETE_OUTCOME_THROTTLED], 4);
  EXPECT_EQ(Rows(), 4);
}

TEST_F(DeleteRefusalsTest, DefaultsOfTheDatabaseDoNotMatter) {
  db_.FillSessions(10);
  db_.Sql(absl::StrCat("ALTER DATABASE ", db_.name(),
                       " SET default_transaction_isolation = 'serializable'"));
  db_.Sql(absl::StrCat("ALTER DATABASE ", db_.name(), " SET default_transaction_read_only = on"));
  db_.Open({Sessions()});
  EXPECT_EQ(Count(db_.DeleteAll("sessions"), v1::DELETE_OUTCOME_DELETED), 10);
}

TEST_F(DeleteRefusalsTest, NoDatabaseIsUnavailableAtOnce) {
  db_.FillSessions(1);
  db_.Open({Sessions()});
  const v1::DeleteItemsRequest request = StoreForTest::Judged("sessions", db_.Items("sessions"));
  StoreForTest other;
  other.config().database = "host=/nonexistent dbname=none";
  other.Open({});
  const absl::Time before = absl::Now();
  for (int i = 0; i < 20; ++i) {
    const auto info = other.store().GetStoreInfo(absl::Now() + absl::Seconds(5));
    EXPECT_TRUE(absl::IsUnavailable(info.status()));
    EXPECT_THAT(std::string(info.status().message()), HasSubstr("/nonexistent"));
  }
  // Less than a second for each, also if the machine stalls for a while.
  EXPECT_LT(absl::Now() - before, absl::Seconds(20));
}

TEST_F(DeleteRefusalsTest, ConnectionsThatWereLostAreMadeAgain) {
  db_.FillSessions(3);
  db_.Open({Sessions()});
  std::vector<v1::Item> items = db_.Items("sessions");
  EXPECT_EQ(Outcomes(db_.Delete(StoreForTest::Judged("sessions", {items[0]}))), "DELETED");
  db_.Sql(
      "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity "
      "WHERE application_name LIKE 'ttl-postgres%' AND datname = current_database()");
  EXPECT_EQ(Outcomes(db_.Delete(StoreForTest::Judged("sessions", {items[1]}))), "DELETED");
}

TEST_F(DeleteRefusalsTest, BusyConnectionsAreExhaustedAndNotWaitedForLong) {
  db_.FillSessions(8);
  db_.Sql(
      "CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS "
      "$$ BEGIN PERFORM pg_sleep(60); RETURN OLD; END $$;"
      "CREATE TRIGGER slow BEFORE DELETE ON sessions FOR EACH ROW EXECUTE FUNCTION slow()");
  db_.config().statement_timeout = absl::Seconds(60);
  db_.Open({Sessions()});
  const std::vector<v1::Item> items = db_.Items("sessions");
  std::vector<std::thread> calls;
  for (size_t i = 0; i < PrimaryStore::kDeleteConnections; ++i) {
    calls.emplace_back([&, i] {
      const auto response = db_.store().DeleteItems(StoreForTest::Judged("sessions", {items[i]}),
                                                    absl::Now() + kPatience);
      EXPECT_TRUE(absl::IsUnavailable(response.status())) << response.status();
    });
  }
  ASSERT_TRUE(WaitUntil(
      [&] {
        return db_.Value(
                   "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep' "
                   "AND datname = current_database()") ==
               absl::StrCat(PrimaryStore::kDeleteConnections);
      },
      absl::Seconds(30)));
  const auto refused = db_.store().DeleteItems(StoreForTest::Judged("sessions", {items[7]}),
                                               absl::Now() + kPatience);
  EXPECT_TRUE(absl::IsResourceExhausted(refused.status())) << refused.status();
  db_.store().Close();  // ends the calls under way
  for (std::thread& call : calls) call.join();
  EXPECT_TRUE(absl::IsUnavailable(db_.store().GetStoreInfo(absl::Now() + kPatience).status()));
}

// Servers of their own, since they come to harm.

TEST(DeleteDisastersTest, StandbyIsUnavailable) {
  PostgresServer server({.settings = {{"default_transaction_read_only", "off"}}});
  ASSERT_TRUE(server.Start().ok());
  StoreForTest db(server);
  db.Sql(absl::StrCat(kSessions, "; INSERT INTO sessions VALUES (1, '', '2020-01-01', NULL)"));
  db.Open({Sessions()});
  const v1::DeleteItemsRequest request = StoreForTest::Judged("sessions", db.Items("sessions"));
  ASSERT_TRUE(server.Stop().ok());
  // As a standby begins: it recovers, and goes on recovering.
  ASSERT_EQ(system(absl::StrCat("touch ", server.path(), "/data/standby.signal && chmod 666 ",
                                server.path(), "/data/standby.signal")
                       .c_str()),
            0);
  ASSERT_TRUE(server.Start().ok());
  ASSERT_EQ(db.Value("SELECT pg_is_in_recovery()"), "t");
  const auto response = db.store().DeleteItems(request, absl::Now() + kPatience);
  EXPECT_TRUE(absl::IsUnavailable(response.status())) << response.status();
  EXPECT_THAT(std::string(response.status().message()), HasSubstr("0A000"));
}

TEST(DeleteDisastersTest, ServerThatHangsHoldsNoCallForEver) {
  PostgresServer server;
  ASSERT_TRUE(server.Start().ok());
  StoreForTest db(server);
  db.Sql(absl::StrCat(kSessions, "; INSERT INTO sessions VALUES (1, '', '2020-01-01', NULL)"));
  db.Open({Sessions()});
  const v1::DeleteItemsRequest request = StoreForTest::Judged("sessions", db.Items("sessions"));
  v1::DeleteItemsRequest none = request;
  none.mutable_items(0)->set_id("2");
  ASSERT_EQ(Outcomes(db.Delete(none)), "NOT_FOUND");  // it has a connection
  server.Suspend();
  const absl::Time before = absl::Now();
  const auto response = db.store().DeleteItems(request, before + absl::Milliseconds(500));
  EXPECT_TRUE(absl::IsUnavailable(response.status())) << response.status();
  // It would have hung for ever.
  EXPECT_LT(absl::Now() - before, kPatience);
  server.Resume();
  EXPECT_EQ(Outcomes(db.Delete(request)), "DELETED");
}

TEST(DeleteDisastersTest, StandbyThatIsAwaitedForEverHoldsNoCallAndNoBackends) {
  PostgresServer server;
  ASSERT_TRUE(server.Start().ok());
  StoreForTest db(server);
  db.Sql(absl::StrCat(kSessions,
                      "; INSERT INTO sessions SELECT i, '', '2020-01-01', NULL "
                      "FROM generate_series(1, 4) i"));
  db.Open({Sessions()});
  const std::vector<v1::Item> items = db.Items("sessions");
  server.HoldCommits();
  for (const v1::Item& item : items) {
    absl::Status status;
    // What there was no time for, as on a machine that stalls, is throttled: it is asked again.
    EXPECT_TRUE(WaitUntil(
        [&] {
          status = db.store()
                       .DeleteItems(StoreForTest::Judged("sessions", {item}),
                                    absl::Now() + absl::Seconds(1))
                       .status();
          return !status.ok();
        },
        absl::Seconds(60)));
    EXPECT_TRUE(absl::IsUnavailable(status)) << status;
    // The one before may still be going.
    EXPECT_TRUE(WaitUntil(
        [&] {
          return db.Value(
                     "SELECT count(*) <= 1 FROM pg_stat_activity "
                     "WHERE application_name = 'ttl-postgres deletes'") == "t";
        },
        absl::Seconds(60)));
  }
  server.LetCommitsGo();
  // Each was deleted for the one who waited; all are gone in the end.
  db.Delete(StoreForTest::Judged("sessions", items));
  EXPECT_TRUE(WaitUntil([&] { return db.Value("SELECT count(*) FROM sessions") == "0"; },
                        absl::Seconds(60)));
}

TEST(DeleteDisastersTest, ServerKilledInTheMiddleOfABatchLosesNothingElse) {
  PostgresServer server;
  ASSERT_TRUE(server.Start().ok());
  StoreForTest db(server);
  db.Sql(absl::StrCat(kSessions,
                      "; INSERT INTO sessions SELECT i, '', '2020-01-01', NULL "
                      "FROM generate_series(1, 300) i;"
                      "CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
                      "IF OLD.id = 200 THEN PERFORM pg_sleep(60); END IF; RETURN OLD; END $$;"
                      "CREATE TRIGGER slow BEFORE DELETE ON sessions FOR EACH ROW "
                      "EXECUTE FUNCTION slow()"));
  db.config().statement_timeout = absl::Seconds(60);
  db.Open({Sessions()});
  const v1::DeleteItemsRequest request = StoreForTest::Judged("sessions", db.Items("sessions"));
  absl::Status status;
  std::thread call(
      [&] { status = db.store().DeleteItems(request, absl::Now() + kPatience).status(); });
  ASSERT_TRUE(WaitUntil(
      [&] {
        return db.Value("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'") ==
               "1";
      },
      absl::Seconds(30)));
  server.Kill();
  call.join();
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
  EXPECT_TRUE(
      absl::IsUnavailable(db.store().DeleteItems(request, absl::Now() + kPatience).status()));

  ASSERT_TRUE(server.Start().ok());
  EXPECT_EQ(db.Value("SELECT count(*) FROM sessions"), "300");
  db.Sql("DROP TRIGGER slow ON sessions");
  ASSERT_TRUE(WaitUntil([&] { return db.store().GetStoreInfo(absl::Now() + kPatience).ok(); },
                        absl::Seconds(60)));
  const v1::DeleteItemsResponse response = db.DeleteAll("sessions");
  EXPECT_EQ(response.results_size(), 300);
  for (const v1::DeleteResult& result : response.results()) {
    EXPECT_EQ(result.outcome(), v1::DELETE_OUTCOME_DELETED);
  }
}

}  // namespace
}  // namespace ttl::postgres
