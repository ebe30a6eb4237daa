#ifndef TTL_CLIENT_POSTGRES_SQL_CHECK_CATALOG_REPORT_H_
#define TTL_CLIENT_POSTGRES_SQL_CHECK_CATALOG_REPORT_H_

#include <map>
#include <string>
#include <vector>

#include "client/postgres/sql/table_definition.h"

namespace ttl::postgres {

// What holding a configuration against a database found.
struct CatalogReport {
  // Notes a problem of one table, whose definition, if it has one, goes. `why` is the same in other
  // words, for `left_out`; empty: it is `problem`.
  void LeaveOut(const std::string& container, const std::string& problem,
                const std::string& why = "");

  // In the order of the configuration; those with problems are left out.
  std::vector<TableDefinition> tables;
  // What must be changed first, each with the table and, where there is one, the statement
  // that changes it. Empty: all is well.
  std::vector<std::string> problems;
  // What makes an archive_table refuse the rows of its table: to be changed first, too. The table
  // can be followed all the same, and until then each delete of a row fails.
  std::vector<std::string> archive_problems;
  // What works but deserves a thought.
  std::vector<std::string> warnings;
  // What is as the configuration expects it, with figures.
  std::vector<std::string> notes;

  // The problems of single tables again, by container: the others can be followed without them. The
  // same problem has the same words whenever it is found.
  std::map<std::string, std::string> left_out;
  // Whether there are no other problems than these.
  bool is_server_fit = false;
  // The problem, if the only one of these is that the server cannot be reached for replication at
  // the moment; else empty.
  std::string unreachable;
  // The statement that limits the WAL that a slot keeps back while nobody reads it, if the server
  // has no limit and there is no slot of ours yet; else empty.
  std::string wal_limit;
};

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_SQL_CHECK_CATALOG_REPORT_H_
