#ifndef TTL_CLIENT_POSTGRES_SQL_INSTALL_INSTALLATION_H_
#define TTL_CLIENT_POSTGRES_SQL_INSTALL_INSTALLATION_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "client/postgres/config/config.h"
#include "client/postgres/sql/connect/connection.h"
#include "client/postgres/sql/table_definition.h"

namespace ttl::postgres {

// Returns the SQL that creates everything ttl-postgres needs in the database: its schema, the table
// of policies, functions, views, row-level security, the publication, and the table of progress. It
// is idempotent, and also applies a changed configuration.
std::string InstallSql(const Config& config, absl::Span<const TableDefinition> tables);

// Returns the SQL that removes the view, policies, trigger and publication entry of each table of
// `containers`, and restores its original name, for the duration of `command`. The SQL records
// `command`, which must not contain secrets, since messages show it. InstallSql() restores the
// objects and deletes the record. REQUIRES: the objects that InstallSql() creates for `tables`
// exist.
std::string TakeAwaySql(const Config& config, absl::Span<const TableDefinition> tables,
                        const std::set<std::string>& containers, absl::string_view command);

// Key of the advisory lock that a migration holds.
int64_t MigrationLock(absl::string_view schema);

// A migration recorded by TakeAwaySql() and not yet ended by InstallSql().
struct Migration {
  std::string command;  // name of the command, without arguments
  std::string started_at;
  bool is_running = false;  // a session holds the lock; else it was interrupted
};
// Human-readable: "a migration (COMMAND), begun at TIME, is running".
std::string Describe(const Migration& migration);
// Absent if no migration is recorded, or the role cannot read the record, or it does not exist.
absl::StatusOr<std::optional<Migration>> ReadMigration(Connection& connection,
                                                       const std::string& schema);

// Returns the SQL that removes everything installed, including the slot; missing objects are no
// error.
std::string UninstallSql(const Config& config);

// Differences between the installed objects and those that InstallSql() creates, human-readable.
struct InstallationState {
  // The migration that removed some objects; empty: none.
  std::string migration;
  // Problems that prevent reading the changes of any table.
  std::vector<std::string> problems;
  // By container: why the stream lacks changes of its table.
  std::map<std::string, std::string> unpublished;
  // By container: a view, policy or trigger of its table that was made for another configuration,
  // or that the current configuration no longer has. Rows that it shows as live may be expired by
  // the current configuration, and vice versa.
  std::map<std::string, std::string> outdated;
  // Views, policies and triggers that do not hide or replace rows as configured. The changes of the
  // tables can be read all the same.
  std::vector<std::string> faults;
  // Objects that a former configuration created for other tables.
  std::vector<std::string> leftovers;
  // Publication entries that the tables do not need.
  std::vector<std::string> unneeded;
};
absl::StatusOr<InstallationState> ReadInstallation(Connection& connection, const Config& config,
                                                   absl::Span<const TableDefinition> tables);

// OK if exactly the objects for these tables are installed. Otherwise FAILED_PRECONDITION lists the
// differences and refers to `ttl-postgres install`.
absl::Status CheckInstalled(Connection& connection, const Config& config,
                            absl::Span<const TableDefinition> tables);

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_SQL_INSTALL_INSTALLATION_H_
