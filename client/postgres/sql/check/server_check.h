#ifndef TTL_CLIENT_POSTGRES_SQL_CHECK_SERVER_CHECK_H_
#define TTL_CLIENT_POSTGRES_SQL_CHECK_SERVER_CHECK_H_

#include "absl/status/statusor.h"
#include "client/postgres/config/config.h"
#include "client/postgres/sql/check/catalog_report.h"
#include "client/postgres/sql/connect/connection.h"

namespace ttl::postgres {

// Adds problems of the server, its settings, our role, and the names of `config` that do not belong
// to one table. Returns false if the tables of this server should not be checked.
absl::StatusOr<bool> CheckServer(Connection& connection, const Config& config,
                                 CatalogReport& report);

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_SQL_CHECK_SERVER_CHECK_H_
