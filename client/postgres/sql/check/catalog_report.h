#ifndef TTL_CLIENT_POSTGRES_SQL_CHECK_CATALOG_REPORT_H_
#define TTL_CLIENT_POSTGRES_SQL_CHECK_CATALOG_REPORT_H_

#include <map>
#include <string>
#include <vector>

#include "client/postgres/sql/table_definition.h"

namespace ttl::postgres {

// Result of the check of a configuration against a database.
struct CatalogReport {
  // Records a problem of one table and removes its definition, if any, from `tables`. `why` is the
  // text for `left_out`; empty: `problem`.
  void LeaveOut(const std::string& container, const std::string& problem,
                const std::string& why = "");

  // Tables without problems, in the order of the configuration.
  std::vector<TableDefinition> tables;
  // Problems that must be solved first, each with its table and, if there is one, the statement
  // that solves it. Empty: none.
  std::vector<std::string> problems;
  // Reasons for which an archive_table refuses rows of its table. They must be solved first too,
  // but the changes of the table can be read all the same; until then each delete of a row fails.
  std::vector<std::string> archive_problems;
  // Conditions that work but deserve attention.
  std::vector<std::string> warnings;
  // Facts that match the configuration, with figures.
  std::vector<std::string> notes;

  // Problems of single tables, by container; also in `problems`. The other tables can be used
  // without them. The same problem always has the same text.
  std::map<std::string, std::string> left_out;
  // Whether `problems` contains only these.
  bool is_server_fit = false;
  // The problem that the server cannot be reached for replication at present, if the server has no
  // other problem; else empty.
  std::string unreachable;
  // The statement that limits the WAL that an unread slot retains, if the server has no limit and
  // our slot does not exist yet; else empty.
  std::string wal_limit;
};

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_SQL_CHECK_CATALOG_REPORT_H_
