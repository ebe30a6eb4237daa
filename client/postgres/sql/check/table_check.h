#ifndef TTL_CLIENT_POSTGRES_SQL_CHECK_TABLE_CHECK_H_
#define TTL_CLIENT_POSTGRES_SQL_CHECK_TABLE_CHECK_H_

#include "absl/status/status.h"
#include "client/postgres/config/config.h"
#include "client/postgres/config/table_config.h"
#include "client/postgres/sql/check/catalog_report.h"
#include "client/postgres/sql/connect/connection.h"

namespace ttl::postgres {

// Checks one table of `config` against the catalog. Adds its definition or its problems to the
// report. An error means that the database could not be queried.
absl::Status CheckTable(Connection& connection, const Config& config, const TableConfig& table,
                        CatalogReport& report);

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_SQL_CHECK_TABLE_CHECK_H_
