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

// The SQL that deletes, moves or marks items of one table, according to its on_expiry. Immutable.
class DeleteSql {
 public:
  DeleteSql(const TableDefinition& table, const RowSelect& select);

  // Deletes the asked items that are still the judged version, expired by the database's clock, and
  // not locked by others; deletes nothing from `not_after` on. Columns: n (number of the item, from
  // 1), deleted. An item has a row with deleted = false if it was locked by us, and one with
  // deleted = true if it was deleted. With on_expiry: archive, an additional row has the number of
  // moved rows, and NULL.
  //
  // Each row is found by its key alone, one item after the other, so that the plan does not depend
  // on statistics. The conditions are below the lock: if the row has changed since the snapshot,
  // PostgreSQL locks the newest version and evaluates them again on that, including xmin; a row
  // that is gone, or was replaced by one with the same key, drops out.
  const std::string& delete_statement() const { return delete_statement_; }

  // The same without the archive: deletes rows and does not move them. Run it only with no items,
  // to distinguish a fault of the table from one of its archive. Empty without an archive.
  const std::string& source_statement() const { return source_statement_; }

  // With on_expiry: mark, otherwise empty: which of the asked items have a row that still satisfies
  // the table's `where`. Column: n. Run it after the mark, with the system's search path.
  const std::string& left_in_statement() const { return left_in_statement_; }

  // With a `where`, otherwise empty: locks the asked items that are still the judged version and
  // satisfy it, and that others have not locked. Column: n. Run it before the delete and, like
  // every statement with the operator's text, with the system's search path; the delete itself runs
  // triggers, which need the role's search path. A locked row satisfies `where` until the
  // transaction ends.
  const std::string& taken_in_statement() const { return taken_in_statement_; }

  // Returns the state of the asked items: one row each, in their order. Columns: those of
  // RowSelect::list(), then same (whether the row is the judged version and satisfies `where`;
  // NULL: there is no such row), in_doubt (whether its commit time is unknown), clock (microseconds
  // since 1970), snapshot (in the first row only).
  const std::string& state_statement() const { return state_statement_; }

  // Returns which of the asked items are still the judged version and expired by the database's
  // clock. Column: n. Locks nothing.
  const std::string& judge_statement() const { return judge_statement_; }

  // The asked items as a table a: the beginning of a statement with StateParameters().
  std::string Asked() const;
  // Whether row t has the key of the asked item a, whose columns are `key` in this table.
  static std::string HasAskedKey(const std::vector<ColumnDefinition>& key);

  // Fails if the texts of a key are not valid values of its columns.
  const std::string& key_statement() const { return key_statement_; }

  // The parameters of the statements above.
  std::vector<Connection::Parameter> DeleteParameters(absl::Span<const AskedItem> items,
                                                      absl::Time not_after) const;
  std::vector<Connection::Parameter> StateParameters(absl::Span<const AskedItem> items) const;
  std::vector<Connection::Parameter> KeyParameters(const AskedItem& item) const;

 private:
  // Sets delete_statement(), source_statement() and left_in_statement().
  void SetDelete(const TableDefinition& table, const RowSelect& select,
                 const std::vector<ColumnDefinition>& key);
  // Sets state_statement() and taken_in_statement().
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
  std::string judge_statement_;
  std::string key_statement_;
};

// Statements that restore the settings of a transaction that reads rows, which triggers may have
// changed: with others, an existing row could look missing.
std::string ReadingSettings();

// `time` as a literal of a timestamp with time zone, rounded down to a microsecond, and at most the
// end of the year 9999.
std::string TimestampText(absl::Time time);

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_STORE_DELETES_DELETE_SQL_H_
