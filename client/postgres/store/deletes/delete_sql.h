#ifndef TTL_CLIENT_POSTGRES_STORE_DELETES_DELETE_SQL_H_
#define TTL_CLIENT_POSTGRES_STORE_DELETES_DELETE_SQL_H_

#include <string>
#include <vector>

#include "absl/time/time.h"
#include "absl/types/span.h"
#include "client/postgres/row/row_select.h"
#include "client/postgres/sql/connect/connection.h"
#include "client/postgres/sql/table_definition.h"
#include "client/postgres/store/asked_item.h"

namespace ttl::postgres {

// The statements by which items of one table are deleted, or moved or marked, as its on_expiry
// says. Immutable.
class DeleteSql {
 public:
  DeleteSql(const TableDefinition& table, const RowSelect& select);

  // Deletes those of the asked items that are still what was judged, expired by the database's
  // clock, and not locked by others; nothing from `not_after` on. Columns: n (which of the
  // items, from 1), deleted. An item has a row with deleted = false if it could be locked,
  // one with true if it was deleted. With on_expiry: archive one more row has the number of
  // rows that were moved, and NULL.
  //
  // Rows are found by the key alone, one item after the other, so that the plan does not
  // depend on statistics. The conditions stand below the lock: where the row has been
  // changed since the snapshot was taken, PostgreSQL locks the version that is the newest and
  // evaluates them again on that one, xmin included; a row that is gone, and one that took its
  // place with the same key, drops out.
  const std::string& delete_statement() const { return delete_statement_; }

  // The same without the archive, which deletes rows and moves none: to be run for no items only,
  // to tell what is wrong with the table from what is wrong with its archive. Empty: there is none.
  const std::string& source_statement() const { return source_statement_; }

  // With on_expiry: mark, else empty: which of the asked items have a row that the table's `where`
  // takes in. Column: n. To be run after the mark, by system names only.
  const std::string& left_in_statement() const { return left_in_statement_; }

  // Of a table with `where`, else empty: locks those of the asked items that are still what was
  // judged and that it takes in, unless others have locked them. Column: n. To be run before the
  // delete, by system names only, as all that has the operator's text in it: the delete itself runs
  // triggers, which need the role's search path. What is locked stays taken in until the
  // transaction ends.
  const std::string& taken_in_statement() const { return taken_in_statement_; }

  // What there is of the asked items: one row each, in their order. Columns: those of
  // RowSelect::list(), then same (whether it is what was judged, and taken in; NULL: there is no
  // such row), clock (microseconds since 1970), snapshot (in the first row only).
  const std::string& state_statement() const { return state_statement_; }

  // Fails if the texts of a key are no values of the types of its columns.
  const std::string& key_statement() const { return key_statement_; }

  // Of the statements above.
  std::vector<Connection::Parameter> DeleteParameters(absl::Span<const AskedItem> items,
                                                      absl::Time not_after) const;
  std::vector<Connection::Parameter> StateParameters(absl::Span<const AskedItem> items) const;
  std::vector<Connection::Parameter> KeyParameters(const AskedItem& item) const;

 private:
  // delete_statement(), and those that go with it.
  void SetDelete(const TableDefinition& table, const RowSelect& select,
                 const std::vector<ColumnDefinition>& key);
  // state_statement() and taken_in_statement().
  void SetState(const TableDefinition& table, const RowSelect& select,
                const std::vector<ColumnDefinition>& key);

  size_t key_columns_ = 0;
  std::string mark_value_;
  bool marks_ = false;
  std::string delete_statement_;
  std::string source_statement_;
  std::string left_in_statement_;
  std::string taken_in_statement_;
  std::string state_statement_;
  std::string key_statement_;
};

// `time` as a literal of a timestamp with time zone, rounded down to a microsecond, and at most
// the end of the year 9999.
std::string TimestampText(absl::Time time);

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_STORE_DELETES_DELETE_SQL_H_
