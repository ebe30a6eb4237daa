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

// Which of the configured tables can be followed. One that was dropped, renamed, changed or not
// installed yet, or whose view, policies or trigger are of another configuration, is left out, so
// that the others go on.
struct FollowedTables {
  std::vector<TableDefinition> tables;
  // By container: why its table is left out.
  std::map<std::string, std::string> left_out;
  // What is wrong with what is installed for those that are followed; empty: nothing.
  std::string fault;
};

// Holds what CheckCatalog() found against what is installed; there may be no table left that can be
// followed. FAILED_PRECONDITION: nothing is installed for this configuration. REQUIRES:
// report.is_server_fit.
absl::StatusOr<FollowedTables> FindFollowedTables(Connection& connection, const Config& config,
                                                  const CatalogReport& report);

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_PROGRAM_FOLLOWED_TABLES_H_
