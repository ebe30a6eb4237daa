// Groups that are too large for one transaction: they are condemned, stay hidden, and go in pieces,
// while later writes begin new groups.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "client/postgres/sql/check/catalog.h"
#include "client/postgres/sql/group_condemned.h"
#include "client/postgres/sql/install/installation.h"
#include "client/postgres/store/deletes/delete_pause.h"
#include "client/postgres/store/primary_store.h"
#include "tests/postgres/groups_for_test.h"
#include "tests/postgres/store_for_test.h"
#include "tests/testing/captured_log.h"

namespace ttl::postgres {
namespace {

using testing::HasSubstr;
using testing::Not;

// Each deleted row of the group 'big', or 1, takes its time: together they take longer than
// statement_timeout, and a piece of them does not.
constexpr int kRows = 400;
constexpr absl::Duration kTimeout = absl::Milliseconds(400);
constexpr char kSlowDeletes[] =
    "CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN PERFORM pg_sleep(0.005); "
    "RETURN OLD; END$$;";

class DeleteGroupPiecesTest : public testing::Test {
 protected:
  DeleteGroupPiecesTest() {
    db_.ShowPosition(100);
    db_.config().statement_timeout = kTimeout;
  }

  // With a view of each table in schema live. The definitions know what is installed.
  void Open(TableConfig table, int64_t default_ttl) {
    const auto show = [](TableConfig& one) {
      one.live_view = one.table;
      one.view_schema = "live";
    };
    show(table);
    for (TableConfig& member : table.members) show(member);
    db_.config().tables = {table};
    db_.Sql(InstallSql(db_.config(), Defined()));
    SetPolicy(table.container, default_ttl);
    tables_ = Defined();
    db_.OpenDefined(tables_);
  }

  std::vector<TableDefinition> Defined() {
    const auto connection = db_.Connect();
    EXPECT_TRUE(connection->Execute(Connection::kSystemNamesOnly).ok());
    const auto report = CheckCatalog(*connection, db_.config());
    EXPECT_TRUE(report.ok()) << report.status();
    EXPECT_EQ(report->tables.size(), db_.config().tables.size())
        << testing::PrintToString(report->problems);
    return report->tables;
  }

  void SetPolicy(const std::string& container, int64_t default_ttl) {
    db_.Sql(absl::Substitute(
        "INSERT INTO ttl.policy VALUES ('$0', $1, 1, now()) ON CONFLICT (container) DO UPDATE SET "
        "default_ttl = excluded.default_ttl",
        container, default_ttl));
  }

  // Threads 'big', of one checkpoint and kRows writes, and 'small', long past.
  void OpenThreads() {
    db_.Sql(kCreateCheckpoints);
    db_.Sql(absl::Substitute(
        "INSERT INTO checkpoints (thread_id, checkpoint_id, checkpoint, ttl_written_at) SELECT t, "
        "1, '{}', '2001-01-01' FROM unnest(ARRAY['big', 'small']) AS t;"
        "INSERT INTO checkpoint_writes (thread_id, checkpoint_id, task_id, idx, channel, blob, "
        "ttl_written_at) SELECT 'big', 1, 'x', i, 'c', '', '2001-01-01' FROM generate_series(1, "
        "$0) AS i;"
        "$1 CREATE TRIGGER slow BEFORE DELETE ON checkpoint_writes FOR EACH ROW WHEN "
        "(OLD.thread_id = 'big') EXECUTE FUNCTION slow()",
        kRows, kSlowDeletes));
    Open(Threads(), 60);
  }

  // Deletes all expired groups, and returns the result of the first.
  v1::DeleteResult DeleteFirst(const std::string& container) {
    const v1::DeleteItemsResponse response = db_.DeleteAll(container);
    EXPECT_GT(response.results_size(), 0) << "no group is expired";
    return response.results_size() == 0 ? v1::DeleteResult() : response.results(0);
  }

  // The first of the groups, by its second delete that takes too long. The sidecar learns that the
  // group is deleted, so that it answers no hold on it.
  void CondemnFirst(const std::string& container) {
    ASSERT_EQ(DeleteFirst(container).outcome(), v1::DELETE_OUTCOME_THROTTLED);
    ASSERT_EQ(Condemned(), "");
    ASSERT_EQ(DeleteFirst(container).outcome(), v1::DELETE_OUTCOME_DELETED);
  }

  void Condemn() {
    OpenThreads();
    CondemnFirst("threads");
    ASSERT_EQ(Condemned(), "big");
  }

