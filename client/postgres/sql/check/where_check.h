#ifndef TTL_CLIENT_POSTGRES_SQL_CHECK_WHERE_CHECK_H_
#define TTL_CLIENT_POSTGRES_SQL_CHECK_WHERE_CHECK_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/postgres/sql/check/catalog_report.h"
#include "client/postgres/sql/connect/connection.h"
#include "client/postgres/sql/table_definition.h"

namespace ttl::postgres {

// Why the server cannot parse the table's `where`; empty if it can, or if the table is locked.
// Changes nothing and only plans queries.
absl::StatusOr<std::string> WhyWhereIsUnfit(Connection& connection, const TableConfig& table);

// Leaves the table out, with a problem, if its `where` is not an immutable condition on its own
// columns. Creates a temporary table in a transaction that is rolled back. A timeout is a warning;
// an error means that the database could not be queried. `table` must not be an element of
// `report.tables`, which may lose it.
absl::Status CheckWhere(Connection& connection, const TableDefinition& table,
                        CatalogReport& report);

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_SQL_CHECK_WHERE_CHECK_H_
