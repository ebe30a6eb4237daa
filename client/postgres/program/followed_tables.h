#ifndef TTL_CLIENT_POSTGRES_PROGRAM_FOLLOWED_TABLES_H_
#define TTL_CLIENT_POSTGRES_PROGRAM_FOLLOWED_TABLES_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/postgres/config/config.h"
#include "client/postgres/sql/check/catalog.h"
#include "client/postgres/sql/connect/connection.h"
#include "client/postgres/sql/table_definition.h"

namespace ttl::postgres {

// The configured tables that can be followed. A table is left out, so that the others continue, if
// it was dropped, renamed, changed or not installed yet, or if its view, policies or trigger are
// from another configuration.
struct FollowedTables {
  std::vector<TableDefinition> tables;
  // Why a table is left out, by container.
  std::map<std::string, std::string> left_out;
  // Faults of the installation of the followed tables, for humans; empty: none.
  std::string fault;
};

// Compares the result of CheckCatalog() with the installation; `tables` may be empty.
// FAILED_PRECONDITION: nothing is installed for this configuration. REQUIRES: report.is_server_fit.
absl::StatusOr<FollowedTables> FindFollowedTables(Connection& connection, const Config& config,
                                                  const CatalogReport& report);

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_PROGRAM_FOLLOWED_TABLES_H_