  // Order 1 of kRows lines, long past.
  void FillOrder(const std::string& on_delete) {
    db_.Sql(kCreateOrders);
    db_.Sql(absl::Substitute(
        "ALTER TABLE lines DROP CONSTRAINT lines_order_id_part_fkey, ADD FOREIGN KEY (order_id, "
        "part) REFERENCES orders $2;"
        "INSERT INTO orders VALUES (1, 1, '2001-01-01'), (1, 2, '2001-01-01');"
        "INSERT INTO lines SELECT 1, 1, i FROM generate_series(1, $0) AS i;"
        "$1 CREATE TRIGGER slow BEFORE DELETE ON lines FOR EACH ROW EXECUTE FUNCTION slow()",
        kRows, kSlowDeletes, on_delete));
  }

  void CondemnOrder(const std::string& on_delete) {
    FillOrder(on_delete);
    Open(Orders(), -1);
    CondemnFirst("orders");
    ASSERT_EQ(Condemned(), "1");
  }

  std::string Condemned() {
    return db_.Value("SELECT coalesce(string_agg(key[1], ' '), '') FROM ttl.condemned");
  }

  // Deletes pieces until no group is condemned; `look` is called before each.
  template <typename Look>
  void DeletePieces(const Look& look) {
    for (int i = 0; i < 1000 && !Condemned().empty() && !HasFailure(); ++i) {
      look();
      db_.store().DeletePieces();
    }
    EXPECT_EQ(Condemned(), "");
  }
  void DeletePieces() {
    DeletePieces([] {});
  }
  // As many as are deleted before one has an effect.
  void DeleteOnePiece(const std::string& rows) {
    const std::string before = Count(rows);
    for (int i = 0; i < 20 && Count(rows) == before; ++i) db_.store().DeletePieces();
    ASSERT_NE(Count(rows), before);
  }

  std::string Count(const std::string& rows) {
    return db_.Value(absl::StrCat("SELECT count(*) FROM ", rows));
  }

  void Write(const std::string& thread, int idx, const std::string& at) {
    db_.Sql(absl::Substitute(
        "INSERT INTO checkpoint_writes (thread_id, checkpoint_id, task_id, idx, channel, blob, "
        "ttl_written_at) VALUES ('$0', '2', 'y', $1, 'c', '', $2)",
        thread, idx, at));
  }

