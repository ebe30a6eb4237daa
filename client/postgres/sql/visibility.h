#ifndef TTL_CLIENT_POSTGRES_SQL_VISIBILITY_H_
#define TTL_CLIENT_POSTGRES_SQL_VISIBILITY_H_

#include <string>

#include "absl/strings/string_view.h"
#include "client/postgres/sql/table_definition.h"

// The TTL rules (service/core/ttl_rules.h) as SQL conditions. A row is visible at
// statement_timestamp(), or at the instant that the session has set (as_of.h), up to the last
// microsecond before its expire time. The policy comes from
// the table of policies in `schema`, in scalar subqueries that do not depend on the row, so
// PostgreSQL evaluates them at most once per statement. Without a policy TTL is off. A row with
// illegal values, above all a NULL or a time before 1970, is visible.
namespace ttl::postgres {

// The `where` of a table, in parentheses. It contains unqualified column names: the innermost level
// of the statement must select from this table alone.
std::string WhereCondition(const TableConfig& table);

// Whether a row of `table` is visible; true or false, never NULL. `row` is the alias of the table
// in the statement, such as "t", or empty for unqualified column names. A row that does not match
// the `where` of the table is visible. Without a ttl column the stored time is compared, so that an
// index on it can be used; in a zone whose offset changes the instant is compared, and an index on
// that expression can be used. A row of a group is visible if any row of the group is live, for
// which a function of `schema` is called, and it is not condemned. REQUIRES: the alias of a table
// without a `_ts` column is t.
std::string VisibleCondition(const TableDefinition& table, absl::string_view schema,
                             absl::string_view row);

// VisibleCondition() for a policy, which PostgreSQL also applies to rows that it has yet to write:
// those have no xmin that could tell that they are not condemned, so condemned rows are not
// excluded.
std::string VisibleInPolicy(const TableDefinition& table, absl::string_view schema);

// VisibleCondition() without the other rows of its group. REQUIRES: the table has a column of times
// and no `where`.
std::string OwnVisibleCondition(const TableDefinition& table, absl::string_view schema,
                                absl::string_view row);

// The _ts of row t in whole seconds, as RowToItem() computes it; NULL if it has none.
std::string SecondsOfTs(const TableDefinition& table);

// When the application last wrote the row t of a table without a `_ts` column: the commit time held
// for it in `own_schema`, if the row is unchanged since a rewrite of the table; else that of the
// transaction that wrote it, NULL if the server does not have it. Names are qualified. Without
// `own_schema` no times are held.
std::string CommitTimeOfRow(absl::string_view own_schema);

// SQL of the columns or parameters of an expression.
struct JudgedValues {
  std::string container;  // text
  std::string ts;         // timestamp with time zone
  std::string ttl;        // bigint
};

// The `_ts` column as timestamp with time zone. `column` is its name in the statement. REQUIRES:
// the column is a timestamp.
std::string InstantOfColumn(const TableDefinition& table, absl::string_view column);

// Whether an item with these values is expired; true or false, never NULL.
std::string ExpiredExpression(const JudgedValues& values, absl::string_view schema);

// The earliest `_ts` at which an item without its own ttl is visible in `container`, an SQL text;
// '-infinity' if all are.
std::string FirstVisibleTs(absl::string_view container, absl::string_view schema);

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_SQL_VISIBILITY_H_
