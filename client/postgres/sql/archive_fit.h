#ifndef TTL_CLIENT_POSTGRES_SQL_ARCHIVE_FIT_H_
#define TTL_CLIENT_POSTGRES_SQL_ARCHIVE_FIT_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/postgres/sql/connect/connection.h"
#include "client/postgres/sql/table_definition.h"

namespace ttl::postgres {

// Why the archive_table of a table with on_expiry: archive would refuse or change rows of it, each
// reason with what cures it; empty: it takes every row whole. Reads the catalogue alone. Only
// pg_catalog may be in the search path. An error means that the database could not be asked.
absl::StatusOr<std::vector<std::string>> WhyArchiveIsUnfit(Connection& connection,
                                                           const TableDefinition& table);

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_SQL_ARCHIVE_FIT_H_
