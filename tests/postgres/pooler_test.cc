// A pgbouncer between applications and the database.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <libpq-fe.h>

#include <fstream>
#include <memory>
#include <sstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "client/postgres/program/ttl_postgres.h"
#include "tests/testing/ttl_postgres_fixture.h"
#include "tests/testing/wait.h"
#include "ttl/container_client.h"

namespace ttl {
namespace {

using postgres::ExitCode;
using testing::HasSubstr;

constexpr char kTables[] = R"sql(
  CREATE TABLE orders (id bigint PRIMARY KEY, ts timestamptz NOT NULL);
  INSERT INTO orders VALUES (1, now()), (2, now() - interval '1 hour');
)sql";

constexpr char kConfig[] = R"yaml(
tables:
  - { container: orders, table: orders, id: id, ts_column: ts, live_view: orders_live }
)yaml";

// What an application reads over a connection of its own.
std::string Ask(const std::string& conninfo, const char* query) {
  const std::unique_ptr<PGconn, decltype(&PQfinish)> connection(PQconnectdb(conninfo.c_str()),
                                                                PQfinish);
  const std::unique_ptr<PGresult, decltype(&PQclear)> result(PQexec(connection.get(), query),
                                                             PQclear);
  return PQntuples(result.get()) == 1 ? PQgetvalue(result.get(), 0, 0)
                                      : PQerrorMessage(connection.get());
}

class PoolerTest : public TtlPostgresFixture {
 protected:
  PoolerTest() : TtlPostgresFixture(kConfig) {}

  void SetUp() override { ASSERT_NO_FATAL_FAILURE(StartServers(kTables, {"orders"})); }

  void StartPooler(const std::string& settings) {
    const absl::Status started =
        database_.StartPooler(absl::StrCat("pool_mode = transaction\n", settings));
    ASSERT_TRUE(started.ok()) << started;
  }

  // What a command says of a configuration with these addresses; it is refused, makes nothing, and
  // leaves no setting to the next client of the pooler.
  std::string Refusal(const std::string& command, const std::string& database,
                      const std::string& replication) {
    const std::string path = dir_.File("pooled.yaml");
    std::ofstream(path) << "database: " << database << "\nreplication: " << replication << "\n"
                        << kConfig;
    std::ostringstream out;
    std::ostringstream err;
    EXPECT_EQ(postgres::RunTtlPostgres({command, "--config", path}, {out, err},
                                       [] { return absl::Now(); }),
              ExitCode::kRefused)
        << command;
    EXPECT_EQ(database_.Value("SELECT count(*) FROM pg_replication_slots"), "0") << command;
    EXPECT_EQ(database_.Value("SELECT count(*) FROM pg_publication"), "0") << command;
    EXPECT_EQ(Ask(database_.PoolerConninfo(), "SHOW search_path"), "\"$user\", public") << command;
    return out.str() + err.str();
  }

  void ExpectCure() {
    for (const char* command : {"check", "install", "uninstall"}) {
      const std::string refusal =
          Refusal(command, database_.PoolerConninfo(), database_.Conninfo());
      EXPECT_THAT(refusal, HasSubstr("database leads through a pooler")) << command;
      EXPECT_THAT(refusal, HasSubstr("give the server's own address as database")) << command;
    }
    TtlPostgresProcess::Reconfigure({dir_.path(), "postgres", database_.PoolerConninfo(),
                                     sidecar_.address(),
                                     absl::StrCat("replication: ", database_.Conninfo(), kConfig)});
    EXPECT_FALSE(postgres_.Start().ok());
    ExpectLog("msg=\"not started\"");
    ExpectLog("needs sessions of its own");
  }
};

TEST_F(PoolerTest, PoolerThatRefusesSettingsIsNamedWithTheCure) {
  ASSERT_NO_FATAL_FAILURE(StartPooler(""));
  ExpectCure();
}

// The values of a session would be other texts than expected, without a word.
TEST_F(PoolerTest, PoolerThatDropsSettingsIsNamedWithTheCure) {
  ASSERT_NO_FATAL_FAILURE(StartPooler("ignore_startup_parameters = options\n"));
  ExpectCure();
}

TEST_F(PoolerTest, ReplicationThroughAPoolerIsNamedWithTheCure) {
  ASSERT_NO_FATAL_FAILURE(StartPooler("ignore_startup_parameters = options\n"));
  for (const char* command : {"check", "install"}) {
    const std::string refusal = Refusal(command, database_.Conninfo(), database_.PoolerConninfo());
    EXPECT_THAT(refusal, HasSubstr("problem: a connection for replication, by replication of the "
                                   "configuration, is refused: "));
    EXPECT_THAT(refusal, HasSubstr("behind a pooler, give the server's own address as "
                                   "replication: host=... dbname=..."));
  }
}

TEST_F(PoolerTest, ApplicationBehindAPoolerSeesLiveRowsOnly) {
  ASSERT_NO_FATAL_FAILURE(StartPooler(""));
  ASSERT_NO_FATAL_FAILURE(InstallAndStart());
  ExpectTracked("orders", 2);
  v1::Container container;
  container.set_id("orders");
  container.set_default_ttl(600);
  ASSERT_TRUE(client_->containers().Update(container, {"default_ttl"}).ok());
  EXPECT_TRUE(WaitUntil(
      [&] { return Ask(database_.PoolerConninfo(), "SELECT count(*) FROM orders_live") == "1"; },
      kPatience));
  Ask(database_.PoolerConninfo(), "INSERT INTO orders_live VALUES (3, now()) RETURNING id");
  ExpectTracked("orders", 3);
}

}  // namespace
}  // namespace ttl
