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

// The SQL that makes everything ttl-postgres needs in the database: its schema, the mirror of
// the policies, functions, views, row-level security, the publication, the table of progress.
// Running it again, also after the configuration has changed, leaves the same.
std::string InstallSql(const Config& config, absl::Span<const TableDefinition> tables);

// The SQL by which the tables of `containers` are for a time as if nothing were installed for them:
// without view, policies, trigger and place in the publication, and by the names that they had. It
// notes `command`, which everybody may read, as what that is for; InstallSql() brings all of it
// back, and forgets the command. REQUIRES: what InstallSql() makes for `tables` is there.
std::string TakeAwaySql(const Config& config, absl::Span<const TableDefinition> tables,
                        const std::set<std::string>& containers, absl::string_view command);

// The key of the advisory lock that a migration holds.
int64_t MigrationLock(absl::string_view schema);

// What TakeAwaySql() noted and nobody has brought back.
struct Migration {
  std::string command;  // its name, without arguments
  std::string started_at;
  bool is_under_way = false;  // somebody has the lock; else it was interrupted
};
// For people: "a migration (COMMAND), begun at TIME, is running".
std::string Describe(const Migration& migration);
// Absent: there is none, or no schema of ours.
absl::StatusOr<std::optional<Migration>> ReadMigration(Connection& connection,
                                                       const std::string& schema);

// The SQL that removes all of it, whatever of it is there, the slot included.
std::string UninstallSql(const Config& config);

// How what is there differs from what InstallSql() makes, for people.
struct InstallationState {
  // What has taken some of it away, for people; empty: nothing.
  std::string migration;
  // Without these nothing can be followed.
  std::vector<std::string> problems;
  // By container: why the changes of its table are not all in the stream.
  std::map<std::string, std::string> unpublished;
  // By container: which view, policy or trigger of its table was made for another configuration, or
  // is in none any more.
  // What it shows as live may be expired by this one, and the other way round.
  std::map<std::string, std::string> outdated;
  // Views, policies and triggers that do not hide or replace as they should. The tables can be
  // followed all the same.
  std::vector<std::string> faults;
  // What other tables of a former configuration left.
  std::vector<std::string> leftovers;
  // What is streamed for none of the tables.
  std::vector<std::string> unneeded;
};
absl::StatusOr<InstallationState> ReadInstallation(Connection& connection, const Config& config,
                                                   absl::Span<const TableDefinition> tables);

// Whether it is all there for these tables, and nothing else; FAILED_PRECONDITION says what
// is missing, and that `ttl-postgres install` makes it.
absl::Status CheckInstalled(Connection& connection, const Config& config,
                            absl::Span<const TableDefinition> tables);

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_SQL_INSTALL_INSTALLATION_H_
