#ifndef TTL_CLIENT_POSTGRES_SQL_CHECK_WHERE_CHECK_H_
#define TTL_CLIENT_POSTGRES_SQL_CHECK_WHERE_CHECK_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/postgres/sql/check/catalog_report.h"
#include "client/postgres/sql/connect/connection.h"
#include "client/postgres/sql/table_definition.h"

namespace ttl::postgres {

// Why the server cannot read the table's `where`; empty if it can. Changes nothing, and is cheap.
absl::StatusOr<std::string> WhyWhereIsUnfit(Connection& connection, const TableConfig& table);

// Leaves the table out, with a problem, if its `where` is no immutable condition on its own
// columns. Asks for a temporary table, of which nothing stays. An error means that the database
// could not be asked. `table` is no element of `report.tables`, which may lose it.
absl::Status CheckWhere(Connection& connection, const TableDefinition& table,
                        CatalogReport& report);

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_SQL_CHECK_WHERE_CHECK_H_
