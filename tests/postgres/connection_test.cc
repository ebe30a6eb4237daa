#include "client/postgres/sql/connect/connection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <memory>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "client/postgres/sql/connect/quoting.h"
#include "tests/testing/postgres_server.h"

namespace ttl::postgres {
namespace {

using testing::HasSubstr;
using testing::Not;

class ConnectionTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    server_ = new PostgresServer;
    const absl::Status started = server_->Start();
    ASSERT_TRUE(started.ok()) << started;
  }
  static void TearDownTestSuite() {
    delete server_;
    server_ = nullptr;
  }

  // How opening a connection fails.
  static absl::Status Refusal(const std::string& database) {
    return Connection::Open(database, "test").status();
  }

  static PostgresServer* server_;
};

PostgresServer* ConnectionTest::server_ = nullptr;

TEST_F(ConnectionTest, SessionHasTheSettingsThatMakeTextTheSame) {
  const struct {
    const char* setting;
    const char* value;
  } kCases[] = {{"TimeZone", "UTC"},
                {"DateStyle", "ISO, DMY"},
                {"IntervalStyle", "iso_8601"},
                {"extra_float_digits", "1"},
                {"bytea_output", "hex"},
                {"client_encoding", "UTF8"},
                {"application_name", "ttl-postgres capture"}};
  for (const Connection::Kind kind : {Connection::Kind::kQueries, Connection::Kind::kReplication}) {
    const auto connection = Connection::Open(server_->Conninfo(), "ttl-postgres capture", kind);
    ASSERT_TRUE(connection.ok()) << connection.status();
    for (const auto& [setting, value] : kCases) {
      const auto shown = (*connection)->Query(absl::StrCat("SHOW ", setting));
      ASSERT_TRUE(shown.ok()) << shown.status();
      EXPECT_EQ(shown->Text(0, 0), value) << setting;
    }
  }
}

TEST_F(ConnectionTest, OptionsOfTheStringAreKeptBesideOurs) {
  const auto connection = Connection::Open(
      server_->Conninfo() + " options='-c work_mem=7MB -c timezone=Asia/Tokyo'", "test");
  ASSERT_TRUE(connection.ok()) << connection.status();
  EXPECT_EQ((*connection)->Query("SHOW work_mem")->Text(0, 0), "7MB");
  EXPECT_EQ((*connection)->Query("SHOW timezone")->Text(0, 0), "UTC");
}

TEST_F(ConnectionTest, LimitsThatRolesHaveForApplicationsAreNotOurs) {
  server_->Sql(
      "DROP ROLE IF EXISTS limited; CREATE ROLE limited LOGIN SUPERUSER;"
      "ALTER ROLE limited SET statement_timeout = '1ms'; ALTER ROLE limited SET lock_timeout = "
      "'1ms';"
      "ALTER ROLE limited SET idle_in_transaction_session_timeout = '1ms';"
      "ALTER ROLE limited SET idle_session_timeout = '1ms';"
      "ALTER ROLE limited SET default_transaction_read_only = on");
  const auto connection = Connection::Open(server_->Conninfo("postgres", "limited"), "test");
  ASSERT_TRUE(connection.ok()) << connection.status();
  EXPECT_TRUE((*connection)->Query("SELECT pg_sleep(0.05)").ok());
  EXPECT_EQ((*connection)->Query("SHOW transaction_read_only")->Text(0, 0), "off");
  for (const char* setting : {"statement_timeout", "lock_timeout",
                              "idle_in_transaction_session_timeout", "idle_session_timeout"}) {
    EXPECT_EQ((*connection)->Query(absl::StrCat("SHOW ", setting))->Text(0, 0), "0") << setting;
  }
}

