#ifndef TTL_TESTS_POSTGRES_DATABASE_FOR_TEST_H_
#define TTL_TESTS_POSTGRES_DATABASE_FOR_TEST_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "client/postgres/config/config.h"
#include "client/postgres/sql/check/catalog.h"
#include "client/postgres/sql/connect/connection.h"
#include "client/postgres/sql/connect/query_result.h"
#include "client/postgres/sql/table_definition.h"
#include "tests/testing/postgres_server.h"

namespace ttl::postgres {

// A database of its own for one test, on a server that all tests of the executable share. Roles
// and slots are the server's: take names from here.
class DatabaseForTest {
 public:
  DatabaseForTest();

  static PostgresServer& server();

  const std::string& name() const { return name_; }
  std::string Conninfo(absl::string_view user = "postgres") const;

  // The superuser's connection.
  Connection& connection();
  // What the last of the statements returned; the test has failed if one cannot be run.
  QueryResult Sql(const std::string& statements);
  // The one value that a query returns; "NULL" for NULL.
  std::string Value(const std::string& query);

  // A new role that may log in, with `attributes` of CREATE ROLE, that no other test has.
  std::string CreateRole(const std::string& attributes = "");
  // Null, and the test has failed, if there can be no connection.
  std::unique_ptr<Connection> Connect(absl::string_view user = "postgres") const;

  // Stops the shared server and starts it again; connections of the test's own are lost.
  void RestartServer();

  // A configuration for this database, with a slot and a publication that no other test has.
  Config ConfigFor(const std::vector<TableConfig>& tables) const;

  // The test has failed if the database cannot be asked.
  CatalogReport Check(const Config& config);
  // The definitions of all tables; the test has failed if there is a problem with one.
  std::vector<TableDefinition> Define(const Config& config);
  // Installs for these tables, and returns them. The test has failed if that fails.
  std::vector<TableDefinition> Install(const Config& config);
  absl::Status Uninstall(const Config& config);

  // All that pg_dump tells of the database, with the replication slots of it.
  std::string Dump();

 private:
  const int number_;
  const std::string name_;
  int roles_ = 0;
  std::unique_ptr<Connection> connection_;
};

}  // namespace ttl::postgres

#endif  // TTL_TESTS_POSTGRES_DATABASE_FOR_TEST_H_
