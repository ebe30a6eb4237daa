#ifndef TTL_CLIENT_POSTGRES_SQL_CHECK_MARK_CHECK_H_
#define TTL_CLIENT_POSTGRES_SQL_CHECK_MARK_CHECK_H_

#include "absl/status/status.h"
#include "client/postgres/sql/check/catalog_report.h"
#include "client/postgres/sql/connect/connection.h"
#include "client/postgres/sql/table_definition.h"

namespace ttl::postgres {

// Leaves a table with on_expiry: mark out, with a problem, if its mark_value is not a value of its
// mark_column, if our role may not update that column, or if a marked row still matches the table's
// `where`. The last test uses the condition and at most ten thousand rows, and is skipped if a
// column is generated from the mark_column. Warns of unique indexes with the column, and if the
// mark could not be tested, for instance because of a timeout. Does nothing for a table with
// another on_expiry. An error means that the database could not be queried. `table` must not be an
// element of `report.tables`, which may lose it.
absl::Status CheckMark(Connection& connection, const TableDefinition& table, CatalogReport& report);

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_SQL_CHECK_MARK_CHECK_H_