TEST_F(ConnectionTest, TellsWhyItCannotBeOpened) {
  server_->Sql("DROP ROLE IF EXISTS guest; CREATE ROLE guest NOLOGIN");
  const struct {
    std::string database;
    absl::StatusCode code;
    const char* shown;
  } kCases[] = {
      {server_->Conninfo("nowhere"), absl::StatusCode::kPermissionDenied, "\"nowhere\""},
      {server_->Conninfo("postgres", "nobody"), absl::StatusCode::kPermissionDenied, "\"nobody\""},
      {server_->Conninfo("postgres", "guest"), absl::StatusCode::kPermissionDenied, "28000"},
      {"host=/nowhere dbname=postgres", absl::StatusCode::kUnavailable, "/nowhere"},
      {"shop", absl::StatusCode::kInvalidArgument, "\"shop\""},
      {"host=/tmp data_base=x", absl::StatusCode::kInvalidArgument, "data_base"},
      {"postgresql://[::1", absl::StatusCode::kInvalidArgument, "::1"},
      {server_->Conninfo() + " options='-c no_such_setting=1'", absl::StatusCode::kInvalidArgument,
       "no_such_setting"},
  };
  for (const auto& [database, code, shown] : kCases) {
    const absl::Status refusal = Refusal(database);
    EXPECT_EQ(refusal.code(), code) << database << "\n" << refusal;
    EXPECT_THAT(refusal.message(), HasSubstr(shown)) << database;
    EXPECT_THAT(refusal.message(), Not(HasSubstr("LOCATION"))) << database;
  }
  EXPECT_EQ(SqlState(Refusal(server_->Conninfo("nowhere"))), "3D000");
}

// A space or a slash too few or too many, and the password stands where a keyword is expected.
TEST(ConnectionPasswordTest, IsInNoMessageAboutTheString) {
  for (const char* database :
       {"host=h password=open sesame", "host=h password='open sesame", "password = 'a' sesame=b",
        "postgres://user:sesame@[::1", "postgres://user:sesame@host:port:5432/shop?x=y",
        "postgres://host/shop?password=sesame%2", "postgres://user:sesame/open@host/shop",
        "postgres://user:12/sesame@host/shop", "postgres://user@open:sesame@host/shop"}) {
    const absl::Status refusal = Connection::Open(database, "test").status();
    EXPECT_EQ(refusal.code(), absl::StatusCode::kInvalidArgument) << database;
    EXPECT_THAT(refusal.message(), Not(HasSubstr("sesame"))) << database;
  }
}

TEST(ConnectionPasswordTest, WrongPasswordAndNoneArePermissionDenied) {
  PostgresServer server;
  {
    std::ofstream rules(server.path() + "/data/pg_hba.conf");
    rules << "local all guarded scram-sha-256\nlocal all all trust\n";
  }
  const absl::Status started = server.Start();
  ASSERT_TRUE(started.ok()) << started;
  server.Sql("CREATE ROLE guarded LOGIN PASSWORD 'right'");
  const std::string guarded = server.Conninfo("postgres", "guarded");
  const auto open = [&](const std::string& more) {
    return Connection::Open(guarded + more, "test").status();
  };
  EXPECT_TRUE(open(" password=right").ok());
  EXPECT_EQ(SqlState(open(" password=wrong")), "28P01");
  for (const char* password : {" password=wrong", " password='' passfile=/nowhere"}) {
    const absl::Status refusal = open(password);
    EXPECT_EQ(refusal.code(), absl::StatusCode::kPermissionDenied) << refusal;
    EXPECT_THAT(refusal.message(), Not(HasSubstr("wrong")));
  }
}

TEST_F(ConnectionTest, FullServerIsUnavailable) {
  server_->Sql("ALTER DATABASE template1 CONNECTION LIMIT 0");
  server_->Sql("DROP ROLE IF EXISTS visitor; CREATE ROLE visitor LOGIN");
  const absl::Status full = Refusal(server_->Conninfo("template1", "visitor"));
  EXPECT_EQ(full.code(), absl::StatusCode::kUnavailable) << full;
  EXPECT_EQ(SqlState(full), "53300");
}

TEST_F(ConnectionTest, ParametersAreTextOrNull) {
  Connection& sql = server_->sql();
  const auto result = sql.Query("SELECT $1::text, $2::int + 1, $3::text IS NULL, NULL, true",
                                {"it's \\ ü", "41", std::nullopt});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->rows(), 1);
  EXPECT_EQ(result->columns(), 5);
  EXPECT_EQ(result->Text(0, 0), "it's \\ ü");
  EXPECT_EQ(result->Number(0, 1), 42);
  EXPECT_TRUE(result->Bool(0, 2));
  EXPECT_EQ(result->Value(0, 3), std::nullopt);
  EXPECT_EQ(result->Text(0, 3), "");
  EXPECT_EQ(result->Number(0, 0), 0);
  EXPECT_EQ(result->Value(1, 0), std::nullopt);
  EXPECT_EQ(result->Value(0, 5), std::nullopt);
}

