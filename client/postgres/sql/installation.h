#ifndef TTL_CLIENT_POSTGRES_SQL_INSTALLATION_H_
#define TTL_CLIENT_POSTGRES_SQL_INSTALLATION_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "client/postgres/config/config.h"
#include "client/postgres/sql/connection.h"
#include "client/postgres/sql/table_definition.h"

namespace ttl::postgres {

// The SQL that makes everything ttl-postgres needs in the database: its schema, the mirror of
// the policies, functions, views, row-level security, the publication, the table of progress.
// Running it again, also after the configuration has changed, leaves the same.
std::string InstallSql(const Config& config, absl::Span<const TableDefinition> tables);

// The SQL that removes all of it, whatever of it is there, the slot included.
std::string UninstallSql(const Config& config);

// Whether what InstallSql() makes is there for these tables; FAILED_PRECONDITION says what
// is missing, and that `ttl-postgres install` makes it.
absl::Status CheckInstalled(Connection& connection, const Config& config,
                            absl::Span<const TableDefinition> tables);

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_SQL_INSTALLATION_H_
