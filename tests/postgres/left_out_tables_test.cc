// One table of several is dropped, renamed or changed while ttl-postgres runs.

#include <gtest/gtest.h>

#include <csignal>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tests/testing/ttl_postgres_fixture.h"
#include "tests/testing/wait.h"

namespace ttl {
namespace {

constexpr char kTables[] = R"sql(
  CREATE TABLE orders (id bigint PRIMARY KEY, ts timestamptz);
  CREATE TABLE carts (id bigint PRIMARY KEY, ts timestamptz);
  INSERT INTO orders VALUES (1, now());
  INSERT INTO carts VALUES (1, now());
  CREATE SCHEMA attic;
)sql";

constexpr char kConfig[] = R"yaml(
tables:
  - { container: orders, table: orders, id: id, ts_column: ts, live_view: orders_live }
  - { container: carts, table: carts, id: id, ts_column: ts, live_view: carts_live }
)yaml";

struct Change {
  const char* name;
  const char* away;  // carts is no longer what it was
  const char* write;
  const char* back;
  bool needs_install;
  const char* said = "";  // in the log
};

class LeftOutTablesTest : public TtlPostgresFixture {
 protected:
  LeftOutTablesTest() : TtlPostgresFixture(kConfig) {}

  void SetUp() override {
    ASSERT_NO_FATAL_FAILURE(StartServers(kTables, {"orders", "carts"}));
    ASSERT_NO_FATAL_FAILURE(InstallAndStart());
    ExpectTracked("orders", 1);
    ExpectTracked("carts", 1);
  }
};

class ChangedTableTest : public LeftOutTablesTest, public testing::WithParamInterface<Change> {};

INSTANTIATE_TEST_SUITE_P(
    Changes, ChangedTableTest,
    testing::Values(
        Change{"Drop", "DROP TABLE carts CASCADE", "SELECT 1",
               "CREATE TABLE carts (id bigint PRIMARY KEY, ts timestamptz);"
               "INSERT INTO carts VALUES (1, now()), (2, now())",
               true},
        Change{"RenameTable", "ALTER TABLE carts RENAME TO old_carts",
               "INSERT INTO old_carts VALUES (2, now())", "ALTER TABLE old_carts RENAME TO carts",
               false},
        Change{"RenameColumn", "ALTER TABLE carts RENAME ts TO written",
               "INSERT INTO carts VALUES (2, now())", "ALTER TABLE carts RENAME written TO ts",
               false},
        Change{"DropPrimaryKey", "ALTER TABLE carts DROP CONSTRAINT carts_pkey",
               "INSERT INTO carts VALUES (2, now())", "ALTER TABLE carts ADD PRIMARY KEY (id)",
               false, "PostgreSQL refuses UPDATE and DELETE of public.carts, the application"},
        Change{"SetSchema", "ALTER TABLE carts SET SCHEMA attic",
               "INSERT INTO attic.carts VALUES (2, now())",
               "ALTER TABLE attic.carts SET SCHEMA public", false},
        Change{"Swap",
               "BEGIN; CREATE TABLE new_carts (LIKE carts INCLUDING ALL);"
               "ALTER TABLE carts RENAME TO old_carts; ALTER TABLE new_carts RENAME TO carts;"
               "ALTER VIEW carts_live RENAME TO old_carts_live; COMMIT",
               "INSERT INTO carts VALUES (1, now()), (2, now())", "DROP VIEW old_carts_live",
               true}),
    [](const auto& info) { return std::string(info.param.name); });

