#ifndef TTL_CLIENT_POSTGRES_PROGRAM_DATABASE_CHECK_H_
#define TTL_CLIENT_POSTGRES_PROGRAM_DATABASE_CHECK_H_

#include <memory>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "client/postgres/config/config.h"
#include "client/postgres/program/command.h"
#include "client/postgres/sql/check/catalog.h"
#include "client/postgres/sql/connect/connection.h"

namespace ttl::postgres {

// A database, and what holding the configuration against it found.
struct DatabaseCheck {
  std::unique_ptr<Connection> connection;
  CatalogReport report;
};

// What a check may leave out. Nothing is owned; null: there is none.
struct CheckOptions {
  // The configuration of the ttl-postgres of this process that follows the database.
  const Config* running = nullptr;
  // A configuration whose tables were checked before: the times in those that are the same, which
  // may take seconds to read, are not read again.
  const Config* checked = nullptr;
  // As in Connection::Open().
  ConnectionBreaker* breaker = nullptr;
};

// Connects and checks. An error means that the database could not be asked.
absl::StatusOr<DatabaseCheck> CheckDatabase(const Config& config, const CheckOptions& options = {});

// Leaves out the tables whose `where` cannot be used or whose times count in another unit, it
// seems, of those that the catalogue has nothing against and `is_due` wants to be looked at.
absl::Status CheckTables(
    Connection& connection, CatalogReport& report,
    absl::FunctionRef<bool(const TableDefinition&)> is_due = [](const auto&) { return true; });

// Prints every problem and every warning, one a line.
void PrintReport(const CatalogReport& report, Output output);

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_PROGRAM_DATABASE_CHECK_H_
