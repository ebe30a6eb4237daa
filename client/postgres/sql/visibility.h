#ifndef TTL_CLIENT_POSTGRES_SQL_VISIBILITY_H_
#define TTL_CLIENT_POSTGRES_SQL_VISIBILITY_H_

#include <string>

#include "absl/strings/string_view.h"
#include "client/postgres/sql/table_definition.h"

// The TTL rules (service/core/ttl_rules.h) as SQL conditions. A row is visible at
// statement_timestamp() up to the last microsecond before its expire time. The policy comes
// from the table of policies in `schema`, in scalar subqueries that do not depend on the row:
// PostgreSQL asks them once for a statement at most. Without a policy TTL is off. What makes
// no sense, a NULL or a time before 1970 above all, is visible.
namespace ttl::postgres {

// The condition of a table with `where`, in parentheses. It names columns alone: the table must be
// all that the innermost level of the statement selects from.
std::string WhereCondition(const TableConfig& table);

// Whether a row of `table` is visible; true or false, never NULL. `row` is what the table is
// called in the statement: "t", or empty to name its columns alone. What the table's `where` does
// not take in is visible. Without a ttl column the time is compared as it is stored, so that an
// index on it serves; in a zone whose offset changes it is the instant that is compared, and an
// index on that expression serves. REQUIRES: a table without a column of _ts is called t.
std::string VisibleCondition(const TableDefinition& table, absl::string_view schema,
                             absl::string_view row);

// When the row t of a table without a column of _ts was last written by the application: the commit
// time that `own_schema` holds for it, if it is as a rewrite of the table left it; else that of the
// transaction that wrote it, NULL if the server has none. Names are qualified. With an empty
// `own_schema` nothing is held.
std::string CommitTimeOfRow(absl::string_view own_schema);

// Columns or parameters of an expression; all are SQL.
struct JudgedValues {
  std::string container;  // text
  std::string ts;         // timestamp with time zone
  std::string ttl;        // bigint
};

// The _ts column of a table with one of timestamps as timestamp with time zone. `column` is what it
// is called in the statement.
std::string InstantOfColumn(const TableDefinition& table, absl::string_view column);

// Whether an item of these values is expired; true or false, never NULL.
std::string ExpiredExpression(const JudgedValues& values, absl::string_view schema);

// The earliest _ts of an item without a ttl of its own that is visible in the container that
// an SQL text says; '-infinity' if all are.
std::string FirstVisibleTs(absl::string_view container, absl::string_view schema);

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_SQL_VISIBILITY_H_
