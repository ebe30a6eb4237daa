// Migrations of a table beside what is installed for it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "client/postgres/program/ttl_postgres.h"
#include "client/postgres/sql/install/installation.h"
#include "tests/testing/postgres_server.h"
#include "tests/testing/process.h"
#include "tests/testing/sidecar_process.h"
#include "tests/testing/temp_dir.h"
#include "tests/testing/ttl_postgres_process.h"
#include "tests/testing/wait.h"
#include "ttl/client.h"
#include "ttl/container_client.h"

namespace ttl {
namespace {

using postgres::ExitCode;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr absl::Duration kPatience = absl::Minutes(1);

constexpr char kTables[] =
    "CREATE TABLE orders (id int PRIMARY KEY, ts timestamptz NOT NULL DEFAULT now(), note text);"
    "INSERT INTO orders VALUES (1, now(), 'live'), (2, now() - interval '1 day', 'expired')";

constexpr char kWaiting[] =
    "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted";

struct Result {
  int code;
  std::string out;
  std::string err;
};

Result RunProgram(const std::vector<std::string>& arguments) {
  std::ostringstream out;
  std::ostringstream err;
  const ExitCode code = postgres::RunTtlPostgres(arguments, {out, err}, [] { return absl::Now(); });
  return {static_cast<int>(code), out.str(), err.str()};
}

class MigrateTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(server_.Start().ok()) << server_.Log();
    server_.Sql(kTables);
  }

  // Installed for the table, in the way that `lines` say.
  void Install(const std::string& lines, const std::string& time = "ts_column: ts") {
    std::ofstream(config_)
        << "database: " << server_.Conninfo()
        << "\ntables:\n  - container: orders\n    table: orders\n    id: id\n    " << time << "\n"
        << lines;
    ASSERT_EQ(Run({"install"}).code, 0);
    server_.Sql("INSERT INTO ttl.policy VALUES ('orders', 3600, 1, now())");
  }

  Result Run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"--config", config_});
    return RunProgram(arguments);
  }

  std::vector<std::string> Psql(const std::string& sql) {
    return {"migrate",          "--", "psql", "-qX", "-v", "ON_ERROR_STOP=1", "-d",
            server_.Conninfo(), "-c", sql};
  }

  void ExpectInstalled() {
    EXPECT_THAT(Run({"check"}).out, AllOf(HasSubstr("; installed"), Not(HasSubstr("migration"))));
  }

  const TempDir dir_;
  const std::string config_ = dir_.File("ttl.yaml");
  PostgresServer server_;
};

struct Way {
  const char* name;
  const char* lines;
  const char* live;  // what shows live rows
  const char* table;
};

class MigrateEachWayTest : public MigrateTest, public testing::WithParamInterface<Way> {};

INSTANTIATE_TEST_SUITE_P(
    Ways, MigrateEachWayTest,
    testing::Values(Way{"OwnName", "    live_view: orders_live\n", "orders_live", "orders"},
                    Way{"Rename", "    rename_table: stored\n", "orders", "stored"},
                    Way{"SearchPath", "    view_schema: live\n", "live.orders", "orders"},
                    Way{"RowSecurity", "    row_level_security: true\n", "orders", "orders"},
                    Way{"Trigger", "    live_view: orders_live\n    replace_expired: true\n",
                        "orders_live", "orders"}),
    [](const auto& info) { return std::string(info.param.name); });

// A migration that forgets the archive is told so, and hides expired rows again all the same.
TEST_F(MigrateTest, ArchiveThatDoesNotFitAnyMoreKeepsNothingFromComingBack) {
  server_.Sql("CREATE TABLE old (LIKE orders)");
  Install("    live_view: orders_live\n    on_expiry: archive\n    archive_table: old\n");
  const Result forgot = Run(Psql("ALTER TABLE orders ADD COLUMN more int"));
  EXPECT_EQ(forgot.code, 0) << forgot.err;
  EXPECT_THAT(forgot.err, AllOf(HasSubstr("\"old\" has no column more, which the table has"),
                                HasSubstr(" is restored")));
  EXPECT_EQ(server_.Value("SELECT count(more IS NULL) FROM orders_live"), "1");
  EXPECT_EQ(Run({"check"}).code, static_cast<int>(ExitCode::kRefused));
  const Result cured = Run(Psql("ALTER TABLE old ADD COLUMN more int"));
  EXPECT_EQ(cured.code, 0) << cured.err;
  EXPECT_THAT(cured.err, Not(HasSubstr("problem")));
  ExpectInstalled();
}

