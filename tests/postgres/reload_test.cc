// The configuration file changes while ttl-postgres runs.

#include <gtest/gtest.h>

#include <csignal>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "tests/testing/ttl_postgres_fixture.h"
#include "tests/testing/wait.h"
#include "ttl/container_client.h"

namespace ttl {
namespace {

constexpr char kTables[] = R"sql(
  CREATE ROLE app LOGIN SUPERUSER PASSWORD 'first';
  CREATE TABLE orders (id bigint PRIMARY KEY, ts timestamptz);
  CREATE TABLE carts (id bigint PRIMARY KEY, ts timestamptz);
  INSERT INTO carts VALUES (1, now());
)sql";

constexpr char kOrders[] = R"yaml(
tables:
  - { container: orders, table: orders, id: id, ts_column: ts }
)yaml";
constexpr char kBoth[] = R"yaml(
tables:
  - { container: orders, table: orders, id: id, ts_column: ts }
  - { container: carts, table: carts, id: id, ts_column: ts }
)yaml";

class ReloadTest : public TtlPostgresFixture {
 protected:
  ReloadTest() : TtlPostgresFixture(kOrders, "app", " password=first") {}

  void SetUp() override {
    std::ofstream(database_.path() + "/data/pg_hba.conf")
        << "local all app scram-sha-256\nlocal replication app scram-sha-256\n"
        << "local all all trust\nlocal replication all trust\n";
    ASSERT_NO_FATAL_FAILURE(StartServers(kTables, {"orders", "carts"}));
    ASSERT_NO_FATAL_FAILURE(InstallAndStart());
  }

  TtlPostgresProcessOptions Options(const std::string& password, const std::string& yaml) {
    return {dir_.path(), "postgres",
            absl::StrCat(database_.Conninfo("postgres", "app"), " password=", password),
            sidecar_.address(), yaml};
  }

  void Reload(const std::string& yaml) {
    TtlPostgresProcess::Reconfigure(Options("first", yaml));
    ASSERT_TRUE(postgres_.process()->Signal(SIGHUP).ok());
  }
};

TEST_F(ReloadTest, HangupAddsATableAndTheOthersGoOn) {
  Reload(kBoth);
  ExpectLog("configuration changed: the new one is used now");
  ExpectLog("msg=\"table left out\" container=\"carts\"");
  database_.Sql("INSERT INTO orders VALUES (1, now())");
  ExpectTracked("orders", 1);
  ASSERT_TRUE(postgres_.RunCommand({"install"}).ok()) << postgres_.Log();
  ExpectTracked("carts", 1);
  database_.Sql("INSERT INTO orders VALUES (2, now()); INSERT INTO carts VALUES (2, now())");
  ExpectTracked("orders", 2);
  ExpectTracked("carts", 2);

  Reload(kOrders);
  ASSERT_TRUE(postgres_.RunCommand({"install"}).ok()) << postgres_.Log();
  EXPECT_TRUE(postgres_.WaitReady(kPatience).ok()) << postgres_.Log();
  database_.Sql("INSERT INTO orders VALUES (3, now())");
  ExpectTracked("orders", 3);
  EXPECT_TRUE(postgres_.Stop().ok()) << postgres_.Log();
}

TEST_F(ReloadTest, WhatCannotBeUsedIsSaidAndTheFormerGoesOn) {
  Reload("tables: 7\n");
  ExpectLog("tables: \\\"7\\\" is not allowed");
  Reload(absl::StrCat("slot: another\n", kOrders));
  ExpectLog("slot cannot change while ttl-postgres runs: restart it");
  Reload(absl::StrCat("health_listen: 127.0.0.1:7073\n", kOrders));
  ExpectLog("health_listen cannot change while ttl-postgres runs: restart it");
  Reload(absl::StrCat("metrics_listen: 192.0.2.1:9465\n", kOrders));
  ExpectLog("metrics_listen: cannot listen on");
  Reload(kOrders);
  ExpectLog("SIGHUP ignored");
  database_.Sql("INSERT INTO orders VALUES (1, now())");
  ExpectTracked("orders", 1);
  EXPECT_TRUE(postgres_.Stop().ok()) << postgres_.Log();
}

