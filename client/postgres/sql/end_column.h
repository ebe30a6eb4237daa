#ifndef TTL_CLIENT_POSTGRES_SQL_END_COLUMN_H_
#define TTL_CLIENT_POSTGRES_SQL_END_COLUMN_H_

#include <string>

#include "absl/strings/string_view.h"
#include "client/postgres/sql/table_definition.h"

// SQL of the expires_column of a table, which is the expire_at of the item. `column` is its name in
// the statement. REQUIRES: the table has an expires_column.
namespace ttl::postgres {

// Operands for comparing the column; `now` is SQL of the instant by which rows are judged. All are
// SQL of one type, which is that of the column unless the offset of its zone changes. An index on
// `value` can be used.
struct EndScale {
  std::string value;   // of the row
  std::string second;  // that of `now`; a later value is live
  std::string zero;    // an equal or earlier value is illegal and never expires
  std::string last;    // a later value is illegal too
  std::string always;  // no later than any legal value
  bool has_infinity;   // the type has an infinity, which is legal and later than `last`
};
EndScale ScaleOfEnd(const TableDefinition& table, absl::string_view column,
                    absl::string_view now = "statement_timestamp()");

// The input of RowToItem(): the instant, or the stored number.
std::string InstantOfEnd(const TableDefinition& table, absl::string_view column);

// expire_at in whole seconds, as in RowToItem(): NULL if the row has none, 0 if it is illegal.
std::string ExpireAtOfRow(const TableDefinition& table, absl::string_view column);

// The ttl, as in RowToItem(), of a row without its own ttl: -1 if its expires_column means that it
// never expires, else NULL.
std::string TtlByEnd(const TableDefinition& table, absl::string_view column);

// The expression that must be indexed if an index on the column cannot be used; else empty.
std::string IndexedEnd(const TableDefinition& table);

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_SQL_END_COLUMN_H_