TEST_P(ChangedTableTest, TheOthersGoOnAndItIsCapturedAgain) {
  database_.Sql(GetParam().away);
  ExpectLog("msg=\"table left out\" container=\"carts\"");
  ExpectLog(GetParam().said);
  database_.Sql(GetParam().write);
  database_.Sql("INSERT INTO orders VALUES (2, now())");
  ExpectTracked("orders", 2);

  postgres_.Kill();
  ASSERT_TRUE(postgres_.Start().ok()) << postgres_.Log();
  database_.Sql("INSERT INTO orders VALUES (3, now())");
  ExpectTracked("orders", 3);

  database_.Sql(GetParam().back);
  if (GetParam().needs_install) {
    ASSERT_TRUE(postgres_.RunCommand({"install"}).ok()) << postgres_.Log();
  }
  ExpectTracked("carts", 2);
  database_.Sql("INSERT INTO carts VALUES (3, now())");
  ExpectTracked("carts", 3);
}

std::string EventsConfig(const std::string& unit) {
  return absl::StrCat(
      "tables:\n  - { container: orders, table: orders, id: id, ts_column: ts }\n"
      "  - { container: events, table: events, id: id, ts_column: at, ts_unit: ",
      unit, " }\n");
}

// Its live rows would be due at once.
class WrongUnitTest : public TtlPostgresFixture {
 protected:
  WrongUnitTest() : TtlPostgresFixture(EventsConfig("seconds")) {}

  void SetUp() override {
    ASSERT_NO_FATAL_FAILURE(
        StartServers("CREATE TABLE orders (id bigint PRIMARY KEY, ts timestamptz);"
                     "CREATE TABLE events (id bigint PRIMARY KEY, at bigint);"
                     "INSERT INTO events VALUES (1, extract(epoch FROM now()))",
                     {"orders", "events"}));
    ASSERT_TRUE(postgres_.RunCommand({"install"}).ok()) << postgres_.Log();
  }

  void SetUnit(const std::string& unit) {
    TtlPostgresProcess::Reconfigure(
        {dir_.path(), "postgres", database_.Conninfo(), sidecar_.address(), EventsConfig(unit)});
  }
};

TEST_F(WrongUnitTest, LeavesOutItsTableAloneUntilItIsRight) {
  SetUnit("milliseconds");
  ASSERT_TRUE(postgres_.Start().ok()) << postgres_.Log();
  ExpectLog("msg=\"table left out\" container=\"events\"");
  ExpectLog("counts seconds, it seems, not milliseconds; set ts_unit: seconds");
  database_.Sql("INSERT INTO orders VALUES (1, now())");
  ExpectTracked("orders", 1);
  EXPECT_EQ(Tracked("events"), 0);
  database_.Sql("UPDATE events SET at = at * 1000");
  ExpectTracked("events", 1);
  EXPECT_TRUE(postgres_.Stop().ok()) << postgres_.Log();
}

TEST_F(WrongUnitTest, IsTakenUpWhenTheConfigurationIsRight) {
  SetUnit("milliseconds");
  ASSERT_TRUE(postgres_.Start().ok()) << postgres_.Log();
  ExpectLog("msg=\"table left out\" container=\"events\"");
  SetUnit("seconds");
  ASSERT_TRUE(postgres_.process()->Signal(SIGHUP).ok());
  ExpectTracked("events", 1);
}

// Where another table is left out, too.
TEST_F(LeftOutTablesTest, TableWithAViewOfAFormerConfigurationIsLeftOut) {
  database_.Sql("ALTER TABLE carts RENAME TO old_carts");
  ExpectLog("msg=\"table left out\" container=\"carts\"");
  TtlPostgresProcess::Reconfigure(
      {dir_.path(), "postgres", database_.Conninfo(), sidecar_.address(),
       "tables:\n"
       "  - { container: orders, table: orders, id: id, ts_column: ts }\n"
       "  - { container: carts, table: carts, id: id, ts_column: ts, live_view: carts_live }\n"});
  ASSERT_TRUE(postgres_.process()->Signal(SIGHUP).ok());
  ExpectLog("a former configuration left something: DROP VIEW public.orders_live");
  database_.Sql("INSERT INTO orders VALUES (2, now())");
  database_.Sql("ALTER TABLE old_carts RENAME TO carts");
  ASSERT_TRUE(postgres_.RunCommand({"install"}).ok()) << postgres_.Log();
  ExpectTracked("orders", 2);
}

