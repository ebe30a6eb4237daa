#ifndef TTL_CLIENT_POSTGRES_SQL_GROUP_H_
#define TTL_CLIENT_POSTGRES_SQL_GROUP_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "client/postgres/sql/table_definition.h"

// Groups: the rows of one or several tables with equal columns of group_by are one item, which is
// live until the latest of the ends of its rows. A row that never expires keeps its group. Rows of
// a table without a column of times have no influence on the end.
//
// Whoever writes a row holds a shared advisory lock of its group until its transaction ends: a
// trigger on each table takes it. Whoever deletes a group first takes the exclusive lock. The locks
// are of a fixed number of buckets, so that a transaction that writes into many groups does not
// fill the lock table of the server.
namespace ttl::postgres {

// The number of locks of a group's tables.
inline constexpr int kGroupLocks = 1024;

bool IsGroup(const TableDefinition& table);

// Whether the rows have ends of their own.
bool HasTimes(const TableDefinition& table);

// The real tables of an item: the table itself, then its members. Valid as long as `table`.
std::vector<const TableDefinition*> TablesOf(const TableDefinition& table);

// Copies of the real tables of all items.
std::vector<TableDefinition> AllTables(absl::Span<const TableDefinition> tables);

// Takes the lock of a group, as a call of `function`: of pg_advisory_xact_lock_shared,
// pg_try_advisory_xact_lock or pg_advisory_xact_lock. `key` has the SQL of the columns of the
// group, each of the type of the column.
std::string LockGroup(const TableDefinition& table, absl::string_view function,
                      absl::Span<const std::string> key);

// "schema"."name" of the function that tells whether a group has a live row. Its arguments are the
// columns of the group.
std::string GroupIsLiveName(const TableDefinition& table, absl::string_view schema);

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_SQL_GROUP_H_