// The slot is in use then, by the one that runs.
TEST_F(ReloadTest, ReplicationAddressThatDoesNotWorkIsRefused) {
  ExpectLog("capturing 1 tables");
  Reload(absl::StrCat("replication: ", database_.Conninfo("postgres", "app"), " password=wrong\n",
                      kOrders));
  ExpectLog("a connection for replication, by replication of the configuration, is refused");
  ExpectLog("changed configuration refused");
  database_.Sql("INSERT INTO orders VALUES (1, now())");
  ExpectTracked("orders", 1);
  EXPECT_FALSE(absl::StrContains(postgres_.Log(), "the new one is used now")) << postgres_.Log();
}

TEST_F(ReloadTest, StartWaitsForAReplicationAddressThatCannotBeReached) {
  ASSERT_TRUE(postgres_.Stop().ok()) << postgres_.Log();
  TtlPostgresProcess::Reconfigure(
      Options("first", absl::StrCat("replication: host=/nowhere dbname=postgres\n", kOrders)));
  ASSERT_FALSE(postgres_.RunCommand({"check"}).ok());
  ASSERT_TRUE(postgres_.Launch().ok());
  ExpectLog(
      "msg=\"waiting for the database\" reason=\"a connection for replication, by replication of");
  Reload(kOrders);
  database_.Sql("INSERT INTO orders VALUES (1, now())");
  ExpectTracked("orders", 1);
}

TEST_F(ReloadTest, PasswordThatIsRefusedIsSaidOnce) {
  TtlPostgresProcess::Reconfigure(Options("wrong", kOrders));
  const auto count = [](const std::string& log, absl::string_view text) {
    return std::vector<std::string>(absl::StrSplit(log, text)).size() - 1;
  };
  constexpr char kRefused[] = "password authentication failed for user \"app\"";
  EXPECT_TRUE(WaitUntil([&] { return count(database_.Log(), kRefused) >= 3; }, kPatience))
      << database_.Log();
  EXPECT_EQ(count(postgres_.Log(), "changed configuration refused"), 1u) << postgres_.Log();
}

// Until `install` takes its view away, which would show its expired rows without a policy.
TEST_F(ReloadTest, PolicyOfATableThatIsTakenOutStaysUntilInstall) {
  const auto hidden = [&] {
    return database_.Value("SELECT count(*) FROM ttl.policy WHERE container = 'carts'");
  };
  Reload(kBoth);
  ASSERT_TRUE(postgres_.RunCommand({"install"}).ok()) << postgres_.Log();
  EXPECT_TRUE(WaitUntil([&] { return hidden() == "1"; }, kPatience)) << postgres_.Log();
  Reload(kOrders);
  const auto revision = [&] {
    return database_.Value("SELECT revision FROM ttl.policy WHERE container = 'orders'");
  };
  const std::string before = revision();
  EXPECT_TRUE(WaitUntil(
      [&] {
        const std::vector<std::string> taken =
            absl::StrSplit(postgres_.Log(), "configuration changed: the new one is used now");
        return taken.size() == 3;
      },
      kPatience))
      << postgres_.Log();
  // The new mirror has written.
  v1::Container container;
  container.set_id("orders");
  container.set_default_ttl(1000);
  ASSERT_TRUE(client_->containers().Update(container, {"default_ttl"}).ok());
  EXPECT_TRUE(WaitUntil([&] { return revision() != before; }, kPatience)) << postgres_.Log();
  EXPECT_EQ(hidden(), "1");
  ASSERT_TRUE(postgres_.RunCommand({"install"}).ok()) << postgres_.Log();
  EXPECT_EQ(hidden(), "0");
}

