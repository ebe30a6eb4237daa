#ifndef TTL_CLIENT_POSTGRES_PROGRAM_DATABASE_CHECK_H_
#define TTL_CLIENT_POSTGRES_PROGRAM_DATABASE_CHECK_H_

#include <memory>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/postgres/config/config.h"
#include "client/postgres/program/command.h"
#include "client/postgres/sql/check/catalog.h"
#include "client/postgres/sql/connect/connection.h"

namespace ttl::postgres {

// A database connection, and the result of checking the configuration against the database.
struct DatabaseCheck {
  std::unique_ptr<Connection> connection;
  CatalogReport report;
};

// Options of CheckDatabase(). The pointers are not owned and may be null.
struct CheckOptions {
  // The configuration with which this process follows the database.
  const Config* running = nullptr;
  // A configuration that was checked before. Tables that are unchanged since are not read again,
  // because that may take seconds.
  const Config* checked = nullptr;
  // As in Connection::Open().
  ConnectionBreaker* breaker = nullptr;
};

// Connects and checks, at the time `now`. Returns an error only if the database cannot be queried.
absl::StatusOr<DatabaseCheck> CheckDatabase(const Config& config, absl::Time now,
                                            const CheckOptions& options = {});

// Checks the rows of each table that passed the catalogue check and that `is_due` selects. Leaves
// out a table if its `where` cannot be used or its times seem to be in another unit. Also
// checks the archive or the mark of its on_expiry.
absl::Status CheckTables(
    Connection& connection, absl::Time now, CatalogReport& report,
    absl::FunctionRef<bool(const TableDefinition&)> is_due = [](const auto&) { return true; });

// Prints each problem, warning and note on one line.
void PrintReport(const CatalogReport& report, Output output);

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_PROGRAM_DATABASE_CHECK_H_