TEST_P(MigrateEachWayTest, ChangesThatAreRefusedOtherwiseGoThrough) {
  server_.Sql("CREATE ROLE application; GRANT SELECT ON orders TO application");
  Install(GetParam().lines);
  for (const char* change :
       {"ALTER TABLE orders ALTER COLUMN id TYPE bigint", "ALTER TABLE orders DROP COLUMN note",
        "ALTER TABLE orders ALTER COLUMN ts TYPE timestamptz(3)",
        "ALTER TABLE orders DROP CONSTRAINT orders_pkey, ADD PRIMARY KEY (id)",
        "ALTER TABLE orders ADD COLUMN more int",
        "CREATE TABLE copied AS TABLE orders; DROP TABLE orders; ALTER TABLE copied RENAME TO "
        "orders; ALTER TABLE orders ADD PRIMARY KEY (id); GRANT SELECT ON orders TO application"}) {
    SCOPED_TRACE(change);
    const Result result = Run(Psql(change));
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_THAT(result.err, HasSubstr("exit code 0; what is installed for orders is restored"));
    ExpectInstalled();
    EXPECT_EQ(server_.Value(absl::StrCat("SELECT count(*) FROM ", GetParam().table)), "2");
    server_.Sql("SET ROLE application");
    EXPECT_EQ(server_.Value(absl::StrCat("SELECT count(*) FROM ", GetParam().live)), "1");
    server_.Sql("RESET ROLE");
  }
}

// With a condition, too: both the end and what it names change their types.
TEST_P(MigrateEachWayTest, TableWhoseRowsSayWhenTheyEndIsBroughtBack) {
  server_.Sql(
      "CREATE ROLE application; GRANT SELECT ON orders TO application;"
      "UPDATE orders SET ts = now() - interval '1 day'");
  Install(absl::StrCat(GetParam().lines, "    where: note <> 'waits'\n"), "expires_column: ts");
  server_.Sql(absl::StrCat("INSERT INTO ", GetParam().table,
                           " VALUES (3, now() + interval '1 day', 'live'), "
                           "(4, now() - interval '1 day', 'waits')"));
  for (const char* change : {"ALTER TABLE orders ALTER COLUMN ts TYPE timestamptz(3)",
                             "ALTER TABLE orders ALTER COLUMN note TYPE varchar(9)"}) {
    SCOPED_TRACE(change);
    const Result migrated = Run(Psql(change));
    EXPECT_EQ(migrated.code, 0) << migrated.err;
    ExpectInstalled();
    server_.Sql("SET ROLE application");
    EXPECT_EQ(server_.Value(absl::StrCat("SELECT string_agg(id::text, ' ' ORDER BY id) FROM ",
                                         GetParam().live)),
              "3 4");
    server_.Sql("RESET ROLE");
  }
}

TEST_F(MigrateTest, ChangesAreRefusedWithoutIt) {
  Install("    live_view: orders_live\n");
  for (const char* change : {"ALTER TABLE orders ALTER COLUMN id TYPE bigint",
                             "ALTER TABLE orders DROP COLUMN note", "DROP TABLE orders"}) {
    EXPECT_FALSE(server_.sql().Execute(change).ok()) << change;
  }
}

TEST_F(MigrateTest, CodeIsThatOfTheCommandAndEverythingIsBack) {
  Install("    rename_table: stored\n");
  const Result result = Run({"migrate", "--", "sh", "-c", "exit 7"});
  EXPECT_EQ(result.code, 7);
  EXPECT_THAT(
      result.err,
      HasSubstr("the command ended with exit code 7; what is installed for orders is restored"));
  ExpectInstalled();
  EXPECT_EQ(Run({"migrate", "--", "/nowhere/command"}).code, 127);
  EXPECT_EQ(Run({"migrate", "--", "sh", "-c", "kill -9 $$"}).code, 137);
  ExpectInstalled();
}

// Its arguments may have passwords in them, and the table can be read by others.
TEST_F(MigrateTest, RewriteThatLosesCommitTimesIsWarnedOfBeforeTheCommand) {
  Install("    live_view: orders_live\n", "accept_commit_time: true");
  constexpr char kWarning[] = "warning: no event triggers hold the commit times of public.orders: ";
  EXPECT_THAT(Run(Psql("SELECT 1")).err, Not(HasSubstr(kWarning)));
  server_.Sql("DROP EVENT TRIGGER ttl_hold_times");
  const Result result = Run(Psql("SELECT 1"));
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("CREATE EVENT TRIGGER"));
  EXPECT_LT(result.err.find(kWarning), result.err.find("is removed; running psql")) << result.err;
}

