#ifndef TTL_CLIENT_POSTGRES_SQL_END_COLUMN_H_
#define TTL_CLIENT_POSTGRES_SQL_END_COLUMN_H_

#include <string>

#include "absl/strings/string_view.h"
#include "client/postgres/sql/table_definition.h"

// The expires_column of a table as SQL: what it says is the item's expire_at. `column` is what it
// is called in the statement. Pure; the table must have one.
namespace ttl::postgres {

// How the column is compared. All are SQL of one type, which is the column's own unless its zone
// has an offset that changes: an index on `value` serves.
struct EndScale {
  std::string value;   // of the row
  std::string second;  // the current second: what is later is live
  std::string zero;    // what is not later is no legal end, and never expires
  std::string last;    // nor is what is later than this
  std::string always;  // no later than any legal end
  bool has_infinity;   // the type has an infinity, which is later than `last` and legal
};
EndScale ScaleOfEnd(const TableDefinition& table, absl::string_view column);

// What RowToItem() takes: the instant, or a number as it is.
std::string InstantOfEnd(const TableDefinition& table, absl::string_view column);

// expire_at in whole seconds, as RowToItem() has it: NULL if the row has none, 0 if what it has is
// not legal.
std::string ExpireAtOfRow(const TableDefinition& table, absl::string_view column);

// The ttl of a row whose ttl_column, if there is one, is NULL, as RowToItem() has it: -1 if
// its end says that it never expires, else NULL.
std::string TtlByEnd(const TableDefinition& table, absl::string_view column);

// The expression that an index has to be on, where one on the column does not serve; else empty.
std::string IndexedEnd(const TableDefinition& table);

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_SQL_END_COLUMN_H_
