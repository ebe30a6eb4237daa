#include "tests/postgres/database_for_test.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/postgres/sql/install/installation.h"
#include "tests/testing/process.h"
#include "tests/testing/temp_dir.h"

namespace ttl::postgres {
namespace {

int NextNumber() {
  static int number = 0;
  return ++number;
}

}  // namespace

PostgresServer& DatabaseForTest::server() {
  static PostgresServer server;
  static const bool started = [] {
    const absl::Status status = server.Start();
    if (!status.ok()) {
      ADD_FAILURE() << status;
      abort();
    }
    return true;
  }();
  static_cast<void>(started);
  return server;
}

DatabaseForTest::DatabaseForTest()
    : number_(NextNumber()), name_(absl::StrCat("database_", number_)) {
  server().Sql(absl::StrCat("CREATE DATABASE ", name_));
}

std::string DatabaseForTest::Conninfo(absl::string_view user) const {
  return server().Conninfo(name_, user);
}

Connection& DatabaseForTest::connection() {
  if (connection_ == nullptr || !connection_->is_open()) connection_ = Connect();
  if (connection_ == nullptr) abort();
  return *connection_;
}

QueryResult DatabaseForTest::Sql(const std::string& statements) {
  absl::StatusOr<QueryResult> result = connection().Execute(statements);
  if (result.ok()) return *std::move(result);
  ADD_FAILURE() << result.status() << "\n" << statements;
  return QueryResult(nullptr);
}

std::string DatabaseForTest::Value(const std::string& query) {
  const QueryResult result = Sql(query);
  EXPECT_EQ(result.rows(), 1) << query;
  return std::string(result.Value(0, 0).value_or("NULL"));
}

std::string DatabaseForTest::CreateRole(const std::string& attributes) {
  const std::string role = absl::StrCat("role_", number_, "_", ++roles_);
  Sql(absl::StrCat("CREATE ROLE ", role, " LOGIN ", attributes));
  return role;
}

std::unique_ptr<Connection> DatabaseForTest::Connect(absl::string_view user) const {
  absl::StatusOr<std::unique_ptr<Connection>> connection = Connection::Open(Conninfo(user), "test");
  if (connection.ok()) return *std::move(connection);
  ADD_FAILURE() << connection.status();
  return nullptr;
}

void DatabaseForTest::RestartServer() {
  connection_.reset();
  const absl::Status restarted = server().Restart();
  EXPECT_TRUE(restarted.ok()) << restarted;
}

Config DatabaseForTest::ConfigFor(const std::vector<TableConfig>& tables) const {
  Config config;
  config.database = Conninfo();
  config.slot = absl::StrCat("slot_", number_);
  config.publication = absl::StrCat("publication_", number_);
  config.tables = tables;
  return config;
}

CatalogReport DatabaseForTest::Check(const Config& config) {
  absl::StatusOr<CatalogReport> report = CheckCatalog(connection(), config);
  if (report.ok()) return *report;
  ADD_FAILURE() << report.status();
  return {};
}

std::vector<TableDefinition> DatabaseForTest::Define(const Config& config) {
  const CatalogReport report = Check(config);
  EXPECT_TRUE(report.problems.empty()) << absl::StrJoin(report.problems, "\n");
  return report.tables;
}

std::vector<TableDefinition> DatabaseForTest::Install(const Config& config) {
  std::vector<TableDefinition> tables = Define(config);
  const auto installed = connection().Execute(InstallSql(config, tables));
  EXPECT_TRUE(installed.ok()) << installed.status() << "\n" << InstallSql(config, tables);
  return tables;
}

absl::Status DatabaseForTest::Uninstall(const Config& config) {
  return connection().Execute(UninstallSql(config)).status();
}

std::string DatabaseForTest::Dump() {
  const TempDir dir;
  SubprocessOptions options;
  options.argv = {PG_DUMP, "--schema-only", "--dbname", Conninfo()};
  options.output_path = dir.File("dump.sql");
  const auto process = Subprocess::Start(options);
  const auto ended = process.ok() ? (*process)->Wait(absl::Seconds(60)) : process.status();
  std::ifstream file(options.output_path);
  std::string dump = Value(
      "SELECT 'slots: ' || coalesce(string_agg(slot_name, ' ' ORDER BY slot_name), '') FROM "
      "pg_replication_slots WHERE database = current_database()");
  for (std::string line; std::getline(file, line);) {
    // Its own commands have a random word in them.
    if (!line.empty() && line[0] != '\\') absl::StrAppend(&dump, "\n", line);
  }
  if (!ended.ok() || !ended->Succeeded()) ADD_FAILURE() << "pg_dump: " << dump;
  return dump;
}

}  // namespace ttl::postgres
