// What ttl-postgres says while it cannot capture, or what is installed does not hide rows.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "client/postgres/program/ttl_postgres.h"
#include "client/postgres/sql/check/slot_state.h"
#include "client/postgres/sql/connect/connection.h"
#include "tests/testing/channel.h"
#include "tests/testing/scrape.h"
#include "tests/testing/ttl_postgres_fixture.h"
#include "tests/testing/wait.h"
#include "ttl/container_client.h"

namespace ttl {
namespace {

using postgres::ExitCode;
using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

constexpr char kTables[] = R"sql(
  CREATE ROLE app LOGIN;
  CREATE TABLE other (id bigint);
  GRANT INSERT ON other TO app;
  CREATE TABLE orders (id bigint PRIMARY KEY, ts timestamptz NOT NULL);
  INSERT INTO orders VALUES (1, now()), (2, now());
)sql";

constexpr char kConfig[] = R"yaml(
metrics_listen: 127.0.0.1:0
tables:
  - { container: orders, table: orders, id: id, ts_column: ts, live_view: orders_live,
      row_level_security: true, replace_expired: true }
)yaml";

struct Status {
  ExitCode code;
  std::string text;
};

class StateTest : public TtlPostgresFixture {
 protected:
  StateTest()
      : TtlPostgresFixture(kConfig, "postgres", "", {false, {{"max_prepared_transactions", "2"}}}) {
  }

  void SetUp() override { ASSERT_NO_FATAL_FAILURE(StartServers(kTables, {"orders"})); }

  Status ReadStatus() {
    std::ostringstream out;
    std::ostringstream err;
    const ExitCode code = postgres::RunTtlPostgres(
        {"status", "--config", dir_.File("postgres.yaml")}, {out, err}, [] { return absl::Now(); });
    return {code, out.str() + err.str()};
  }

  bool IsReady() { return CheckHealth(postgres_.channel(), "readiness").ok(); }

  std::string Metrics() {
    const std::string log = postgres_.Log();
    const size_t at = log.rfind("msg=\"metrics\"");
    const size_t port = log.find("port=", at);
    if (at == std::string::npos || port == std::string::npos) return "";
    const auto scrape = Scrape::Get(log.substr(port + 5, log.find('\n', port) - port - 5));
    return scrape.ok() ? scrape->text() : std::string(scrape.status().message());
  }

  // Waits for a line of the metrics.
  void ExpectMetric(const std::string& pattern) {
    EXPECT_TRUE(
        WaitUntil([&] { return testing::Matches(ContainsRegex(pattern))(Metrics()); }, kPatience))
        << pattern << " is not in\n"
        << Metrics();
  }
};

TEST_F(StateTest, TableIsCapturedAndThenNobodyReadsTheSlot) {
  ASSERT_NO_FATAL_FAILURE(InstallAndStart());
  EXPECT_TRUE(WaitUntil([&] { return absl::StrContains(ReadStatus().text, "2 rows, complete"); },
                        kPatience));
  const Status status = ReadStatus();
  EXPECT_EQ(status.code, ExitCode::kOk) << status.text;
  EXPECT_THAT(status.text,
              AllOf(ContainsRegex("ttl-postgres: ready since 20..-..-..T..:..:..Z, pid [0-9]+, at "
                                  "unix:[^\n:]*\n"),
                    ContainsRegex("slot ttl_sidecar: read by pid [0-9]+; confirmed [0-9A-F]+/"
                                  "[0-9A-F]+, lag [0-9]+ bytes; [0-9]+ bytes of WAL retained"),
                    HasSubstr("container orders, table public.orders: captured; first scan: 2 "
                              "rows, complete\n"),
                    Not(HasSubstr("held back"))));
  ASSERT_TRUE(postgres_.Stop().ok()) << postgres_.Log();
  const Status stopped = ReadStatus();
  EXPECT_EQ(stopped.code, ExitCode::kRefused);
  EXPECT_THAT(stopped.text, AllOf(HasSubstr("ttl-postgres: does not answer at unix:"),
                                  HasSubstr("slot ttl_sidecar: not read by any session; confirmed"),
                                  HasSubstr("not captured: no session reads the slot")));
}

TEST_F(StateTest, BeforeInstallNothingIsCaptured) {
  const Status status = ReadStatus();
  EXPECT_EQ(status.code, ExitCode::kRefused);
  EXPECT_THAT(status.text, AllOf(HasSubstr("slot ttl_sidecar: does not exist"),
                                 HasSubstr("problem: not installed for this configuration")));
}

