#ifndef TTL_CLIENT_POSTGRES_SQL_CATALOG_REPORT_H_
#define TTL_CLIENT_POSTGRES_SQL_CATALOG_REPORT_H_

#include <string>
#include <vector>

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

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_SQL_CATALOG_REPORT_H_