TEST_F(MigrateTest, OnlyTheNameOfTheCommandIsToldAndStored) {
  Install("    live_view: orders_live\n");
  const std::string noted = dir_.File("noted");
  const Result result = Run(
      {"migrate", "--", "/bin/sh", "-c",
       absl::StrCat("psql -qXAt -d '", server_.Conninfo(),
                    "' -c 'SELECT command FROM ttl.migration' >", noted, "; : password=secret")});
  EXPECT_EQ(result.code, 0);
  EXPECT_THAT(result.err, AllOf(HasSubstr("is removed; running sh\n"), Not(HasSubstr("secret"))));
  std::ifstream file(noted);
  std::string command;
  std::getline(file, command);
  EXPECT_EQ(command, "sh");
}

TEST_F(MigrateTest, FileOfSqlIsOneTransaction) {
  Install("    live_view: orders_live\n");
  const std::string file = dir_.File("change.sql");
  std::ofstream(file) << "ALTER TABLE orders DROP COLUMN note; SELECT 1/0;";
  const Result failed = Run({"migrate", "--sql", file});
  EXPECT_EQ(failed.code, 1);
  EXPECT_THAT(failed.err, AllOf(HasSubstr("division by zero"), HasSubstr("is restored")));
  std::ofstream(file) << "ALTER TABLE orders DROP COLUMN note;";
  EXPECT_EQ(Run({"migrate", "--sql", file}).code, 0);
  ExpectInstalled();
  EXPECT_EQ(server_.Value("SELECT string_agg(attname, ' ') FROM pg_attribute WHERE attrelid = "
                          "'orders_live'::regclass"),
            "id ts");
}

TEST_F(MigrateTest, WhatCannotBePutBackIsNamed) {
  Install("    live_view: orders_live\n");
  const Result result = Run(Psql("ALTER TABLE orders RENAME ts TO written_at"));
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.err,
              AllOf(HasSubstr("problem: table public.orders has no column ts"),
                    HasSubstr("exit code 0; what is installed for orders is NOT restored")));
  server_.Sql("ALTER TABLE orders RENAME written_at TO ts");
  EXPECT_THAT(Run({"check"}).out, HasSubstr("was interrupted and has left objects removed"));
  EXPECT_EQ(Run({"install"}).code, 0);
  ExpectInstalled();
}

TEST_F(MigrateTest, CommandLineThatIsWrongDoesNothing) {
  Install("    live_view: orders_live\n");
  EXPECT_EQ(Run({"migrate"}).code, 2);
  EXPECT_EQ(Run({"migrate", "--sql", "f", "--", "true"}).code, 2);
  EXPECT_EQ(Run({"migrate", "--container", "carts", "--", "true"}).code, 2);
  EXPECT_EQ(Run({"uninstall"}).code, 0);
  const Result result = Run({"migrate", "--", "touch", dir_.File("was_run")});
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.err, HasSubstr("not installed as configured"));
  EXPECT_FALSE(std::filesystem::exists(dir_.File("was_run")));
}