TEST_F(StateTest, TransactionThatANewSlotWaitsForIsNamed) {
  const auto other = postgres::Connection::Open(database_.Conninfo("postgres", "app"), "batch job");
  ASSERT_TRUE(other.ok());
  ASSERT_TRUE((*other)->Execute("BEGIN; INSERT INTO other VALUES (1)").ok());
  const std::string pid = absl::StrCat(PQbackendPID((*other)->raw()));
  ASSERT_TRUE(postgres_.RunCommand({"install"}).ok()) << postgres_.Log();
  ASSERT_TRUE(postgres_.Launch().ok());
  const std::string named = absl::StrCat(
      "pid ", pid, R"( \(application "batch job", user "app", database "postgres"\) since )",
      "20..-..-..T..:..:..Z, xid [0-9]+");
  EXPECT_TRUE(WaitUntil(
      [&] { return absl::StrContains(postgres_.Log(), absl::StrCat("the oldest is pid ", pid)); },
      kPatience))
      << postgres_.Log();
  EXPECT_FALSE(IsReady());
  const Status status = ReadStatus();
  EXPECT_EQ(status.code, ExitCode::kRefused);
  EXPECT_THAT(
      status.text,
      AllOf(ContainsRegex("ttl-postgres: not ready since 20.*Z, pid [0-9]+, at unix:.*: nothing "
                          "is captured yet: .*the oldest is pid " +
                          pid),
            ContainsRegex("held back by " + named),
            HasSubstr("being created, which waits for older transactions to end"),
            HasSubstr("not captured: the replication slot is being created")));
  // A minute later.
  ExpectMetric(absl::StrCat("ttl_postgres_old_transaction_timestamp_seconds\\{holder=\"pid ", pid,
                            "\",application=\"batch job\",user=\"app\",database=\"postgres\"\\} "));
  ExpectLog(absl::StrCat("msg=\"old transaction\" holder=\"pid ", pid));
  ASSERT_TRUE((*other)->Execute("COMMIT").ok());
  EXPECT_TRUE(postgres_.WaitReady(kPatience).ok()) << postgres_.Log();
  ExpectTracked("orders", 2);
}

TEST_F(StateTest, PreparedTransactionIsNamed) {
  database_.Sql("BEGIN; INSERT INTO other VALUES (1); PREPARE TRANSACTION 'forgotten'");
  ASSERT_TRUE(postgres_.RunCommand({"install"}).ok()) << postgres_.Log();
  ASSERT_TRUE(postgres_.Launch().ok());
  ExpectLog("the oldest is prepared transaction \\\"forgotten\\\" (user \\\"postgres\\\"");
  EXPECT_THAT(ReadStatus().text,
              ContainsRegex("held back by prepared transaction \"forgotten\" \\(user \"postgres\", "
                            "database \"postgres\"\\) since 20"));
  database_.Sql("ROLLBACK PREPARED 'forgotten'");
  EXPECT_TRUE(postgres_.WaitReady(kPatience).ok()) << postgres_.Log();
}

// An abandoned trial.
TEST_F(StateTest, KillWhileTheSlotIsCreatedLeavesNoSlot) {
  database_.Sql("BEGIN; INSERT INTO other VALUES (1); PREPARE TRANSACTION 'open'");
  ASSERT_TRUE(postgres_.RunCommand({"install"}).ok()) << postgres_.Log();
  ASSERT_TRUE(postgres_.Launch().ok());
  ExpectLog("the oldest is prepared transaction");
  postgres_.Kill();
  EXPECT_TRUE(WaitUntil(
      [&] {
        return database_.Value(
                   "SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE "
                   "'ttl-postgres%'") == "0";
      },
      absl::Seconds(30)));
  database_.Sql("ROLLBACK PREPARED 'open'");
  EXPECT_EQ(database_.Value("SELECT count(*) FROM pg_replication_slots"), "0");
}

// Times of other roles are hidden from a role without pg_read_all_stats.
TEST_F(StateTest, TransactionOfAnotherRoleIsNamedWithoutItsTime) {
  database_.Sql("CREATE ROLE ttl LOGIN");
  ASSERT_TRUE(database_.sql().Execute("BEGIN; INSERT INTO other VALUES (1)").ok());
  const auto limited = postgres::Connection::Open(database_.Conninfo("postgres", "ttl"), "test");
  ASSERT_TRUE(limited.ok());
  const auto holders = postgres::ReadSlotHolders(**limited);
  ASSERT_TRUE(holders.ok()) << holders.status();
  ASSERT_EQ(holders->size(), 1u);
  EXPECT_THAT(postgres::Describe(holders->front()),
              AllOf(HasSubstr(absl::StrCat("pid ", PQbackendPID(database_.sql().raw()))),
                    HasSubstr("user \"postgres\""), HasSubstr("pg_read_all_stats")));
}

