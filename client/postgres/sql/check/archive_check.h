#ifndef TTL_CLIENT_POSTGRES_SQL_CHECK_ARCHIVE_CHECK_H_
#define TTL_CLIENT_POSTGRES_SQL_CHECK_ARCHIVE_CHECK_H_

#include "absl/status/status.h"
#include "client/postgres/sql/check/catalog_report.h"
#include "client/postgres/sql/connect/connection.h"
#include "client/postgres/sql/table_definition.h"

namespace ttl::postgres {

// Adds why the archive may lose or refuse rows to report.archive_problems, and a warning of rows
// that go with the table's by foreign keys and are not moved. Nothing for a table with another
// on_expiry.
absl::Status CheckArchive(Connection& connection, const TableDefinition& table,
                          CatalogReport& report);

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_SQL_CHECK_ARCHIVE_CHECK_H_
