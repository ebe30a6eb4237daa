#ifndef TTL_CLIENT_POSTGRES_SQL_CHECK_REPLICATION_CHECK_H_
#define TTL_CLIENT_POSTGRES_SQL_CHECK_REPLICATION_CHECK_H_

#include "absl/status/status.h"
#include "client/postgres/config/config.h"
#include "client/postgres/sql/check/catalog_report.h"
#include "client/postgres/sql/connect/connection.h"

namespace ttl::postgres {

// Checks, on a new connection, whether the replication stream of the database behind `connection`
// can be read, and adds problems to the report. While a session reads our slot, the connection is
// opened only if `is_other_address`: that session may have used another address. The lack of a free
// walsender is then not a problem. An error means that the database could not be queried. `breaker`
// as in Connection::Open().
absl::Status CheckReplication(Connection& connection, const Config& config, bool is_other_address,
                              ConnectionBreaker* breaker, CatalogReport& report);

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_SQL_CHECK_REPLICATION_CHECK_H_
