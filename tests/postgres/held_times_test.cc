// Tables by commit time that ALTER TABLE rewrites.

#include "client/postgres/sql/held_times.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/postgres/sql/check/times_check.h"
#include "client/postgres/sql/install/installation.h"
#include "client/postgres/sql/visibility.h"
#include "tests/postgres/database_for_test.h"
#include "tests/testing/wait.h"

namespace ttl::postgres {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kVolatileDefault[] = "ALTER TABLE rows ADD other uuid DEFAULT gen_random_uuid()";

class HeldTimesTest : public testing::Test {
 protected:
  void Prepare(const std::string& live_view = "rows_live") {
    TableConfig table;
    table.container = "rows";
    table.table = "rows";
    table.id = {"id"};
    table.accept_commit_time = true;
    table.live_view = live_view;
    config_ = database_.ConfigFor({table});
    database_.Install(config_);
  }

  void PrepareRows(const std::string& live_view = "rows_live") {
    OneByOne({"CREATE TABLE rows (id int PRIMARY KEY, note text)",
              "INSERT INTO rows VALUES (1, 'a')", "INSERT INTO rows VALUES (2, 'b')",
              "INSERT INTO rows VALUES (3, 'c')", "DELETE FROM rows WHERE id = 2",
              "UPDATE rows SET note = 'd' WHERE id = 1"});
    Prepare(live_view);
  }

  // Each in a transaction of its own.
  void OneByOne(const std::vector<std::string>& statements) {
    for (const std::string& statement : statements) database_.Sql(statement);
  }

  // As the view and the adapter have it.
  std::string Times(const std::string& which = "true") {
    return database_.Value(absl::StrCat("SELECT string_agg(id || ' ' || extract(epoch FROM ",
                                        CommitTimeOfRow(config_.schema),
                                        "), ', ' ORDER BY id) FROM rows AS t WHERE ", which));
  }

  std::string Held() {
    return database_.Value(
        "SELECT (SELECT count(*) FROM ttl.held_times) || ' of ' || "
        "(SELECT count(*) FROM ttl.rewrites)");
  }

  void SetPolicy(const std::string& default_ttl) {
    database_.Sql(absl::StrCat(
        "INSERT INTO ttl.policy VALUES ('rows', ", default_ttl,
        ", 1, now()) ON CONFLICT (container) DO UPDATE SET default_ttl = ", default_ttl));
  }

  void RemoveHeld() {
    const absl::Status removed = RemoveHeldTimes(database_.connection(), config_.schema);
    EXPECT_TRUE(removed.ok()) << removed;
  }

