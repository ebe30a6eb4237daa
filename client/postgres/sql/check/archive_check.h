#ifndef TTL_CLIENT_POSTGRES_SQL_CHECK_ARCHIVE_CHECK_H_
#define TTL_CLIENT_POSTGRES_SQL_CHECK_ARCHIVE_CHECK_H_

#include "absl/status/status.h"
#include "client/postgres/sql/check/catalog_report.h"
#include "client/postgres/sql/connect/connection.h"
#include "client/postgres/sql/table_definition.h"

namespace ttl::postgres {

// Adds to report.archive_problems why the archive may lose or refuse rows, and warns of rows that
// foreign keys delete together with a row of the table and that are not moved. Does nothing for a
// table with another on_expiry. An error means that the database could not be queried.
absl::Status CheckArchive(Connection& connection, const TableDefinition& table,
                          CatalogReport& report);

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_SQL_CHECK_ARCHIVE_CHECK_H_