// So that one that such a role sees can be called old, too.
TEST(SlotHolderTest, OneWithoutATimeIsAsOldAsItIsKnown) {
  const absl::Time start = absl::FromUnixSeconds(1'000'000);
  std::map<std::string, absl::Time> first_seen;
  const auto seen_at = [&](absl::Time now, const std::string& xid) {
    std::vector<postgres::SlotHolder> holders(1);
    holders[0].xid = xid;
    postgres::UseFirstSeen(now, first_seen, holders);
    return *holders[0].since;
  };
  EXPECT_EQ(seen_at(start, "7"), start);
  EXPECT_EQ(seen_at(start + absl::Minutes(2), "7"), start);
  EXPECT_EQ(seen_at(start + absl::Minutes(3), "8"), start + absl::Minutes(3));
  EXPECT_EQ(first_seen.size(), 1u);
  std::vector<postgres::SlotHolder> known(1);
  known[0].since = start;
  postgres::UseFirstSeen(start + absl::Minutes(4), first_seen, known);
  EXPECT_EQ(known[0].since, start);
}

TEST_F(StateTest, TableThatIsLeftOutIsShownWithTheTimeAlsoAfterARestart) {
  database_.Sql("CREATE TABLE carts (id bigint PRIMARY KEY, ts timestamptz NOT NULL)");
  v1::Container carts;
  carts.set_id("carts");
  ASSERT_TRUE(client_->containers().Create(carts).ok());
  TtlPostgresProcess::Reconfigure({dir_.path(), "postgres", database_.Conninfo(),
                                   sidecar_.address(),
                                   absl::StrCat(kConfig,
                                                "  - { container: carts, table: carts, id: id, "
                                                "ts_column: ts }\n")});
  ASSERT_NO_FATAL_FAILURE(InstallAndStart());
  database_.Sql("ALTER TABLE carts RENAME TO old_carts");
  const auto left_out = [&] {
    return testing::Matches(
        ContainsRegex("container carts: left out since 20..-..-..T..:..:..Z: "
                      "table public.carts"))(ReadStatus().text);
  };
  EXPECT_TRUE(WaitUntil(left_out, kPatience)) << ReadStatus().text;
  const std::string since = database_.Value("SELECT since FROM ttl.faults");
  postgres_.Kill();
  ASSERT_TRUE(postgres_.Launch().ok());
  ExpectLog("msg=\"ready\"");
  EXPECT_EQ(database_.Value("SELECT since FROM ttl.faults"), since);
  database_.Sql("ALTER TABLE old_carts RENAME TO carts");
  EXPECT_TRUE(WaitUntil([&] { return database_.Value("SELECT count(*) FROM ttl.faults") == "0"; },
                        kPatience))
      << postgres_.Log();
}

TEST_F(StateTest, WhatItWaitsForBeforeItFollowsAnythingIsShown) {
  ASSERT_TRUE(postgres_.Launch().ok());
  ExpectLog("msg=\"waiting for the database\"");
  EXPECT_THAT(ReadStatus().text,
              ContainsRegex("ttl-postgres: not ready since 20.*: waiting for the database: not "
                            "installed for this configuration"));
}

TEST_F(StateTest, TableWhoseConditionCannotBeUsedIsShownAsLeftOut) {
  database_.Sql(
      "CREATE FUNCTION is_old(timestamptz) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS 'BEGIN "
      "RETURN true; END';"
      "CREATE TABLE carts (id bigint PRIMARY KEY, ts timestamptz NOT NULL)");
  v1::Container carts;
  carts.set_id("carts");
  ASSERT_TRUE(client_->containers().Create(carts).ok());
  TtlPostgresProcess::Reconfigure(
      {dir_.path(), "postgres", database_.Conninfo(), sidecar_.address(),
       absl::StrCat(kConfig,
                    "  - { container: carts, table: carts, id: id, ts_column: ts, where: "
                    "public.is_old(ts) }\n")});
  ASSERT_NO_FATAL_FAILURE(InstallAndStart());
  EXPECT_THAT(ReadStatus().text, HasSubstr("container carts, table public.carts: captured"));
  database_.Sql("ALTER FUNCTION is_old(timestamptz) STABLE");
  ASSERT_TRUE(postgres_.Stop().ok()) << postgres_.Log();
  ASSERT_TRUE(postgres_.Start().ok()) << postgres_.Log();
  const Status status = ReadStatus();
  EXPECT_EQ(status.code, ExitCode::kRefused);
  EXPECT_THAT(status.text, AllOf(HasSubstr("container orders, table public.orders: captured"),
                                 ContainsRegex("container carts: left out.*: where: .*IMMUTABLE"),
                                 Not(HasSubstr("container carts, table public.carts: captured"))));
}

