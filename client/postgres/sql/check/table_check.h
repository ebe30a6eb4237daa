#ifndef TTL_CLIENT_POSTGRES_SQL_CHECK_TABLE_CHECK_H_
#define TTL_CLIENT_POSTGRES_SQL_CHECK_TABLE_CHECK_H_

#include "absl/status/status.h"
#include "client/postgres/config/config.h"
#include "client/postgres/config/table_config.h"
#include "client/postgres/sql/check/catalog_report.h"
#include "client/postgres/sql/connect/connection.h"

namespace ttl::postgres {

// Holds one table of `config` against the catalogue. Adds its definition to the report, or
// what is wrong with it. An error means that the database could not be asked.
absl::Status CheckTable(Connection& connection, const Config& config, const TableConfig& table,
                        CatalogReport& report);

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_SQL_CHECK_TABLE_CHECK_H_