// kill -9 while the command runs.
TEST_F(MigrateTest, WhatWasKilledHalfwayIsSaidAndMended) {
  Install("    rename_table: stored\n    row_level_security: true\n    replace_expired: true\n");
  const std::string pid_file = dir_.File("pid");
  const auto kill_halfway = [&](bool is_first) {
    SubprocessOptions options;
    options.argv = {TTL_POSTGRES_BINARY,
                    "--config",
                    config_,
                    "migrate",
                    "--",
                    "sh",
                    "-c",
                    absl::StrCat("echo $$ >", pid_file, ".new; mv ", pid_file, ".new ", pid_file,
                                 "; exec sleep 600")};
    options.output_path = dir_.File("migrate.log");
    const auto process = Subprocess::Start(options);
    ASSERT_TRUE(process.ok()) << process.status();
    ASSERT_TRUE(WaitUntil([&] { return std::filesystem::exists(pid_file); }, kPatience));
    if (is_first) {
      EXPECT_THAT(Run({"check"}).out, HasSubstr("is running"));
      for (const std::vector<std::string>& other :
           {std::vector<std::string>{"install"}, {"uninstall"}, {"migrate", "--", "true"}}) {
        const Result refused = Run(other);
        EXPECT_EQ(refused.code, 1) << other[0];
        EXPECT_THAT(refused.err, HasSubstr("migration is running")) << other[0];
      }
    }
    (*process)->Kill();
    pid_t child = 0;
    std::ifstream(pid_file) >> child;
    ASSERT_GT(child, 1);
    kill(child, SIGKILL);
    std::filesystem::remove(pid_file);
    EXPECT_EQ(server_.Value("SELECT relkind FROM pg_class WHERE relname = 'orders'"), "r");
    // The server notices that its client is gone.
    ASSERT_TRUE(WaitUntil(
        [&] {
          return server_.Value("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'") == "0";
        },
        kPatience));
    EXPECT_THAT(Run({"check"}).out, HasSubstr("was interrupted and has left objects removed"));
  };
  kill_halfway(true);
  EXPECT_EQ(Run({"install"}).code, 0);
  ExpectInstalled();
  kill_halfway(false);
  const Result next = Run({"migrate", "--", "true"});
  EXPECT_EQ(next.code, 0);
  EXPECT_THAT(next.err, HasSubstr("was interrupted and has left objects removed; this one brings"));
  ExpectInstalled();
  kill_halfway(false);
  EXPECT_EQ(Run({"uninstall"}).code, 0);
  EXPECT_EQ(server_.Value("SELECT count(*) FROM orders"), "2");
}

// As when a pod stops: the command ends first, in its own way, and everything is put back.
TEST_F(MigrateTest, SignalToEndIsLeftToTheCommand) {
  Install("    rename_table: stored\n");
  const std::string started = dir_.File("started");
  SubprocessOptions options;
  options.argv = {
      TTL_POSTGRES_BINARY,
      "--config",
      config_,
      "migrate",
      "--",
      "sh",
      "-c",
      absl::StrCat("trap 'exit 9' TERM; touch ", started, "; while :; do sleep 0.1; done")};
  options.output_path = dir_.File("migrate.log");
  const auto process = Subprocess::Start(options);
  ASSERT_TRUE(process.ok()) << process.status();
  ASSERT_TRUE(WaitUntil([&] { return std::filesystem::exists(started); }, kPatience));
  ASSERT_TRUE((*process)->Signal(SIGTERM).ok());
  const auto ended = (*process)->Wait(kPatience);
  ASSERT_TRUE(ended.ok()) << ended.status();
  EXPECT_EQ(ended->code, 9);
  ExpectInstalled();
}

// SQL in a file waits for a lock until the test lets it go.
TEST_F(MigrateTest, SignalsWaitUntilEverythingIsBack) {
  Install("    rename_table: stored\n");
  std::ofstream(dir_.File("wait.sql")) << "SELECT pg_advisory_xact_lock(77)";
  SubprocessOptions options;
  options.argv = {TTL_POSTGRES_BINARY, "--config", config_,
                  "migrate",           "--sql",    dir_.File("wait.sql")};
  options.output_path = dir_.File("migrate.log");
  for (const int signal : {SIGINT, SIGHUP, SIGQUIT, SIGTERM}) {
    SCOPED_TRACE(signal);
    const auto other = server_.Connect();
    ASSERT_TRUE(other->Execute("BEGIN; SELECT pg_advisory_xact_lock(77)").ok());
    const auto process = Subprocess::Start(options);
    ASSERT_TRUE(process.ok()) << process.status();
    ASSERT_TRUE(WaitUntil([&] { return server_.Value(kWaiting) == "1"; }, kPatience));
    ASSERT_TRUE((*process)->Signal(signal).ok());
    ASSERT_TRUE(other->Execute("ROLLBACK").ok());
    const auto ended = (*process)->Wait(kPatience);
    ASSERT_TRUE(ended.ok()) << ended.status();
    EXPECT_EQ(ended->signal, signal);
    ExpectInstalled();
  }
}