std::string JobsConfig(const std::string& where) {
  return absl::StrCat(
      "tables:\n  - { container: jobs, table: jobs, id: id, ts_column: ts, live_view: jobs_live, "
      "where: \"",
      where, "\" }\n");
}

class OnlyTableTest : public TtlPostgresFixture {
 protected:
  OnlyTableTest() : TtlPostgresFixture(JobsConfig("state = 'done'")) {}

  void SetUp() override {
    ASSERT_NO_FATAL_FAILURE(StartServers(
        "CREATE TABLE jobs (id bigint PRIMARY KEY, ts timestamptz NOT NULL, state text);"
        "INSERT INTO jobs VALUES (1, now(), 'done'), (2, now(), 'failed')",
        {"jobs"}));
    ASSERT_NO_FATAL_FAILURE(InstallAndStart());
    ExpectTracked("jobs", 1);
  }
};

TEST_F(OnlyTableTest, IsLeftOutAndRecordedLikeOthers) {
  database_.Sql("ALTER TABLE jobs RENAME TO old_jobs");
  ExpectLog("msg=\"table left out\" container=\"jobs\"");
  EXPECT_TRUE(WaitUntil([&] { return database_.Value("SELECT count(*) FROM ttl.faults") == "1"; },
                        kPatience))
      << postgres_.Log();
  database_.Sql("INSERT INTO old_jobs VALUES (3, now(), 'done')");
  database_.Sql("ALTER TABLE old_jobs RENAME TO jobs");
  ExpectTracked("jobs", 2);
}

// The view shows the second row for ever until it is made anew.
TEST_F(OnlyTableTest, IsLeftOutWhileItsViewIsOfAnotherCondition) {
  postgres_.Kill();
  TtlPostgresProcess::Reconfigure({dir_.path(), "postgres", database_.Conninfo(),
                                   sidecar_.address(), JobsConfig("state <> 'created'")});
  ASSERT_TRUE(postgres_.Launch().ok());
  ExpectLog("reason=\"view public.jobs_live is missing or out of date");
  EXPECT_EQ(Tracked("jobs"), 1);
  ASSERT_TRUE(postgres_.RunCommand({"install"}).ok()) << postgres_.Log();
  ExpectTracked("jobs", 2);
}

// What the catalogue alone does not know of is looked at again, and found the same.
TEST_F(OnlyTableTest, IsLeftOutForGoodWhileItsMarkLeavesRowsInsideItsCondition) {
  const auto with_mark = [&](const std::string& value) {
    const std::string former = JobsConfig("state = 'done'");
    const TtlPostgresProcessOptions options = {
        dir_.path(), "postgres", database_.Conninfo(), sidecar_.address(),
        absl::StrCat(former.substr(0, former.rfind('}')),
                     ", on_expiry: mark, mark_column: state, mark_value: ", value, " }\n")};
    TtlPostgresProcess::Reconfigure(options);
  };
  postgres_.Kill();
  with_mark("done");
  ASSERT_TRUE(postgres_.Launch().ok());
  ExpectLog("would still match its where once state is \\\"done\\\"");
  EXPECT_TRUE(WaitUntil([&] { return database_.Value("SELECT count(*) FROM ttl.faults") == "1"; },
                        kPatience))
      << postgres_.Log();
  with_mark("gone");
  ASSERT_TRUE(postgres_.process()->Signal(SIGHUP).ok());
  ExpectLog("configuration changed: the new one is used now");
  EXPECT_FALSE(absl::StrContains(postgres_.Log(), "all are looked at again")) << postgres_.Log();
  database_.Sql("INSERT INTO jobs VALUES (3, now(), 'done')");
  ExpectTracked("jobs", 2);
}

}  // namespace
}  // namespace ttl
