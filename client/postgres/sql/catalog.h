#ifndef TTL_CLIENT_POSTGRES_SQL_CATALOG_H_
#define TTL_CLIENT_POSTGRES_SQL_CATALOG_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/postgres/config/config.h"
#include "client/postgres/sql/connection.h"
#include "client/postgres/sql/table_definition.h"

namespace ttl::postgres {

// What holding a configuration against a database found.
struct CatalogReport {
  // In the order of the configuration; those with problems are left out.
  std::vector<TableDefinition> tables;
  // What must be changed first, each with the table and, where there is one, the statement
  // that changes it. Empty: all is well.
  std::vector<std::string> problems;
  // What works but deserves a thought.
  std::vector<std::string> warnings;
};

// Holds `config` against the catalogue and the settings of the server (version, wal_level,
// slots, rights, tables, columns and their types, keys, replica identity...). An error means
// that the database could not be asked.
absl::StatusOr<CatalogReport> CheckCatalog(Connection& connection, const Config& config);

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_SQL_CATALOG_H_
