#ifndef TTL_CLIENT_POSTGRES_SQL_INSTALL_INSTALLATION_H_
#define TTL_CLIENT_POSTGRES_SQL_INSTALL_INSTALLATION_H_

#include <map>
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

// The SQL that removes all of it, whatever of it is there, the slot included.
std::string UninstallSql(const Config& config);

// How what is there differs from what InstallSql() makes, for people.
struct InstallationState {
  // Without these nothing can be followed.
  std::vector<std::string> problems;
  // By container: why the changes of its table are not all in the stream.
  std::map<std::string, std::string> unpublished;
  // Views, policies and triggers that do not hide or replace as they should. The tables can be
  // followed all the same.
  std::vector<std::string> faults;
  // What other tables or a former configuration left.
  std::vector<std::string> leftovers;
};
absl::StatusOr<InstallationState> ReadInstallation(Connection& connection, const Config& config,
                                                   absl::Span<const TableDefinition> tables);

// Whether it is all there for these tables, and nothing else; FAILED_PRECONDITION says what
// is missing, and that `ttl-postgres install` makes it.
absl::Status CheckInstalled(Connection& connection, const Config& config,
                            absl::Span<const TableDefinition> tables);

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_SQL_INSTALL_INSTALLATION_H_
