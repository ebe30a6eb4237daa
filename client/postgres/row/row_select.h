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

// The columns of the partition key, followed by those of the id.
std::vector<ColumnDefinition> ReportedKey(const TableDefinition& table);

// A row returned by a query of RowSelect. Its views are valid as long as the result.
struct SelectedRow {
  RowTexts texts;
  absl::string_view xmin;
  // Set for tables without a _ts column; absent if the database no longer knows it.
  std::optional<absl::Time> commit_time;
};

// RowSelect builds the SQL that reads the rows of one table for RowToItem(), all at once or in
// pages in key order. The SQL names the table `t`. Partitioned tables are supported. Immutable and
// thread-safe.
class RowSelect {
 public:
  // Pages contain only rows that satisfy `restriction`, if there is one. They include rows that do
  // not satisfy the table's `where`; Read() tells.
  explicit RowSelect(const TableDefinition& table, std::string restriction = "");

  // The first columns that Read() expects in a result, comma-separated: t."tenant", t."id", ...
  const std::string& list() const { return list_; }
  // The number of columns of list(); a query's additional columns follow them.
  int width() const { return width_; }
  // "schema"."table" AS t, preceded by ONLY unless the table is partitioned.
  const std::string& from() const { return from_; }

  // A page of at most `limit` rows: the first page, or the one after the key in $1, $2, ...
  // (key_columns() parameters, as KeyOf() returned for the last row of a page).
  std::string FirstPage(int limit) const;
  std::string NextPage(int limit) const;
  // The partition key and id of the page's first row, for KeyOf(), when its other columns or
  // `where` cannot be read.
  std::string FirstKey() const;
  std::string NextKey() const;

  // The key columns of `t` in page order: those of the partition key, then those of the id, unless
  // the definition has an order that an index provides.
  const std::vector<ColumnDefinition>& key() const { return key_; }
  size_t key_columns() const { return key_.size(); }
  // The key of a row, for NextPage().
  std::vector<Connection::Parameter> KeyOf(const QueryResult& result, int row) const;

  // Sets `selected` to the row, reusing its memory.
  void Read(const QueryResult& result, int row, SelectedRow& selected) const;

 private:
  std::string IsAfterKey() const;
  std::string Page(const std::string& list, std::vector<std::string> conditions, int limit) const;
  std::string PageOfGroups(const std::string& list, const std::string& where, int limit) const;

  const size_t partition_key_columns_;
  const size_t id_columns_;
  const bool has_ts_;
  const bool has_commit_time_;
  const bool has_ttl_;
  const bool has_expires_;
  const bool has_size_;
  const bool has_where_;
  const std::vector<ColumnDefinition> key_;
  const std::vector<int> key_places_;  // index in a result of each column of key_
  const std::string from_;
  const std::vector<std::string> row_keys_;
  const std::string restriction_;
  std::string key_list_;
  std::string list_;
  int width_ = 0;
};

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_ROW_ROW_SELECT_H_
