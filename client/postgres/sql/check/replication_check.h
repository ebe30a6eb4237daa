#ifndef TTL_CLIENT_POSTGRES_SQL_CHECK_REPLICATION_CHECK_H_
#define TTL_CLIENT_POSTGRES_SQL_CHECK_REPLICATION_CHECK_H_

#include "absl/status/status.h"
#include "client/postgres/config/config.h"
#include "client/postgres/sql/check/catalog_report.h"
#include "client/postgres/sql/connect/connection.h"

namespace ttl::postgres {

// Whether the replication stream of the database behind `connection` can be read, by a connection
// that is opened for it. Adds to the report what is wrong. While somebody reads our slot that
// connection is opened only if the one who reads it may have come by another address, as
// `is_other_address` says; it is no fault then that no walsender is left for it. An error means
// that the database could not be asked. `breaker` as in Connection::Open().
absl::Status CheckReplication(Connection& connection, const Config& config, bool is_other_address,
                              ConnectionBreaker* breaker, CatalogReport& report);

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_SQL_CHECK_REPLICATION_CHECK_H_
