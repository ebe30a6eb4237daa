#ifndef TTL_CLIENT_POSTGRES_ROW_ROW_SELECT_H_
#define TTL_CLIENT_POSTGRES_ROW_ROW_SELECT_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "client/postgres/row/row_item.h"
#include "client/postgres/sql/connect/connection.h"
#include "client/postgres/sql/connect/query_result.h"
#include "client/postgres/sql/table_definition.h"

namespace ttl::postgres {

// The columns of the partition key, then those of the id.
std::vector<ColumnDefinition> ReportedKey(const TableDefinition& table);

// A row as a query of RowSelect returned it. Views live as long as the result.
struct SelectedRow {
  RowTexts texts;
  absl::string_view xmin;
  // For tables without a column of _ts; absent if the database has forgotten it.
  std::optional<absl::Time> commit_time;
};

// The SQL that reads the rows of one table as RowToItem() takes them, whole or page by page
// in the order of the key. The table is called `t` in it. Works for partitioned tables too.
// Immutable, so safe to share between threads.
class RowSelect {
 public:
  // Pages have only rows that fulfil `restriction`, if there is one; also those that the table's
  // `where` does not take in, which Read() tells.
  explicit RowSelect(const TableDefinition& table, std::string restriction = "");

  // What Read() wants to find first in a result, comma-separated: t."tenant", t."id", ...
  const std::string& list() const { return list_; }
  // So many columns are that; what a query selects besides comes after them.
  int width() const { return width_; }
  // "schema"."table" AS t, with ONLY before it unless it is partitioned.
  const std::string& from() const { return from_; }

  // A page of at most `limit` rows: the first, or what comes after the key that $1, $2, ...
  // hold (key_columns() of them, what KeyOf() returned for the last row of a page).
  std::string FirstPage(int limit) const;
  std::string NextPage(int limit) const;
  // The partition key and id of the first row of such a page, for KeyOf(): of one whose other
  // columns, or `where`, cannot be read.
  std::string FirstKey() const;
  std::string NextKey() const;

  // The columns of the key in the order of pages, as `t` has them: first those of the
  // partition key, then those of the id, unless the definition knows an order that an index
  // has.
  const std::vector<ColumnDefinition>& key() const { return key_; }
  size_t key_columns() const { return key_.size(); }
  // The key of a row, for NextPage().
  std::vector<Connection::Parameter> KeyOf(const QueryResult& result, int row) const;

  // Makes `selected` that row; what it held before is reused.
  void Read(const QueryResult& result, int row, SelectedRow& selected) const;

 private:
  std::string IsAfterKey() const;
  std::string Page(const std::string& list, std::vector<std::string> conditions, int limit) const;

  const size_t partition_key_columns_;
  const size_t id_columns_;
  const bool has_ts_;
  const bool has_commit_time_;
  const bool has_ttl_;
  const bool has_expires_;
  const bool has_size_;
  const bool has_where_;
  const std::vector<ColumnDefinition> key_;
  const std::vector<int> key_places_;  // of the columns of key_ in a result
  const std::string from_;
  const std::string restriction_;
  std::string key_list_;
  std::string list_;
  int width_ = 0;
};

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_ROW_ROW_SELECT_H_
