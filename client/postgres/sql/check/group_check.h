#ifndef TTL_CLIENT_POSTGRES_SQL_CHECK_GROUP_CHECK_H_
#define TTL_CLIENT_POSTGRES_SQL_CHECK_GROUP_CHECK_H_

#include "absl/status/status.h"
#include "client/postgres/config/table_config.h"
#include "client/postgres/sql/check/catalog_report.h"
#include "client/postgres/sql/connect/connection.h"

namespace ttl::postgres {

// Makes the definitions of the tables of one group, which the report has, one definition: that of
// the first table with the others as members. If there are problems, also new ones with the tables
// together, the report has none of them. An error means that the database could not be queried.
absl::Status JoinGroup(Connection& connection, const TableConfig& config, CatalogReport& report);

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_SQL_CHECK_GROUP_CHECK_H_
