#ifndef TTL_CLIENT_POSTGRES_SQL_CHECK_CATALOG_H_
#define TTL_CLIENT_POSTGRES_SQL_CHECK_CATALOG_H_

#include "absl/status/statusor.h"
#include "client/postgres/config/config.h"
#include "client/postgres/sql/check/catalog_report.h"
#include "client/postgres/sql/connect/connection.h"

namespace ttl::postgres {

// Checks `config` against the catalog and the settings of the server (version, wal_level, slots,
// rights, tables, columns and their types, keys, replica identity...). An error means that the
// database could not be queried.
absl::StatusOr<CatalogReport> CheckCatalog(Connection& connection, const Config& config);

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_SQL_CHECK_CATALOG_H_