  StoreForTest db_;
  std::vector<TableDefinition> tables_;
};

TEST_F(DeleteGroupPiecesTest, CondemnedGroupIsHiddenUntilAllOfItIsGone) {
  {
    const CapturedLog log;
    Condemn();
    EXPECT_THAT(log.text(), HasSubstr("group is condemned, and deleted in pieces: "
                                      "container=\"threads\" key=\"big\""));
  }
  const v1::DeleteItemsRequest request = [&] {
    v1::Item item;
    item.set_id("big");
    item.set_ts(978'307'200);
    return StoreForTest::Judged("threads", {item});
  }();
  int pieces = 0;
  DeletePieces([&] {
    ++pieces;
    EXPECT_EQ(Count("live.checkpoint_writes"), "0");
    EXPECT_EQ(Count("live.checkpoints"), "0");
    EXPECT_TRUE(db_.Items("threads").empty());
    EXPECT_EQ(Outcomes(db_.Delete(request)), "THROTTLED");
  });
  EXPECT_GT(pieces, 4);
  EXPECT_EQ(Count("checkpoint_writes"), "0");
  EXPECT_EQ(Count("checkpoints"), "0");
  EXPECT_EQ(Outcomes(db_.Delete(request)), "NOT_FOUND");
  const StoreCounters& counters = *db_.store().CountersOf("threads");
  EXPECT_EQ(counters.condemned_rows, kRows + 1);
  EXPECT_EQ(counters.condemned_groups, 0);
}

TEST_F(DeleteGroupPiecesTest, LaterWritesBeginANewGroup) {
  Condemn();
  DeleteOnePiece("checkpoint_writes");
  Write("big", 1, "now()");
  Write("big", 2, "'2001-01-01'");
  db_.Sql(
      "INSERT INTO checkpoints (thread_id, checkpoint_id, checkpoint) VALUES ('big', '2', '{}')");
  DeletePieces([&] {
    EXPECT_EQ(db_.Value("SELECT string_agg(checkpoint_id || idx, ' ' ORDER BY idx) FROM "
                        "live.checkpoint_writes"),
              "21 22");
    EXPECT_EQ(db_.Value("SELECT string_agg(checkpoint_id, ' ') FROM live.checkpoints"), "2");
    const std::vector<v1::Item> items = db_.Items("threads");
    ASSERT_EQ(items.size(), 1u);
    EXPECT_GT(items[0].ts(), 1'500'000'000);
  });
  EXPECT_EQ(Count("checkpoint_writes"), "2");
  EXPECT_EQ(Count("checkpoints"), "1");
}

TEST_F(DeleteGroupPiecesTest, ChangedRowIsOneOfTheNewGroup) {
  Condemn();
  db_.Sql("UPDATE checkpoint_writes SET ttl_written_at = now() WHERE idx = 7");
  EXPECT_EQ(db_.Value("SELECT string_agg(idx::text, ' ') FROM live.checkpoint_writes"), "7");
  DeletePieces();
  EXPECT_EQ(db_.Value("SELECT string_agg(idx::text, ' ') FROM checkpoint_writes"), "7");
}

// A new group that expires before the rows of the former are gone would not fit into one
// transaction with these.
TEST_F(DeleteGroupPiecesTest, NewGroupThatExpiresIsCondemnedWithTheFormer) {
  Condemn();
  Write("big", 1, "'2001-01-02'");
  EXPECT_EQ(Count("live.checkpoint_writes"), "0");
  EXPECT_EQ(Outcomes(db_.DeleteAll("threads")), "DELETED");
  EXPECT_TRUE(db_.Items("threads").empty());
  DeletePieces();
  EXPECT_EQ(Count("checkpoint_writes"), "0");
}

TEST_F(DeleteGroupPiecesTest, LongerPolicyDoesNotBringRowsBack) {
  Condemn();
  DeleteOnePiece("checkpoint_writes");
  for (const int64_t default_ttl : {2'147'483'647, -1}) {
    SetPolicy("threads", default_ttl);
    EXPECT_EQ(Count("live.checkpoint_writes"), "0");
    EXPECT_EQ(Count("live.checkpoints"), "0");
  }
  DeletePieces();
  EXPECT_EQ(Count("checkpoint_writes"), "0");
}

// The savepoint has its number before the group is condemned, and writes the row after it.
TEST_F(DeleteGroupPiecesTest, RowOfATransactionThatIsOpenMeanwhileIsOneOfTheNewGroup) {
  OpenThreads();
  db_.Sql("CREATE TABLE notes (n int)");
  const auto writer = db_.Connect();
  ASSERT_TRUE(writer
                  ->Execute("BEGIN; INSERT INTO notes VALUES (1); SAVEPOINT s; INSERT INTO notes "
                            "VALUES (2)")
                  .ok());
  db_.Sql("INSERT INTO notes VALUES (3)");  // a later transaction that has ended
  CondemnFirst("threads");
  ASSERT_EQ(Condemned(), "big");
  ASSERT_TRUE(writer
                  ->Execute("INSERT INTO checkpoint_writes (thread_id, checkpoint_id, task_id, "
                            "idx, channel, blob) VALUES ('big', '2', 'y', 1, 'c', ''); RELEASE s; "
                            "COMMIT")
                  .ok());
  EXPECT_EQ(Count("live.checkpoint_writes"), "1");
  DeletePieces();
  EXPECT_EQ(Count("checkpoint_writes"), "1");
}

TEST_F(DeleteGroupPiecesTest, GroupWithRowsThatAreNewerThanAnOpenTransactionIsNotCondemned) {
  db_.Sql("CREATE TABLE notes (n int)");
  const auto writer = db_.Connect();
  ASSERT_TRUE(writer->Execute("BEGIN; INSERT INTO notes VALUES (1)").ok());
  OpenThreads();
  db_.Sql(
      "CREATE SEQUENCE tried; CREATE OR REPLACE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql "
      "AS $$BEGIN PERFORM nextval('tried'), pg_sleep(0.005); RETURN OLD; END$$");
  EXPECT_EQ(DeleteFirst("threads").outcome(), v1::DELETE_OUTCOME_THROTTLED);
  std::string tried;
  for (int i = 0; i < 3; ++i) {
    const v1::DeleteResult result = DeleteFirst("threads");
    EXPECT_EQ(result.outcome(), v1::DELETE_OUTCOME_FAILED);
    EXPECT_THAT(result.reason(), HasSubstr("newer than a transaction that is open"));
    // Only the second call tried again whether the rows can be deleted at once.
    if (i > 0) {
      EXPECT_EQ(db_.Value("SELECT last_value FROM tried"), tried);
    }
    tried = db_.Value("SELECT last_value FROM tried");
  }
  EXPECT_EQ(Condemned(), "");
  ASSERT_TRUE(writer->Execute("COMMIT").ok());
  EXPECT_EQ(Outcomes(db_.DeleteAll("threads")), "DELETED");
  EXPECT_EQ(Condemned(), "big");
}

TEST_F(DeleteGroupPiecesTest, KeyOfACondemnedRowIsInUse) {
  Condemn();
  const std::string insert =
      "INSERT INTO checkpoint_writes (thread_id, checkpoint_id, task_id, idx, channel, blob, "
      "task_path) VALUES ('big', '1', 'x', 7, 'new', '', 'p')";
  const auto application = db_.Connect();
  EXPECT_EQ(SqlState(application->Execute(insert).status()), "23505");
  EXPECT_TRUE(application->Execute(absl::StrCat(insert, " ON CONFLICT DO NOTHING")).ok());
  EXPECT_EQ(Count("live.checkpoint_writes"), "0");
  // The row is now one of the new group, with its former values in the other columns.
  EXPECT_TRUE(application
                  ->Execute(absl::StrCat(insert,
                                         " ON CONFLICT (thread_id, checkpoint_ns, checkpoint_id, "
                                         "task_id, idx) DO UPDATE SET channel = excluded.channel, "
                                         "ttl_written_at = now()"))
                  .ok());
  EXPECT_EQ(db_.Value("SELECT string_agg(idx || channel || task_path, ' ') FROM "
                      "live.checkpoint_writes"),
            "7new");
  // From 15.20 on PostgreSQL refuses to update a row that the view hides.
  const absl::Status through_view =
      application
          ->Execute(
              "INSERT INTO live.checkpoint_writes (thread_id, checkpoint_id, task_id, idx, "
              "channel, blob) VALUES ('big', '1', 'x', 8, 'new', '') ON CONFLICT (thread_id, "
              "checkpoint_ns, checkpoint_id, task_id, idx) DO UPDATE SET channel = "
              "excluded.channel, ttl_written_at = now()")
          .status();
  EXPECT_TRUE(through_view.ok() || SqlState(through_view) == "55000") << through_view;
  const std::string kept = through_view.ok() ? "2" : "1";
  EXPECT_EQ(Count("live.checkpoint_writes"), kept);
  DeletePieces();
  EXPECT_EQ(Count("checkpoint_writes"), kept);
}

// Whatever the key does on a delete, the new row and the one that it refers to stay.
TEST_F(DeleteGroupPiecesTest, CondemnedRowToWhichANewOneRefersStaysAndIsNamed) {
  for (const char* on_delete : {"", "ON DELETE CASCADE", "ON DELETE SET NULL"}) {
    SCOPED_TRACE(on_delete);
    db_.Sql("DROP TABLE IF EXISTS lines, orders CASCADE; DROP FUNCTION IF EXISTS slow CASCADE");
    CondemnOrder(on_delete);
    db_.Sql("INSERT INTO lines VALUES (1, 1, 0); INSERT INTO orders VALUES (1, 3, NULL)");
    v1::Item item;
    item.set_id("1");
    item.set_ts(1);
    for (int i = 0; i < 200 && Count("lines") != "1"; ++i) db_.store().DeletePieces();
    for (int i = 0; i < 3; ++i) db_.store().DeletePieces();
    EXPECT_EQ(Count("lines"), "1");
    EXPECT_EQ(db_.Value("SELECT string_agg(part::text, ' ' ORDER BY part) FROM orders"), "1 3");
    EXPECT_THAT(db_.Value("SELECT fault FROM ttl.condemned"), HasSubstr("refer to rows"));
    EXPECT_EQ(Count("live.lines"), "1");
    EXPECT_EQ(Count("live.orders"), "1");
    // Without rows that are live, the group is what could not be deleted.
    db_.Sql("DELETE FROM orders WHERE part = 3; DELETE FROM lines");
    const v1::DeleteItemsResponse response = db_.Delete(StoreForTest::Judged("orders", {item}));
    EXPECT_EQ(Outcomes(response), "FAILED");
    EXPECT_THAT(response.results(0).reason(), HasSubstr("refer to rows"));
    DeletePieces();
    EXPECT_EQ(Count("orders"), "0");
  }
}

TEST_F(DeleteGroupPiecesTest, ForeignKeyFromOutsideIsTheReasonAndNothingElseIsLost) {
  CondemnOrder("");
  db_.Sql(
      "CREATE TABLE bills (id bigint, part int, FOREIGN KEY (id, part) REFERENCES orders);"
      "INSERT INTO bills VALUES (1, 2)");
  for (int i = 0; i < 200 && Count("lines") != "0"; ++i) db_.store().DeletePieces();
  for (int i = 0; i < 3; ++i) db_.store().DeletePieces();
  EXPECT_THAT(db_.Value("SELECT fault FROM ttl.condemned"), HasSubstr("bills"));
  EXPECT_EQ(Count("lines"), "0");
  EXPECT_EQ(Count("live.orders"), "0");
  EXPECT_EQ(Count("orders"), "2");
  db_.Sql("DELETE FROM bills");
  DeletePieces();
  EXPECT_EQ(Count("orders"), "0");
}

TEST_F(DeleteGroupPiecesTest, TriggerThatKeepsARowIsTheReason) {
  Condemn();
  db_.Sql(
      "CREATE FUNCTION keep() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'; CREATE "
      "TRIGGER keep BEFORE DELETE ON checkpoints FOR EACH ROW EXECUTE FUNCTION keep()");
  for (int i = 0; i < 200 && Count("ttl.condemned WHERE fault LIKE '%trigger%'") == "0"; ++i) {
    db_.store().DeletePieces();
  }
  EXPECT_EQ(Count("ttl.condemned WHERE fault LIKE '%trigger%'"), "1");
  EXPECT_EQ(Count("checkpoints"), "1");
  EXPECT_EQ(Count("live.checkpoints"), "0");
  db_.Sql("DROP TRIGGER keep ON checkpoints");
  DeletePieces();
  EXPECT_EQ(Count("checkpoints"), "0");
}

TEST_F(DeleteGroupPiecesTest, RowThatAloneTakesTooLongIsTheReason) {
  Condemn();
  db_.Sql(
      "CREATE FUNCTION hang() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN PERFORM pg_sleep(60); "
      "RETURN OLD; END$$; CREATE TRIGGER hang BEFORE DELETE ON checkpoint_writes FOR EACH ROW WHEN "
      "(OLD.idx = 7) EXECUTE FUNCTION hang()");
  for (int i = 0; i < 200 && Count("ttl.condemned WHERE fault IS NOT NULL") == "0"; ++i) {
    db_.store().DeletePieces();
  }
  EXPECT_THAT(db_.Value("SELECT fault FROM ttl.condemned"), HasSubstr("statement timeout"));
  EXPECT_EQ(Count("live.checkpoint_writes"), "0");
}

TEST_F(DeleteGroupPiecesTest, GroupWithAForeignKeyToItsOwnTableIsNotCondemned) {
  OpenThreads();
  db_.Sql(
      "ALTER TABLE checkpoint_writes ADD COLUMN n int UNIQUE, ADD COLUMN parent int REFERENCES "
      "checkpoint_writes (n)");
  EXPECT_EQ(DeleteFirst("threads").outcome(), v1::DELETE_OUTCOME_THROTTLED);
  const v1::DeleteResult result = DeleteFirst("threads");
  EXPECT_EQ(result.outcome(), v1::DELETE_OUTCOME_FAILED);
  EXPECT_THAT(result.reason(), HasSubstr("foreign key to itself"));
  EXPECT_EQ(Condemned(), "");
}

TEST_F(DeleteGroupPiecesTest, LockedRowIsLeftForLater) {
  Condemn();
  const auto reader = db_.Connect();
  ASSERT_TRUE(reader->Execute("BEGIN; SELECT FROM checkpoint_writes WHERE idx = 7 FOR SHARE").ok());
  for (int i = 0; i < 200 && Count("checkpoint_writes") != "1"; ++i) db_.store().DeletePieces();
  for (int i = 0; i < 3; ++i) db_.store().DeletePieces();
  EXPECT_EQ(Count("checkpoint_writes"), "1");
  EXPECT_EQ(Count("ttl.condemned WHERE fault IS NULL"), "1");
  ASSERT_TRUE(reader->Execute("COMMIT").ok());
  DeletePieces();
  EXPECT_EQ(Count("checkpoint_writes"), "0");
}

TEST_F(DeleteGroupPiecesTest, GroupWithAFaultDoesNotKeepOthersWaiting) {
  Condemn();
  db_.Sql(
      "INSERT INTO ttl.condemned SELECT relation, 1, ARRAY['stuck ' || i], before_xid, system, "
      "now(), 'a fault' FROM ttl.condemned, generate_series(1, 100) AS i");
  const std::string before = Count("checkpoint_writes");
  for (int i = 0; i < 10; ++i) db_.store().DeletePieces();
  EXPECT_NE(Count("checkpoint_writes"), before);
}

TEST_F(DeleteGroupPiecesTest, PauseIsTheSumOfThoseAfterThePiecesOfAllContainers) {
  db_.config().statement_timeout = absl::Minutes(1);
  db_.Sql(kCreateCheckpoints);
  db_.Sql(kCreateOrders);
  db_.Sql(
      "INSERT INTO orders VALUES (1, 1, NULL); INSERT INTO checkpoints (thread_id, checkpoint_id, "
      "checkpoint) VALUES ('1', 1, '{}');"
      "CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN PERFORM pg_sleep(0.4); "
      "RETURN OLD; END$$;"
      "CREATE TRIGGER slow BEFORE DELETE ON orders FOR EACH ROW EXECUTE FUNCTION slow();"
      "CREATE TRIGGER slow BEFORE DELETE ON checkpoints FOR EACH ROW EXECUTE FUNCTION slow()");
  db_.config().tables = {Threads(), Orders()};
  db_.Sql(InstallSql(db_.config(), Defined()));
  tables_ = Defined();
  db_.OpenDefined(tables_);
  db_.Sql(
      "INSERT INTO ttl.condemned SELECT g.relation, g.hash, ARRAY['1'], "
      "pg_snapshot_xmax(pg_current_snapshot())::text::bigint, s.system_identifier FROM "
      "pg_control_system() AS s, (VALUES ('orders'::regclass, hash_record(ROW(1::bigint))), "
      "('checkpoints'::regclass, hash_record(ROW('1'::text)))) AS g (relation, hash)");
  EXPECT_EQ(db_.store().DeletePieces(), 2 * kMaxDeletePause);
  EXPECT_EQ(Count("orders"), "0");
  EXPECT_EQ(Count("checkpoints"), "0");
}

TEST_F(DeleteGroupPiecesTest, GroupsAreCountedWhileDeletesPause) {
  Condemn();
  bool is_busy = true;
  PrimaryStore restarted(
      db_.config(), tables_, db_.position(),
      [&]() -> std::optional<absl::Duration> {
        return is_busy ? std::optional(absl::Seconds(7)) : std::nullopt;
      },
      [] { return uint64_t{0}; }, [] { return absl::Now(); });
  const std::string before = Count("checkpoint_writes");
  EXPECT_EQ(restarted.DeletePieces(), absl::Seconds(7));
  EXPECT_EQ(restarted.CountersOf("threads")->condemned_groups, 1);
  EXPECT_EQ(Count("checkpoint_writes"), before);
  // A stop is no fault of the database.
  is_busy = false;
  const CapturedLog log;
  restarted.Close();
  restarted.DeletePieces();
  EXPECT_EQ(log.text(), "");
}

// There may always be a group that has none.
TEST_F(DeleteGroupPiecesTest, GroupWithAFaultDoesNotWaitForAllOthers) {
  Condemn();
  db_.Sql(
      "INSERT INTO checkpoints (thread_id, checkpoint_id, checkpoint) VALUES ('locked', 1, '{}')");
  db_.Sql(
      "UPDATE ttl.condemned SET fault = 'a fault';"
      "INSERT INTO ttl.condemned SELECT relation, hash_record(ROW('locked'::text)), "
      "ARRAY['locked'], pg_snapshot_xmax(pg_current_snapshot())::text::bigint, system FROM "
      "ttl.condemned");
  const auto reader = db_.Connect();
  ASSERT_TRUE(
      reader->Execute("BEGIN; SELECT FROM checkpoints WHERE thread_id = 'locked' FOR SHARE").ok());
  for (int i = 0; i < 1000 && Count("checkpoint_writes") == absl::StrCat(kRows); ++i) {
    db_.store().DeletePieces();
  }
  EXPECT_NE(Count("checkpoint_writes"), absl::StrCat(kRows));
}

// As after a restore of a dump: the numbers of transactions are those of another server.
TEST_F(DeleteGroupPiecesTest, EntryOfAnotherServerHasNoEffect) {
  Condemn();
  db_.Sql("UPDATE ttl.condemned SET system = system + 1, before_xid = 1000000000");
  Write("big", 1, "now()");
  EXPECT_EQ(Count("live.checkpoint_writes"), absl::StrCat(kRows + 1));
  db_.store().DeletePieces();
  EXPECT_EQ(Count("checkpoint_writes"), absl::StrCat(kRows + 1));
  db_.Sql(InstallSql(db_.config(), tables_));
  EXPECT_EQ(Condemned(), "");
}

TEST_F(DeleteGroupPiecesTest, InstallKeepsWhatIsCondemned) {
  Condemn();
  db_.Sql(InstallSql(db_.config(), tables_));
  EXPECT_EQ(Condemned(), "big");
  Write("big", 1, "now()");
  EXPECT_EQ(Count("live.checkpoint_writes"), "1");
}

// A reader has no rights on the entries, and other settings.
TEST_F(DeleteGroupPiecesTest, ReaderSeesOnlyTheNewGroupAndNoKeys) {
  Condemn();
  Write("big", 1, "now()");
  db_.Sql(absl::StrCat("DROP ROLE IF EXISTS reader_", db_.name(), "; CREATE ROLE reader_",
                       db_.name(), "; GRANT SELECT ON checkpoint_writes TO reader_", db_.name()));
  const auto reader = db_.Connect();
  ASSERT_TRUE(reader
                  ->Execute(absl::StrCat("SET ROLE reader_", db_.name(),
                                         "; SET DateStyle = 'German'; SET bytea_output = escape"))
                  .ok());
  const auto seen = reader->Query("SELECT count(*) FROM live.checkpoint_writes");
  ASSERT_TRUE(seen.ok()) << seen.status();
  EXPECT_EQ(seen->Text(0, 0), "1");
  EXPECT_EQ(SqlState(reader->Query("SELECT key FROM ttl.condemned").status()), "42501");
  db_.Sql(absl::StrCat("DROP OWNED BY reader_", db_.name(), "; DROP ROLE reader_", db_.name()));
}

// An operator who cancels deletes may want to save the rows.
TEST_F(DeleteGroupPiecesTest, GroupWhoseDeletesAreCancelledIsNotCondemned) {
  db_.config().statement_timeout = 10 * kTimeout;
  OpenThreads();
  std::atomic<bool> is_over = false;
  std::thread canceller([&] {
    const auto connection = db_.Connect();
    while (!is_over) {
      EXPECT_TRUE(connection
                      ->Query("SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE "
                              "application_name = 'ttl-postgres deletes' AND wait_event = "
                              "'PgSleep'")
                      .ok());
    }
  });
  for (int i = 0; i < 4; ++i) {
    const v1::DeleteResult result = DeleteFirst("threads");
    EXPECT_EQ(result.outcome(), v1::DELETE_OUTCOME_FAILED);
    EXPECT_THAT(result.reason(), HasSubstr("user request"));
  }
  is_over = true;
  canceller.join();
  EXPECT_EQ(Condemned(), "");
  EXPECT_EQ(Count("checkpoint_writes"), absl::StrCat(kRows));
}

// PostgreSQL applies the policies to rows that are not written yet, too.
TEST_F(DeleteGroupPiecesTest, GroupUnderRowLevelSecurityIsNotCondemned) {
  FillOrder("");
  TableConfig orders = Orders();
  orders.row_level_security = true;
  Open(orders, -1);
  for (int i = 0; i < 3; ++i) {
    const v1::DeleteResult result = DeleteFirst("orders");
    EXPECT_EQ(result.outcome(), v1::DELETE_OUTCOME_FAILED);
    EXPECT_THAT(result.reason(), HasSubstr("row_level_security"));
  }
  EXPECT_EQ(Condemned(), "");
}

TEST_F(DeleteGroupPiecesTest, PoliciesOfRowLevelSecurityRefuseNoWriter) {
  db_.Sql(kCreateOrders);
  db_.Sql(
      "INSERT INTO orders VALUES (1, 1, '2001-01-01'); GRANT SELECT, INSERT, UPDATE ON orders TO "
      "PUBLIC");
  TableConfig orders = Orders();
  orders.row_level_security = true;
  Open(orders, -1);
  db_.Sql(
      "INSERT INTO ttl.condemned SELECT 'orders'::regclass, hash_record(ROW(1::bigint)), "
      "ARRAY['1'], pg_snapshot_xmax(pg_current_snapshot())::text::bigint, system_identifier FROM "
      "pg_control_system()");
  db_.Sql(absl::StrCat("CREATE ROLE writer_", db_.name()));
  const auto writer = db_.Connect();
  ASSERT_TRUE(writer->Execute(absl::StrCat("SET ROLE writer_", db_.name())).ok());
  for (const char* statement :
       {"INSERT INTO orders VALUES (1, 3, 'infinity') RETURNING part",
        "INSERT INTO orders VALUES (1, 3, 'infinity') ON CONFLICT (id, part) DO UPDATE SET "
        "expires_at = excluded.expires_at RETURNING part",
        "UPDATE orders SET expires_at = 'infinity' WHERE part = 3 RETURNING part"}) {
    const auto written = writer->Query(statement);
    ASSERT_TRUE(written.ok()) << written.status();
    EXPECT_EQ(written->rows(), 1) << statement;
  }
  db_.Sql(absl::StrCat("DROP ROLE writer_", db_.name()));
}

// Its policies would show the condemned rows.
TEST_F(DeleteGroupPiecesTest, InstallRefusesRowLevelSecurityWhileAGroupIsCondemned) {
  Condemn();
  tables_[0].config.row_level_security = true;
  const absl::Status refused = db_.Connect()->Execute(InstallSql(db_.config(), tables_)).status();
  EXPECT_THAT(std::string(refused.message()), HasSubstr("being deleted in pieces"));
  DeletePieces();
  db_.Sql(InstallSql(db_.config(), tables_));
}

// While no group is condemned, a statement looks once whether one is, and calls no function for the
// rows that are live by their times.
TEST_F(DeleteGroupPiecesTest, NothingIsCalledForLiveRowsWhileNoGroupIsCondemned) {
  OpenThreads();
  db_.Sql(
      "INSERT INTO checkpoints (thread_id, checkpoint_id, checkpoint) SELECT i, 1, '{}' FROM "
      "generate_series(1, 20000) i; ANALYZE checkpoints; DELETE FROM checkpoints WHERE thread_id "
      "IN ('big', 'small')");
  std::string plan;
  const auto connection = db_.Connect();
  ASSERT_TRUE(connection->Execute("SET track_functions = 'all'").ok());
  const auto lines = connection->Query(
      "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) SELECT FROM live.checkpoints WHERE thread_id = "
      "'77'");
  ASSERT_TRUE(lines.ok()) << lines.status();
  for (int i = 0; i < lines->rows(); ++i) absl::StrAppend(&plan, lines->Text(i, 0), "\n");
  EXPECT_THAT(plan, HasSubstr("Index"));
  EXPECT_THAT(plan, Not(HasSubstr("Seq Scan on checkpoints")));
  EXPECT_THAT(plan, HasSubstr("InitPlan"));  // whether a group is condemned
  EXPECT_THAT(plan, Not(HasSubstr("SubPlan")));
  const auto calls = connection->Query(
      "SELECT (SELECT count(*) FROM live.checkpoints), (SELECT count(*) FROM "
      "pg_stat_xact_user_functions WHERE funcname LIKE 'is_condemned%')");
  ASSERT_TRUE(calls.ok()) << calls.status();
  EXPECT_EQ(calls->Text(0, 0), "20000");
  EXPECT_EQ(calls->Text(0, 1), "0");
}

// It would pass over all condemned rows for each of them.
TEST_F(DeleteGroupPiecesTest, FunctionOfTheGroupIsNotCalledForCondemnedRows) {
  Condemn();
  const auto connection = db_.Connect();
  ASSERT_TRUE(connection->Execute("SET track_functions = 'all'").ok());
  const auto calls = connection->Query(
      "SELECT (SELECT count(*) FROM live.checkpoint_writes), (SELECT count(*) FROM "
      "pg_stat_xact_user_functions WHERE funcname LIKE 'group_is_live%')");
  ASSERT_TRUE(calls.ok()) << calls.status();
  EXPECT_EQ(calls->Text(0, 0), "0");
  EXPECT_EQ(calls->Text(0, 1), "0");
}

TEST_F(DeleteGroupPiecesTest, WritersAreComparedByAllOfTheirBits) {
  const auto is_before = [&](const std::string& xid, const std::string& before) {
    return db_.Value(absl::StrCat(
        "SELECT ", IsBefore(absl::StrCat("(", xid, ")::text::xid"), absl::StrCat("(", before, ")")),
        " FROM (SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint AS next) AS s"));
  };
  EXPECT_EQ(is_before("next - 1", "next"), "t");
  EXPECT_EQ(is_before("next - 1", "next - 1"), "f");
  EXPECT_EQ(is_before("next", "next"), "f");
  EXPECT_EQ(is_before("next + 1000", "next"), "f");  // began while a statement waited
  EXPECT_EQ(is_before("2", "next"), "t");            // frozen by an old version
  EXPECT_EQ(is_before("next + 1000000000", "next"), "f");
}

}  // namespace
}  // namespace ttl::postgres