// Another session has the lock of migrations when everything is to be put back.
TEST_F(MigrateTest, WhatIsLockedForAMomentIsPutBackAfterIt) {
  Install("    rename_table: stored\n");
  std::ofstream(dir_.File("wait.sql")) << "SELECT pg_advisory_xact_lock(77)";
  const auto gate = server_.Connect();
  ASSERT_TRUE(gate->Execute("BEGIN; SELECT pg_advisory_xact_lock(77)").ok());
  SubprocessOptions options;
  options.argv = {TTL_POSTGRES_BINARY, "--config", config_,
                  "migrate",           "--sql",    dir_.File("wait.sql")};
  options.output_path = dir_.File("migrate.log");
  const auto process = Subprocess::Start(options);
  ASSERT_TRUE(process.ok()) << process.status();
  ASSERT_TRUE(WaitUntil([&] { return server_.Value(kWaiting) == "1"; }, kPatience));
  const auto other = server_.Connect();
  std::thread next([&] {
    EXPECT_TRUE(other
                    ->Execute(absl::StrCat("BEGIN; SELECT pg_advisory_xact_lock(",
                                           postgres::MigrationLock("ttl"), ")"))
                    .ok());
  });
  EXPECT_TRUE(WaitUntil([&] { return server_.Value(kWaiting) == "2"; }, kPatience));
  ASSERT_TRUE(gate->Execute("ROLLBACK").ok());
  next.join();
  const auto log = [&] {
    std::ifstream file(options.output_path);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  EXPECT_TRUE(WaitUntil([&] { return absl::StrContains(log(), "trying again"); }, kPatience));
  ASSERT_TRUE(other->Execute("ROLLBACK").ok());
  const auto ended = (*process)->Wait(kPatience);
  ASSERT_TRUE(ended.ok()) << ended.status();
  EXPECT_EQ(ended->code, 0) << log();
  ExpectInstalled();
}

constexpr char kTwoTables[] = R"yaml(
tables:
  - { container: orders, table: orders, id: id, ts_column: ts, live_view: orders_live }
  - { container: carts, table: carts, id: id, ts_column: ts, rename_table: stored }
)yaml";

// A running ttl-postgres leaves the table out meanwhile, and loses nothing.
TEST(MigrateBesideRunTest, TableIsLeftOutMeanwhileAndNothingIsLost) {
  const TempDir dir;
  PostgresServer server;
  ASSERT_TRUE(server.Start().ok()) << server.Log();
  server.Sql(absl::StrCat(kTables,
                          "; CREATE TABLE carts (id int PRIMARY KEY, ts timestamptz NOT "
                          "NULL); INSERT INTO carts VALUES (1, now())"));
  SidecarProcess sidecar({dir.path(), "sidecar", "", {}, {}});
  ASSERT_TRUE(sidecar.Start().ok()) << sidecar.Log();
  TtlClientOptions options;
  options.address = sidecar.address();
  TtlClient client(options);
  for (const char* id : {"orders", "carts"}) {
    v1::Container container;
    container.set_id(id);
    ASSERT_TRUE(client.containers().Create(container).ok());
  }
  TtlPostgresProcess process(
      {dir.path(), "postgres", server.Conninfo(), sidecar.address(), kTwoTables});
  ASSERT_TRUE(process.RunCommand({"install"}).ok()) << process.Log();
  ASSERT_TRUE(process.Start().ok()) << process.Log();
  const auto expect_tracked = [&](const char* container, int count) {
    v1::ListItemsRequest request;
    request.set_container(container);
    request.set_show_expired(true);
    EXPECT_TRUE(WaitUntil(
        [&] {
          const auto items = client.ListItems(request);
          return items.ok() && items->items_size() == count;
        },
        kPatience))
        << container << " has not " << count << " items\n"
        << process.Log();
  };
  expect_tracked("carts", 1);
  const std::string psql = absl::StrCat("psql -qX -d '", server.Conninfo(), "' -c ");
  const auto migrate = [&](const std::string& script) {
    const absl::Status status =
        process.RunCommand({"migrate", "--container", "carts", "--", "sh", "-c", script});
    EXPECT_TRUE(status.ok()) << status;
  };
  // So short that nobody may notice.
  migrate(absl::StrCat(psql, "'INSERT INTO carts VALUES (2, now())'"));
  expect_tracked("carts", 2);
  // Until it is noticed.
  migrate(absl::StrCat("until grep -q 'table left[ ]out' ", dir.File("postgres.log"),
                       "; do sleep 0.1; done; ", psql,
                       "'INSERT INTO carts VALUES (3, now()); INSERT INTO orders VALUES (3); ALTER "
                       "TABLE carts ALTER id TYPE bigint'"));
  EXPECT_THAT(process.Log(), HasSubstr("is running"));
  expect_tracked("orders", 3);
  expect_tracked("carts", 3);
  server.Sql("INSERT INTO carts VALUES (4, now())");
  expect_tracked("carts", 4);
}

}  // namespace
}  // namespace ttl