TEST_F(ConnectionTest, ParameterIsNeverCutOffAtAZeroByte) {
  const auto result = server_->sql().Query("SELECT $1::text", {std::string("a\0b", 3)});
  EXPECT_EQ(result.status().code(), absl::StatusCode::kInvalidArgument) << result.status();
  EXPECT_THAT(result.status().message(), HasSubstr("$1"));
}

TEST_F(ConnectionTest, QueryTakesOneStatementOnly) {
  EXPECT_EQ(server_->sql().Query("SELECT 1; SELECT 2").status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST_F(ConnectionTest, StatementsOfExecuteAreOneTransaction) {
  server_->Sql("DROP TABLE IF EXISTS t; CREATE TABLE t (id int PRIMARY KEY)");
  const auto failed =
      server_->sql().Execute("INSERT INTO t VALUES (1); INSERT INTO t VALUES (2), (2)");
  EXPECT_EQ(failed.status().code(), absl::StatusCode::kFailedPrecondition) << failed.status();
  EXPECT_EQ(server_->Value("SELECT count(*) FROM t"), "0");
  EXPECT_EQ(server_->Sql("INSERT INTO t VALUES (1), (2)").affected(), 2);
}

TEST_F(ConnectionTest, ErrorHasCodeSqlStateAndWords) {
  server_->Sql(
      "DROP TABLE IF EXISTS child, parent; CREATE TABLE parent (id int PRIMARY KEY);"
      "CREATE TABLE child (parent int CONSTRAINT of_parent REFERENCES parent);"
      "INSERT INTO parent VALUES (1), (2); INSERT INTO child VALUES (1), (2)");
  const absl::Status one = server_->sql().Query("DELETE FROM parent WHERE id = 1").status();
  const absl::Status two = server_->sql().Query("DELETE FROM parent WHERE id = 2").status();
  EXPECT_EQ(one.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(SqlState(one), "23503");
  EXPECT_THAT(SqlMessage(one), HasSubstr("of_parent"));
  EXPECT_EQ(SqlMessage(one), SqlMessage(two));
  // The details are in it as well, and those say which row it is.
  EXPECT_NE(one.message(), two.message());
  EXPECT_TRUE(server_->sql().is_open());
}

TEST_F(ConnectionTest, LostConnectionStaysLost) {
  const auto connection = server_->Connect();
  ASSERT_NE(connection, nullptr);
  const std::string pid((*connection).Query("SELECT pg_backend_pid()")->Text(0, 0));
  server_->Sql(absl::StrCat("SELECT pg_terminate_backend(", pid, ", 10000)"));
  for (int i = 0; i < 2; ++i) {
    const absl::Status lost = connection->Query("SELECT 1").status();
    EXPECT_EQ(lost.code(), absl::StatusCode::kUnavailable) << lost;
    EXPECT_FALSE(connection->is_open());
  }
}

TEST_F(ConnectionTest, QuotedNamesAndTextsMeanThemselves) {
  for (const char* conforming : {"on", "off"}) {
    server_->Sql(absl::StrCat("SET standard_conforming_strings = ", conforming,
                              "; SET escape_string_warning = off"));
    for (const std::string text : {"", "it's", R"(a\b)", R"(\')", R"("x")", "ü", "%s", "$1"}) {
      EXPECT_EQ(server_->Value("SELECT " + QuoteText(text)), text) << conforming;
    }
  }
  server_->Sql("RESET ALL");
  for (const std::string name : {"or\"der", "Order", "a.b", "select", "ü"}) {
    const std::string select = absl::StrCat("SELECT 1 AS ", QuoteName(name));
    const auto result =
        server_->sql().Query(absl::StrCat("SELECT ", QuoteName(name), " FROM (", select, ") AS t"));
    EXPECT_TRUE(result.ok()) << result.status();
  }
}

TEST_F(ConnectionTest, ReplicationConnectionRunsItsCommands) {
  const auto connection =
      Connection::Open(server_->Conninfo(), "test", Connection::Kind::kReplication);
  ASSERT_TRUE(connection.ok()) << connection.status();
  EXPECT_EQ((*connection)->Query("IDENTIFY_SYSTEM")->columns(), 4);
  const auto missing = (*connection)->Query("DROP_REPLICATION_SLOT nowhere");
  EXPECT_EQ(missing.status().code(), absl::StatusCode::kNotFound) << missing.status();
}

}  // namespace
}  // namespace ttl::postgres
