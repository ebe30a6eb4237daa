#include "client/postgres/sql/group_rows.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/substitute.h"
#include "client/postgres/sql/connect/quoting.h"
#include "client/postgres/sql/end_column.h"
#include "client/postgres/sql/group.h"
#include "client/postgres/sql/group_condemned.h"
#include "client/postgres/sql/visibility.h"

namespace ttl::postgres {
namespace {

constexpr absl::string_view kTime = "__time";

// The time of row t in whole seconds. NULL or less than 1: the row never expires.
std::string TimeOfRow(const TableDefinition& table) {
  if (!table.expires.has_value()) return SecondsOfTs(table);
  return ExpireAtOfRow(table, absl::StrCat("t.", QuoteName(table.expires->name)));
}

// The columns of the group in row t of `table`, with the names that they have in the group.
std::string KeyColumns(const TableDefinition& table, const TableDefinition& group) {
  std::vector<std::string> columns;
  for (size_t i = 0; i < table.id.size(); ++i) {
    columns.push_back(
        absl::StrCat("t.", QuoteName(table.id[i].name), " AS ", QuoteName(group.id[i].name)));
  }
  return absl::StrJoin(columns, ", ");
}

// The rows of one table that are not condemned.
std::string FromRows(const TableDefinition& table) {
  std::string from =
      absl::StrCat(" FROM ONLY ", QuoteQualified(table.config.schema, table.config.table), " AS t");
  if (table.own_schema.empty()) return from;
  return absl::StrCat(from, " WHERE ", IsNotCondemned(table, table.own_schema, "t"));
}

// The keys and times of the rows of one table. Only tables have a tableoid: if a rename has put a
// view in place of the table, which may hide rows, the query fails.
std::string RowsOf(const TableDefinition& table, const TableDefinition& group) {
  return absl::StrCat("SELECT ", KeyColumns(table, group), ", ", TimeOfRow(table),
                      " AS __row_time, t.tableoid::bigint AS __part", FromRows(table));
}

// The keys of the groups in one table, each as often as it has rows.
std::string KeysOf(const TableDefinition& table, const TableDefinition& group) {
  return absl::StrCat("SELECT ", KeyColumns(table, group), FromRows(table));
}

std::string GroupsQuery(const TableDefinition& group) {
  std::vector<std::string> parts;
  for (const TableDefinition* table : TablesOf(group)) {
    if (HasTimes(*table)) parts.push_back(RowsOf(*table, group));
  }
  const std::string key =
      absl::StrJoin(group.id, ", ", [](std::string* out, const ColumnDefinition& column) {
        absl::StrAppend(out, "m.", QuoteName(column.name));
      });
  return absl::Substitute(
      "SELECT $0, CASE WHEN NOT bool_or(m.__row_time IS NULL OR m.__row_time < 1) THEN "
      "max(m.__row_time) END AS $1, max(m.__part) AS tableoid, ''::text AS xmin FROM ($2) AS m "
      "GROUP BY $0",
      key, kTime, absl::StrJoin(parts, " UNION ALL "));
}

}  // namespace

TableDefinition GroupsAsRows(const TableDefinition& table) {
  if (!IsGroup(table)) return table;
  TableDefinition rows = table;
  rows.rows = GroupsQuery(table);
  for (const TableDefinition* one : TablesOf(table)) {
    if (HasTimes(*one)) rows.row_keys.push_back(KeysOf(*one, table));
  }
  const ColumnDefinition time{std::string(kTime), "bigint", /*nullable=*/true};
  if (table.ts.has_value()) {
    rows.ts = time;
    rows.ts_source = TsSource::kEpochNumber;
    rows.config.ts_unit = EpochUnit::kSeconds;
    rows.config.null_means = NullMeans::kNever;
    rows.zone.reset();
  } else {
    rows.expires = time;
    rows.end_source = EndSource::kEpochNumber;
    rows.config.expires_unit = EpochUnit::kSeconds;
    rows.expires_zone.reset();
  }
  return rows;
}

}  // namespace ttl::postgres
