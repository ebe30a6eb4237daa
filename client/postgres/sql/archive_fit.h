#ifndef TTL_CLIENT_POSTGRES_SQL_ARCHIVE_FIT_H_
#define TTL_CLIENT_POSTGRES_SQL_ARCHIVE_FIT_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/postgres/config/table_config.h"
#include "client/postgres/sql/connect/connection.h"
#include "client/postgres/sql/table_definition.h"

namespace ttl::postgres {

// These functions apply to a table with on_expiry: archive and read only the catalog. REQUIRES:
// only pg_catalog is in the search path. An error means that the database could not be queried.

// Why the archive_table would refuse every row, or change or lose a part of one, each reason with
// its solution; empty: rows can be moved to it.
absl::StatusOr<std::vector<std::string>> WhyArchiveIsUnfit(Connection& connection,
                                                           const TableConfig& table);

// Why the archive_table may refuse a single row, which then stays in the table.
absl::StatusOr<std::vector<std::string>> WhyArchiveMayRefuse(Connection& connection,
                                                             const TableConfig& table);

// Reads how to move the rows of `table`, with a signature even if the archive table does not exist.
// If the tables change meanwhile, the signature differs from the current one, so a changed archive
// is never used.
absl::StatusOr<ArchiveDefinition> ReadArchive(Connection& connection, const TableConfig& table);

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_SQL_ARCHIVE_FIT_H_