// The name of the table becomes that of its view.
TEST_F(ReloadTest, TableThatIsNowToBeRenamedIsFollowedUnderItsNewName) {
  database_.Sql("INSERT INTO orders VALUES (1, now())");
  ExpectTracked("orders", 1);
  Reload(
      "tables:\n  - { container: orders, table: orders, id: id, ts_column: ts, rename_table: "
      "orders_stored }\n");
  ExpectLog("configuration changed: the new one is used now");
  ExpectLog("table public.orders is not renamed to orders_stored");
  database_.Sql("INSERT INTO orders VALUES (2, now())");
  ExpectTracked("orders", 2);
  ASSERT_TRUE(postgres_.RunCommand({"install"}).ok()) << postgres_.Log();
  database_.Sql("INSERT INTO orders VALUES (3, now()); UPDATE orders SET ts = now() WHERE id = 1");
  ExpectTracked("orders", 3);
  EXPECT_TRUE(postgres_.WaitReady(kPatience).ok()) << postgres_.Log();
  EXPECT_EQ(database_.Value("SELECT count(*) FROM orders_stored"), "3");
  database_.Sql("DELETE FROM orders WHERE id = 2");
  ExpectTracked("orders", 2);
}

TEST_F(ReloadTest, TableWithoutItsContainerIsLeftOutUntilThatIsMade) {
  ASSERT_TRUE(client_->containers().Delete("carts").ok());
  Reload(kBoth);
  ASSERT_TRUE(postgres_.RunCommand({"install"}).ok()) << postgres_.Log();
  ExpectLog("container=\"carts\" reason=\"the sidecar at");
  database_.Sql("INSERT INTO orders VALUES (1, now())");
  ExpectTracked("orders", 1);
  v1::Container carts;
  carts.set_id("carts");
  ASSERT_TRUE(client_->containers().Create(carts).ok());
  ExpectTracked("carts", 1);
  ASSERT_TRUE(client_->containers().Delete("carts").ok());
  database_.Sql("INSERT INTO orders VALUES (2, now())");
  ExpectTracked("orders", 2);
}

// That may take seconds for each table.
TEST_F(ReloadTest, TimesOfATableThatHasNotChangedAreNotReadAgain) {
  database_.Sql("ALTER SYSTEM SET log_statement = 'all'");
  database_.Sql("SELECT pg_reload_conf()");
  ASSERT_TRUE(
      WaitUntil([&] { return database_.Value("SELECT current_setting('log_statement')") == "all"; },
                kPatience));
  const auto reads_times = [&](absl::string_view table) {
    return absl::StrContains(database_.Log(),
                             absl::StrCat("\"public\".\"", table, "\" AS t TABLESAMPLE"));
  };
  database_.Sql("ALTER ROLE app PASSWORD 'second'");
  TtlPostgresProcess::Reconfigure(Options("second", kOrders));
  ExpectLog("configuration changed: the new one is used now");
  TtlPostgresProcess::Reconfigure(Options("second", kBoth));
  ASSERT_TRUE(postgres_.process()->Signal(SIGHUP).ok());
  ExpectLog("msg=\"table left out\" container=\"carts\"");
  EXPECT_TRUE(reads_times("carts")) << "the log shows no statements";
  EXPECT_FALSE(reads_times("orders"));
}

TEST_F(ReloadTest, StopWhileAChangedAddressIsTriedIsHeeded) {
  PostgresServer silent;
  ASSERT_TRUE(silent.Start().ok()) << silent.Log();
  silent.Suspend();
  const std::string& host = silent.path();
  // Longer than a stop may take: 10 s for each.
  Reload(absl::StrCat("replication: host=", host, ",", host, ",", host,
                      " dbname=postgres user=postgres\n", kOrders));
  ASSERT_TRUE(WaitUntil(
      [&] {
        return database_.Value(
                   "SELECT count(*) FROM pg_stat_activity WHERE application_name = "
                   "'ttl-postgres'") == "1";
      },
      kPatience));
  EXPECT_TRUE(postgres_.Stop().ok()) << postgres_.Log();
}

TEST_F(ReloadTest, ChangedPasswordIsReadAgain) {
  database_.Sql("ALTER ROLE app PASSWORD 'second'");
  database_.Sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'app'");
  ExpectLog("password authentication failed");
  TtlPostgresProcess::Reconfigure(Options("second", kOrders));
  ExpectLog("configuration changed: the new one is used now");
  database_.Sql("INSERT INTO orders VALUES (1, now())");
  ExpectTracked("orders", 1);
  EXPECT_TRUE(postgres_.WaitReady(kPatience).ok()) << postgres_.Log();
}

}  // namespace
}  // namespace ttl