  DatabaseForTest database_;
  Config config_;
};

TEST_F(HeldTimesTest, EveryRewriteKeepsTheTimes) {
  PrepareRows("");
  database_.Sql(absl::StrCat("ALTER PUBLICATION ", config_.publication, " DROP TABLE rows"));
  for (const char* rewrite :
       {kVolatileDefault, "ALTER TABLE rows ALTER note TYPE varchar(9) USING note || note",
        "ALTER TABLE rows ALTER note TYPE int USING 1",
        "ALTER TABLE rows DROP CONSTRAINT rows_pkey; ALTER TABLE rows ALTER id TYPE numeric(9);"
        "ALTER TABLE rows ADD PRIMARY KEY (id)",
        "ALTER TABLE rows SET UNLOGGED", "ALTER TABLE rows SET LOGGED"}) {
    const std::string before = Times();
    const std::string file = database_.Value("SELECT pg_relation_filenode('rows')");
    database_.Sql(rewrite);
    EXPECT_NE(database_.Value("SELECT pg_relation_filenode('rows')"), file);
    EXPECT_EQ(Times(), before) << rewrite;
  }
}

// The new index cannot be opened while the old rows are read.
TEST_F(HeldTimesTest, NewTypeOfAnIndexedColumnHoldsNothing) {
  for (const char* indexed : {"CREATE INDEX ON rows (note)",
                              "CREATE INDEX ON rows USING gin "
                              "((ARRAY[note]))",
                              "CREATE INDEX ON rows USING brin (note)"}) {
    SCOPED_TRACE(indexed);
    PrepareRows("");
    database_.Sql(indexed);
    database_.Sql("ALTER TABLE rows ALTER note TYPE varchar(9) USING note || note");
    EXPECT_EQ(Held(), "0 of 0");
    EXPECT_EQ(database_.Value("SELECT string_agg(note, ' ' ORDER BY id) FROM rows"), "dd cc");
    database_.Sql("DROP TABLE rows");
  }
}

TEST_F(HeldTimesTest, ExpiredRowStaysHiddenAndALiveOneExpiresWhenItWouldHave) {
  PrepareRows();
  SetPolicy("1");
  const auto live = [&] {
    return database_.Value(
        "SELECT coalesce(string_agg(id::text, ' ' ORDER BY id), '') "
        "FROM rows_live");
  };
  ASSERT_TRUE(WaitUntil([&] { return live().empty(); }, absl::Seconds(60)));
  // No row of before is live under the policy that would show those of a second ago.
  SetPolicy(
      "(SELECT greatest(1, floor(extract(epoch FROM now() - max(pg_xact_commit_timestamp(xmin))))) "
      "FROM rows)::bigint");
  database_.Sql(kVolatileDefault);
  EXPECT_EQ(live(), "");
  SetPolicy("3600");
  EXPECT_EQ(live(), "1 3");
}

TEST_F(HeldTimesTest, PartitionsAreHeldOneByOne) {
  OneByOne(
      {"CREATE TABLE rows (id int PRIMARY KEY, note text) PARTITION BY RANGE (id)",
       "CREATE TABLE rows_1 PARTITION OF rows FOR VALUES FROM (1) TO (10)",
       "CREATE TABLE rows_2 PARTITION OF rows FOR VALUES FROM (10) TO (20) PARTITION BY RANGE (id)",
       "CREATE TABLE rows_21 PARTITION OF rows_2 FOR VALUES FROM (10) TO (20)",
       "INSERT INTO rows VALUES (1, 'a')", "INSERT INTO rows VALUES (10, 'b')",
       "INSERT INTO rows VALUES (2, 'c')"});
  Prepare();
  const std::string before = Times();
  database_.Sql(kVolatileDefault);
  EXPECT_EQ(Times(), before);
  EXPECT_EQ(Held(), "3 of 2");
  database_.Sql("ALTER TABLE rows_21 SET UNLOGGED");
  EXPECT_EQ(Times(), before);
  OneByOne({"ALTER TABLE rows_21 SET LOGGED", "VACUUM FULL rows_1"});
  EXPECT_EQ(Times("id >= 10"), before.substr(before.find("10 ")));
  EXPECT_NE(Times(), before);
}

TEST_F(HeldTimesTest, RowThatIsWrittenAfterTheRewriteHasItsNewTime) {
  PrepareRows();
  database_.Sql(kVolatileDefault);
  const std::string third = Times("id = 3");
  const std::string first = Times("id = 1");
  database_.Sql("UPDATE rows SET note = 'new' WHERE id = 1");
  EXPECT_NE(Times("id = 1"), first);
  EXPECT_EQ(Times("id = 3"), third);
}

// What a migration fills in after the change, before it commits, is written by the application.
TEST_F(HeldTimesTest, RowThatIsWrittenInTheTransactionOfTheRewriteHasItsNewTime) {
  PrepareRows();
  const std::string third = Times("id = 3");
  database_.Sql(absl::StrCat("BEGIN; ", kVolatileDefault,
                             "; SET CONSTRAINTS ALL IMMEDIATE;"
                             "UPDATE rows SET note = 'new' WHERE id = 1;"
                             "INSERT INTO rows VALUES (4, 'new');"
                             "SAVEPOINT s; DELETE FROM rows WHERE id = 3; ROLLBACK TO s; COMMIT"));
  const auto written = [&](int id) {
    return absl::StrCat(id, " ",
                        database_.Value("SELECT extract(epoch FROM "
                                        "pg_xact_commit_timestamp(xmin)) FROM rows "
                                        "LIMIT 1"));
  };
  EXPECT_EQ(Times("id = 1"), written(1));
  EXPECT_EQ(Times("id = 4"), written(4));
  EXPECT_EQ(Times("id = 3"), third);
}

TEST_F(HeldTimesTest, TwoRewritesInOneTransactionWithAWriteBetweenThem) {
  PrepareRows();
  const std::string first = Times("id = 1");
  const std::string third = Times("id = 3");
  database_.Sql(
      absl::StrCat("BEGIN; ", kVolatileDefault,
                   "; UPDATE rows SET note = 'new' WHERE id = 1; SAVEPOINT a;"
                   "ALTER TABLE rows ADD more uuid DEFAULT gen_random_uuid();"
                   "ROLLBACK TO a; SAVEPOINT b;"
                   "ALTER TABLE rows ADD even_more uuid DEFAULT gen_random_uuid(); COMMIT"));
  EXPECT_EQ(Times("id = 3"), third);
  EXPECT_NE(Times("id = 1"), first);
  EXPECT_EQ(Held(), "3 of 2");
  RemoveHeld();
  EXPECT_EQ(Held(), "1 of 1");
}

TEST_F(HeldTimesTest, RewriteThatIsRolledBackLeavesNothing) {
  PrepareRows();
  const std::string before = Times();
  database_.Sql(absl::StrCat("BEGIN; ", kVolatileDefault, "; ROLLBACK"));
  EXPECT_EQ(Times(), before);
  EXPECT_EQ(Held(), "0 of 0");
}

// Rows are in other places then, where other rows were: what was held counts for none of them.
TEST_F(HeldTimesTest, WhatMovesRowsAfterARewriteMakesThemAsOldAsTheRewrite) {
  for (const char* moves : {"VACUUM FULL rows", "CLUSTER rows USING rows_pkey"}) {
    DatabaseForTest database;
    for (const char* statement :
         {"CREATE TABLE rows (id int PRIMARY KEY, note text)", "INSERT INTO rows VALUES (2, 'b')",
          "INSERT INTO rows VALUES (1, 'a')"}) {
      database.Sql(statement);
    }
    TableConfig table;
    table.container = "rows";
    table.table = "rows";
    table.id = {"id"};
    table.accept_commit_time = true;
    database.Install(database.ConfigFor({table}));
    database.Sql(kVolatileDefault);
    database.Sql("DELETE FROM rows WHERE id = 2");
    database.Sql(moves);
    const std::string time = CommitTimeOfRow("ttl");
    EXPECT_EQ(database.Value(absl::StrCat("SELECT ", time, " FROM rows AS t")),
              database.Value("SELECT pg_xact_commit_timestamp(xmin) FROM rows"))
        << moves;
  }
}

// A scan that shares the pages of another begins where that is, in the middle of the table.
TEST_F(HeldTimesTest, RewriteOfALargeTableKeepsTheOrder) {
  database_.Sql("ALTER SYSTEM SET shared_buffers = '1MB'");
  database_.RestartServer();
  database_.Sql(
      "CREATE TABLE rows (id int PRIMARY KEY, note text);"
      "CREATE PROCEDURE fill() LANGUAGE plpgsql AS $$BEGIN FOR i IN 0..99 LOOP"
      "  INSERT INTO rows SELECT i * 100 + n, repeat('x', 1000) FROM generate_series(1, 100) AS n;"
      "  COMMIT; END LOOP; END$$");
  database_.Sql("CALL fill()");
  Prepare();
  const std::string before = Times();
  database_.Sql(
      "BEGIN; DECLARE halfway CURSOR FOR SELECT note FROM rows; MOVE 6000 IN halfway; COMMIT");
  database_.Sql(kVolatileDefault);
  EXPECT_TRUE(Times() == before);
  database_.Sql("ALTER SYSTEM RESET shared_buffers");
  database_.RestartServer();
}

TEST_F(HeldTimesTest, TransactionWithASnapshotOfItsOwnHoldsNothing) {
  PrepareRows();
  database_.Sql(
      absl::StrCat("BEGIN ISOLATION LEVEL REPEATABLE READ; ", kVolatileDefault, "; COMMIT"));
  EXPECT_EQ(Held(), "0 of 0");
}

TEST_F(HeldTimesTest, WhatNoRowNeedsIsRemoved) {
  PrepareRows();
  database_.Sql("INSERT INTO rows SELECT i FROM generate_series(10, 25009) AS i");
  database_.Sql(kVolatileDefault);
  EXPECT_EQ(Held(), "25002 of 1");
  RemoveHeld();
  EXPECT_EQ(Held(), "25002 of 1");
  const std::string third = Times("id = 3");
  database_.Sql("UPDATE rows SET note = 'new' WHERE id <> 3");
  // Each call looks at a part.
  RemoveHeld();
  EXPECT_NE(Held(), "1 of 1");
  for (int call = 0; call < 5; ++call) RemoveHeld();
  EXPECT_EQ(Held(), "1 of 1");
  EXPECT_EQ(Times("id = 3"), third);
  database_.Sql("TRUNCATE rows");
  RemoveHeld();
  EXPECT_EQ(Held(), "0 of 0");
  database_.Sql("INSERT INTO rows VALUES (1)");
  database_.Sql("ALTER TABLE rows ADD more uuid DEFAULT gen_random_uuid()");
  EXPECT_EQ(Held(), "1 of 1");
  database_.Sql("DROP TABLE rows CASCADE");
  RemoveHeld();
  EXPECT_EQ(Held(), "0 of 0");
}

TEST_F(HeldTimesTest, OwnerOfTheTableNeedsNoRightOfOurs) {
  PrepareRows();
  const std::string owner = database_.CreateRole();
  database_.Sql(absl::StrCat("ALTER TABLE rows OWNER TO ", owner));
  const std::string before = Times();
  const absl::Status rewritten = database_.Connect(owner)->Execute(kVolatileDefault).status();
  EXPECT_TRUE(rewritten.ok()) << rewritten;
  EXPECT_EQ(Times(), before);
  const auto seen = database_.Connect(owner)->Query("SELECT id FROM rows_live");
  EXPECT_TRUE(seen.ok()) << seen.status();
}

// What check and preview say before anything is installed, and afterwards.
TEST_F(HeldTimesTest, CheckAndPreviewGoByHeldTimes) {
  PrepareRows();
  const auto seconds = [&] {
    return database_.Value(absl::StrCat("SELECT string_agg((",
                                        SecondsExpression(database_.Define(config_)[0]),
                                        ")::text, ' ' ORDER BY id) FROM rows AS t"));
  };
  const std::string before = seconds();
  database_.Sql(kVolatileDefault);
  EXPECT_EQ(seconds(), before);
  ASSERT_TRUE(database_.Uninstall(config_).ok());
  EXPECT_NE(seconds(), before);
}

TEST_F(HeldTimesTest, OtherTablesAreLeftAlone) {
  PrepareRows();
  database_.Sql(
      "CREATE TABLE other (id int); INSERT INTO other VALUES (1);"
      "ALTER TABLE other ALTER id TYPE bigint");
  EXPECT_EQ(Held(), "0 of 0");
}

TEST_F(HeldTimesTest, CheckSaysWhatHoldsWithAndWithoutASuperuser) {
  const std::string role = database_.CreateRole("REPLICATION");
  database_.Sql(absl::StrCat("GRANT CREATE ON DATABASE ", database_.name(), " TO ", role));
  database_.Sql(
      absl::StrCat("CREATE TABLE rows (id int PRIMARY KEY); ALTER TABLE rows OWNER TO ", role));
  TableConfig table;
  table.container = "rows";
  table.table = "rows";
  table.id = {"id"};
  table.accept_commit_time = true;
  config_ = database_.ConfigFor({table});
  config_.database = database_.Conninfo(role);
  const auto connection = database_.Connect(role);
  const auto report = [&] { return CheckCatalog(*connection, config_).value(); };
  const std::string create = CreateEventTriggersSql(config_.schema);
  EXPECT_THAT(report().warnings,
              Contains(AllOf(HasSubstr("a superuser creates them"), HasSubstr(create))));
  const absl::Status installed = connection->Execute(InstallSql(config_, report().tables)).status();
  ASSERT_TRUE(installed.ok()) << installed;
  EXPECT_THAT(report().warnings, Contains(HasSubstr(create)));
  database_.Sql(create);
  EXPECT_THAT(report().warnings, Contains(AllOf(HasSubstr("keeps their times"),
                                                Not(HasSubstr("CREATE EVENT TRIGGER")))));
  const std::string before = Times();
  ASSERT_TRUE(connection->Execute(kVolatileDefault).ok());
  EXPECT_EQ(Times(), before);
  database_.Sql("ALTER EVENT TRIGGER ttl_hold_times DISABLE");
  EXPECT_THAT(report().warnings, Contains(HasSubstr(create)));
}

TEST_F(HeldTimesTest, UninstallRemovesAll) {
  database_.Sql("CREATE TABLE rows (id int PRIMARY KEY, note text); INSERT INTO rows VALUES (1)");
  Prepare();
  EXPECT_EQ(database_.Value("SELECT count(*) FROM pg_event_trigger"), "2");
  database_.Sql(kVolatileDefault);
  database_.Sql("ALTER TABLE rows DROP other");
  EXPECT_EQ(Held(), "1 of 1");
  const absl::Status uninstalled = database_.Uninstall(config_);
  EXPECT_TRUE(uninstalled.ok()) << uninstalled;
  EXPECT_EQ(database_.Value("SELECT count(*) FROM pg_event_trigger"), "0");
  EXPECT_EQ(database_.Value("SELECT to_regnamespace('ttl') IS NULL"), "t");
}

}  // namespace
}  // namespace ttl::postgres
