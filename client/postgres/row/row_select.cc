#include "client/postgres/row/row_select.h"

#include <algorithm>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/postgres/sql/connect/quoting.h"
#include "client/postgres/sql/end_column.h"
#include "client/postgres/sql/visibility.h"

namespace ttl::postgres {
namespace {

std::string OfRow(const ColumnDefinition& column) {
  return absl::StrCat("t.", QuoteName(column.name));
}

// Returns a timestamp without time zone as the server's instant: the statements that hide and
// delete rows use that, too, and the server's time zone database may differ from ours.
std::string TsOfRow(const TableDefinition& table) {
  const std::string column = OfRow(*table.ts);
  return table.ts_source == TsSource::kReading ? InstantOfColumn(table, column) : column;
}

// Inheritance children are separate tables; partitions are not.
std::string From(const TableDefinition& table) {
  if (!table.rows.empty()) return absl::StrCat("(", table.rows, ") AS t");
  return absl::StrCat(table.is_partitioned ? "" : "ONLY ",
                      QuoteQualified(table.config.schema, table.config.table), " AS t");
}

std::vector<ColumnDefinition> PagedKey(const TableDefinition& table) {
  return table.page_order.empty() ? ReportedKey(table) : table.page_order;
}

std::vector<int> PlacesOf(const std::vector<ColumnDefinition>& columns,
                          const std::vector<ColumnDefinition>& among) {
  std::vector<int> places;
  for (const ColumnDefinition& column : columns) {
    const auto found = std::find_if(among.begin(), among.end(), [&](const ColumnDefinition& one) {
      return one.name == column.name;
    });
    places.push_back(static_cast<int>(found - among.begin()));
  }
  return places;
}

}  // namespace

std::vector<ColumnDefinition> ReportedKey(const TableDefinition& table) {
  std::vector<ColumnDefinition> key = table.partition_key;
  key.insert(key.end(), table.id.begin(), table.id.end());
  return key;
}

RowSelect::RowSelect(const TableDefinition& table, std::string restriction)
    : partition_key_columns_(table.partition_key.size()),
      id_columns_(table.id.size()),
      has_ts_(table.ts.has_value()),
      has_commit_time_(table.ts_source == TsSource::kCommitTime),
      has_ttl_(table.ttl.has_value()),
      has_expires_(table.expires.has_value()),
      has_size_(table.size.has_value()),
      has_where_(!table.config.where.empty()),
      key_(PagedKey(table)),
      key_places_(PlacesOf(key_, ReportedKey(table))),
      from_(From(table)),
      row_keys_(table.row_keys),
      restriction_(std::move(restriction)) {
  std::vector<std::string> columns;
  for (const ColumnDefinition& column : ReportedKey(table)) columns.push_back(OfRow(column));
  key_list_ = absl::StrJoin(columns, ", ");
  if (has_ts_) columns.push_back(TsOfRow(table));
  if (has_ttl_) columns.push_back(OfRow(*table.ttl));
  if (has_expires_) columns.push_back(InstantOfEnd(table, OfRow(*table.expires)));
  if (has_size_) columns.push_back(OfRow(*table.size));
  if (has_where_) columns.push_back(absl::StrCat(WhereCondition(table.config), " IS TRUE"));
  columns.push_back("t.xmin");
  if (has_commit_time_) columns.push_back(CommitTimeOfRow(table.own_schema));
  list_ = absl::StrJoin(columns, ", ");
  width_ = static_cast<int>(columns.size());
}

std::string RowSelect::FirstPage(int limit) const { return Page(list_, {}, limit); }

std::string RowSelect::NextPage(int limit) const { return Page(list_, {IsAfterKey()}, limit); }

std::string RowSelect::FirstKey() const { return Page(key_list_, {}, 1); }

std::string RowSelect::NextKey() const { return Page(key_list_, {IsAfterKey()}, 1); }

// Compares the key as a row, which an index on its columns supports.
std::string RowSelect::IsAfterKey() const {
  std::vector<std::string> columns;
  std::vector<std::string> values;
  for (const ColumnDefinition& column : key_) {
    columns.push_back(OfRow(column));
    values.push_back(absl::StrCat("$", columns.size(), "::", column.type));
  }
  return absl::StrCat("(", absl::StrJoin(columns, ", "), ") > (", absl::StrJoin(values, ", "), ")");
}

// Does not filter by `where`: many rows may fail it, and a query must not read more rows than a
// page.
std::string RowSelect::Page(const std::string& list, std::vector<std::string> conditions,
                            int limit) const {
  if (!restriction_.empty()) conditions.push_back(restriction_);
  const auto append = [](std::string* out, const ColumnDefinition& column) {
    absl::StrAppend(out, OfRow(column));
  };
  const std::string where =
      conditions.empty() ? "" : absl::StrCat(" WHERE ", absl::StrJoin(conditions, " AND "));
  if (!row_keys_.empty()) return PageOfGroups(list, where, limit);
  return absl::StrCat("SELECT ", list, " FROM ", from_, where, " ORDER BY ",
                      absl::StrJoin(key_, ", ", append), " LIMIT ", limit);
}

// The first groups of several tables are among the first of each. Aggregating all would read the
// rest of the tables for each page.
std::string RowSelect::PageOfGroups(const std::string& list, const std::string& where,
                                    int limit) const {
  std::vector<std::string> columns;
  std::vector<std::string> is_same;
  for (const ColumnDefinition& column : key_) {
    columns.push_back(OfRow(column));
    is_same.push_back(absl::StrCat(OfRow(column), " = page.", QuoteName(column.name)));
  }
  const std::string key = absl::StrJoin(columns, ", ");
  const std::string in_order = absl::StrCat(" ORDER BY ", key, " LIMIT ", limit);
  std::vector<std::string> firsts;
  for (const std::string& keys : row_keys_) {
    firsts.push_back(
        absl::StrCat("(SELECT DISTINCT ", key, " FROM (", keys, ") AS t", where, in_order, ")"));
  }
  return absl::StrCat("SELECT ", list, " FROM (SELECT ", key, " FROM (",
                      absl::StrJoin(firsts, " UNION "), ") AS t", in_order,
                      ") AS page, LATERAL (SELECT t.* FROM ", from_, " WHERE ",
                      absl::StrJoin(is_same, " AND "), " OFFSET 0) AS t ORDER BY ", key);
}

std::vector<Connection::Parameter> RowSelect::KeyOf(const QueryResult& result, int row) const {
  std::vector<Connection::Parameter> key;
  for (const int place : key_places_) key.emplace_back(result.Text(row, place));
  return key;
}

void RowSelect::Read(const QueryResult& result, int row, SelectedRow& selected) const {
  int column = 0;
  selected.texts.partition_key.clear();
  selected.texts.id.clear();
  for (size_t i = 0; i < partition_key_columns_; ++i) {
    selected.texts.partition_key.push_back(result.Text(row, column++));
  }
  for (size_t i = 0; i < id_columns_; ++i) {
    selected.texts.id.push_back(result.Text(row, column++));
  }
  const auto next_if = [&](bool is_there) -> std::optional<absl::string_view> {
    if (!is_there) return std::nullopt;
    return result.Value(row, column++);
  };
  selected.texts.ts = next_if(has_ts_);
  selected.texts.ttl = next_if(has_ttl_);
  selected.texts.expires = next_if(has_expires_);
  selected.texts.size = next_if(has_size_);
  selected.texts.matches_where = !has_where_ || result.Bool(row, column++);
  selected.xmin = result.Text(row, column++);
  selected.commit_time.reset();
  if (!has_commit_time_) return;
  const absl::StatusOr<int64_t> seconds = ParseTimestamp(result.Text(row, column));
  if (seconds.ok()) selected.commit_time = absl::FromUnixSeconds(*seconds);
}

}  // namespace ttl::postgres