TEST_F(StateTest, ArchiveThatBecomesUnfitIsLoggedAndShown) {
  database_.Sql(
      "CREATE TABLE carts (id bigint PRIMARY KEY, ts timestamptz NOT NULL); CREATE TABLE old (LIKE "
      "carts)");
  v1::Container carts;
  carts.set_id("carts");
  ASSERT_TRUE(client_->containers().Create(carts).ok());
  TtlPostgresProcess::Reconfigure(
      {dir_.path(), "postgres", database_.Conninfo(), sidecar_.address(),
       absl::StrCat(kConfig,
                    "  - { container: carts, table: carts, id: id, ts_column: ts, on_expiry: "
                    "archive, archive_table: old }\n")});
  ASSERT_NO_FATAL_FAILURE(InstallAndStart());
  EXPECT_THAT(ReadStatus().text, Not(HasSubstr("problem:")));
  database_.Sql("ALTER TABLE old ALTER ts TYPE timestamptz(0)");
  ExpectLog("msg=\"expired rows cannot be moved\"");
  const Status status = ReadStatus();
  EXPECT_EQ(status.code, ExitCode::kRefused);
  EXPECT_THAT(status.text, HasSubstr("problem: table public.carts: archive_table "
                                     "\"public\".\"old\": column ts is of type"));
}

// Whatever the connection string says.
class SessionsTest : public TtlPostgresFixture {
 protected:
  SessionsTest() : TtlPostgresFixture(kConfig, "ttl", " application_name=app") {}
};

TEST_F(SessionsTest, AllNameTheProgram) {
  ASSERT_NO_FATAL_FAILURE(
      StartServers(absl::StrCat(kTables, "CREATE ROLE ttl LOGIN SUPERUSER"), {"orders"}));
  ASSERT_NO_FATAL_FAILURE(InstallAndStart());
  ExpectTracked("orders", 2);
  const std::string names = database_.Value(
      "SELECT string_agg(DISTINCT application_name, ', ' ORDER BY application_name) FROM "
      "pg_stat_activity WHERE usename = 'ttl'");
  EXPECT_THAT(names, AllOf(HasSubstr("ttl-postgres capture"), HasSubstr("ttl-postgres policies")));
  for (const absl::string_view name : absl::StrSplit(names, ", ")) {
    EXPECT_TRUE(absl::StartsWith(name, "ttl-postgres ")) << names;
  }
}

struct Loss {
  const char* name;
  const char* sql;
  const char* fault;
};

class LossTest : public StateTest, public testing::WithParamInterface<Loss> {};

INSTANTIATE_TEST_SUITE_P(
    Losses, LossTest,
    testing::Values(
        Loss{"View", "DROP VIEW orders_live", "orders_live"},
        Loss{"RowSecurity", "ALTER TABLE orders DISABLE ROW LEVEL SECURITY",
             "row-level security of table public.orders is off"},
        Loss{"Policy",
             "DO $$ DECLARE name text; BEGIN SELECT polname INTO name FROM pg_policy WHERE NOT "
             "polpermissive LIMIT 1; EXECUTE format('DROP POLICY %I ON orders', name); END $$",
             "is missing or out of date"},
        Loss{"Trigger", "ALTER TABLE orders DISABLE TRIGGER USER",
             "the trigger of table public.orders is disabled"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST_P(LossTest, IsNotReadyAndSaysSince) {
  ASSERT_NO_FATAL_FAILURE(InstallAndStart());
  EXPECT_THAT(Metrics(), HasSubstr("\nttl_postgres_installation_fault_timestamp_seconds 0\n"));
  database_.Sql(GetParam().sql);
  EXPECT_TRUE(WaitUntil([&] { return !IsReady(); }, kPatience)) << postgres_.Log();
  ExpectLog(GetParam().fault);
  ExpectMetric("\nttl_postgres_installation_fault_timestamp_seconds [1-9][0-9.e+]+\n");
  const Status status = ReadStatus();
  EXPECT_EQ(status.code, ExitCode::kRefused);
  EXPECT_THAT(status.text, ContainsRegex(absl::StrCat("ttl-postgres: not ready since 20.*: .*",
                                                      GetParam().fault)));
  EXPECT_THAT(status.text, ContainsRegex(absl::StrCat("problem: .*", GetParam().fault,
                                                      ".* since 20..-..-..T..:..:..Z\n")));
  ASSERT_TRUE(postgres_.RunCommand({"install"}).ok()) << postgres_.Log();
  EXPECT_TRUE(WaitUntil([&] { return IsReady(); }, kPatience)) << postgres_.Log();
}

}  // namespace
}  // namespace ttl
