#ifndef TTL_CLIENT_POSTGRES_SQL_ARCHIVE_FIT_H_
#define TTL_CLIENT_POSTGRES_SQL_ARCHIVE_FIT_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/postgres/config/table_config.h"
#include "client/postgres/sql/connect/connection.h"
#include "client/postgres/sql/table_definition.h"

namespace ttl::postgres {

// Of a table with on_expiry: archive. These read the catalogue alone. Only pg_catalog may be in the
// search path. An error means that the database could not be asked.

// Why the archive_table would refuse all rows, or change or lose one, each reason with what cures
// it; empty: rows may be moved to it.
absl::StatusOr<std::vector<std::string>> WhyArchiveIsUnfit(Connection& connection,
                                                           const TableConfig& table);

// Why it may refuse a single row, which stays in the table then.
absl::StatusOr<std::vector<std::string>> WhyArchiveMayRefuse(Connection& connection,
                                                             const TableConfig& table);

// What the table of that name has to be moved. Without an archive table there is a signature, too.
// A change meanwhile makes the signature differ from what is there, and never passes for fit.
absl::StatusOr<ArchiveDefinition> ReadArchive(Connection& connection, const TableConfig& table);

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_SQL_ARCHIVE_FIT_H_
