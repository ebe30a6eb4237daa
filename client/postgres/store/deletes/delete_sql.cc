#include "client/postgres/store/deletes/delete_sql.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/substitute.h"
#include "client/postgres/sql/connect/array_text.h"
#include "client/postgres/sql/connect/quoting.h"
#include "client/postgres/sql/end_column.h"
#include "client/postgres/sql/expiry_action.h"
#include "client/postgres/sql/held_times.h"
#include "client/postgres/sql/visibility.h"

namespace ttl::postgres {
namespace {

// These statements use the application's search_path, which its triggers need. So if a function or
// operator does not match its argument types exactly, cast the arguments or qualify the name: an
// application's overload could match better.

// An etag that no row has.
constexpr absl::string_view kNoEtag = "-";

std::string OfRow(const ColumnDefinition& column) {
  return absl::StrCat("t.", QuoteName(column.name));
}

// The ttl of row t, as RowToItem() computes it.
std::string TtlOfRow(const TableDefinition& table) {
  const std::string own =
      table.ttl.has_value() ? absl::StrCat(OfRow(*table.ttl), "::bigint") : "NULL::bigint";
  if (!table.expires.has_value()) return own;
  return absl::StrCat("coalesce(", own, ", ", TtlByEnd(table, OfRow(*table.expires)), ")");
}

std::string EndOfRow(const TableDefinition& table) {
  if (!table.expires.has_value()) return "NULL::bigint";
  return ExpireAtOfRow(table, OfRow(*table.expires));
}

// Whether row t is the judged version of the asked item a.
std::string IsJudgedVersion(const TableDefinition& table) {
  return absl::StrCat(SecondsOfTs(table), " = a.__ts AND ", TtlOfRow(table),
                      " IS NOT DISTINCT FROM a.__ttl AND ", EndOfRow(table),
                      " IS NOT DISTINCT FROM a.__expire_at AND (a.__etag = '' OR t.xmin::text = "
                      "a.__etag)");
}

std::string IsJudgedAndTakenIn(const TableDefinition& table) {
  std::string is_judged = IsJudgedVersion(table);
  if (table.config.where.empty()) return is_judged;
  return absl::StrCat(is_judged, " AND ", WhereCondition(table.config));
}

// Whether the key of row t equals the key in `asked`.
std::string EqualKey(const std::vector<ColumnDefinition>& key, const std::string& asked) {
  std::vector<std::string> conditions;
  for (size_t i = 0; i < key.size(); ++i) {
    conditions.push_back(absl::Substitute("$0 OPERATOR(pg_catalog.=) $1.__k$2::$3", OfRow(key[i]),
                                          asked, i + 1, key[i].type));
  }
  return absl::StrJoin(conditions, " AND ");
}

// Whether row t has the key in `asked`. The text must also be the same: a cast may have cut or
// rounded it to another row's key.
std::string HasKey(const std::vector<ColumnDefinition>& key, const std::string& asked) {
  std::vector<std::string> conditions = {EqualKey(key, asked)};
  for (size_t i = 0; i < key.size(); ++i) {
    conditions.push_back(
        absl::Substitute("pg_catalog.concat($0) = $1.__k$2", OfRow(key[i]), asked, i + 1));
  }
  return absl::StrJoin(conditions, " AND ");
}

std::string KeyNames(size_t columns, const std::string& prefix) {
  std::vector<std::string> names;
  for (size_t i = 1; i <= columns; ++i) names.push_back(absl::StrCat(prefix, i));
  return absl::StrJoin(names, ", ");
}

// The asked items as a table: __k1, ..., __ts, __ttl, __expire_at, __etag, __expire_time, __n. A
// `where` that names a dropped column must not match one of these names.
std::string AskedItems(size_t key_columns) {
  std::vector<std::string> arrays;
  for (size_t i = 1; i <= key_columns; ++i) arrays.push_back(absl::StrCat("$", i, "::text[]"));
  for (const absl::string_view type : {"bigint", "bigint", "bigint", "text", "bigint"}) {
    arrays.push_back(absl::StrCat("$", arrays.size() + 1, "::", type, "[]"));
  }
  return absl::StrCat("WITH asked AS MATERIALIZED (SELECT * FROM unnest(",
                      absl::StrJoin(arrays, ", "), ") WITH ORDINALITY AS u(",
                      KeyNames(key_columns, "__k"),
                      ", __ts, __ttl, __expire_at, __etag, __expire_time, __n))");
}

// The end of the statement, which deletes the locked rows and returns their outcomes. `condition`
// matches row t to h.
std::string Delete(const std::string& from, const std::string& condition) {
  return absl::Substitute(
      "gone AS (\n"
      "  DELETE FROM $0 USING held AS h\n"
      "  WHERE $1\n"
      "  RETURNING h.__n)\n"
      "SELECT __n, false FROM held UNION ALL SELECT __n, true FROM gone",
      from, condition);
}

// Moves the rows in one statement: however it ends, each row is in exactly one of the tables.
std::string Move(const TableDefinition& table, const std::string& from,
                 const std::string& condition) {
  return absl::Substitute(
      "gone AS (\n"
      "  DELETE FROM $0 USING held AS h\n"
      "  WHERE $1\n"
      "  RETURNING h.__n, $2),\n"
      "moved AS (\n"
      "  $3 RETURNING 1)\n"
      "SELECT __n, false FROM held UNION ALL SELECT __n, true FROM gone "
      "UNION ALL SELECT count(*), NULL FROM moved",
      from, condition, MovedColumns(table), InsertIntoArchive(table, "gone"));
}

std::string Mark(const TableDefinition& table, const std::string& from,
                 const std::string& condition, const std::string& mark) {
  return absl::Substitute(
      "gone AS (\n"
      "  UPDATE $0 SET $1 = $2 FROM held AS h\n"
      "  WHERE $3\n"
      "  RETURNING h.__n)\n"
      "SELECT __n, false FROM held UNION ALL SELECT __n, true FROM gone",
      from, QuoteName(table.mark->name), MarkValue(table, mark), condition);
}

void AddIf(bool is_there, int64_t value, ArrayText& array) {
  if (is_there) {
    array.Add(value);
  } else {
    array.AddNull();
  }
}

// The etag if it is an xid, otherwise one that matches no row.
absl::string_view ComparedEtag(const std::string& etag) {
  const bool is_number = std::all_of(etag.begin(), etag.end(), absl::ascii_isdigit);
  return is_number ? absl::string_view(etag) : kNoEtag;
}

}  // namespace

// row_security: a query that a policy would filter fails instead.
std::string ReadingSettings() {
  return absl::StrCat(Connection::SetTextSettings(), "SET LOCAL row_security = off;");
}

std::string TimestampText(absl::Time time) {
  const absl::Time last = absl::FromUnixSeconds(253402300799);
  const absl::Time first = absl::UnixEpoch();
  return absl::FormatTime("%Y-%m-%d %H:%M:%E6S+00", std::clamp(time, first, last),
                          absl::UTCTimeZone());
}

DeleteSql::DeleteSql(const TableDefinition& table, const RowSelect& select)
    : mark_value_(table.config.mark_value), marks_(table.mark.has_value()) {
  const std::vector<ColumnDefinition> key = ReportedKey(table);
  key_columns_ = key.size();
  // FOR UPDATE is not possible on groups: GroupSql has their statements.
  if (table.rows.empty()) SetDelete(table, select, key);
  SetState(table, select, key);
  std::vector<std::string> values;
  for (size_t i = 0; i < key.size(); ++i) {
    values.push_back(absl::StrCat("$", i + 1, "::text::", key[i].type));
  }
  key_statement_ = absl::StrCat("SELECT ", absl::StrJoin(values, ", "));
}

void DeleteSql::SetState(const TableDefinition& table, const RowSelect& select,
                         const std::vector<ColumnDefinition>& key) {
  const bool can_be_in_doubt =
      table.ts_source == TsSource::kCommitTime && !table.own_schema.empty();
  state_statement_ = absl::Substitute(
      "$0\n"
      "SELECT r.*, floor(extract(epoch FROM clock_timestamp()) * 1000000::numeric)::bigint,\n"
      "  CASE WHEN a.__n = 1 THEN pg_current_snapshot()::text END\n"
      "FROM asked AS a LEFT JOIN LATERAL (\n"
      "  SELECT $1, coalesce($2, false), $5 FROM $3 WHERE $4 LIMIT 1) AS r ON true\n"
      "ORDER BY a.__n",
      AskedItems(key_columns_), select.list(), IsJudgedAndTakenIn(table), select.from(),
      HasKey(key, "a"), can_be_in_doubt ? IsInDoubt(table.own_schema) : "false");
  judge_statement_ = absl::Substitute(
      "$0\n"
      "SELECT a.__n FROM asked AS a CROSS JOIN LATERAL (\n"
      "  SELECT FROM $1 WHERE $2 AND $3 LIMIT 1) AS r\n"
      "WHERE a.__expire_time <= floor(extract(epoch FROM clock_timestamp()))::bigint",
      AskedItems(key_columns_), select.from(), HasKey(key, "a"), IsJudgedAndTakenIn(table));
  if (!table.config.where.empty()) {
    taken_in_statement_ = absl::Substitute(
        "$0\n"
        "SELECT a.__n FROM asked AS a CROSS JOIN LATERAL (\n"
        "  SELECT FROM $1 WHERE $2 AND $3 FOR UPDATE OF t SKIP LOCKED) AS r",
        AskedItems(key_columns_), select.from(), HasKey(key, "a"), IsJudgedAndTakenIn(table));
  }
}

void DeleteSql::SetDelete(const TableDefinition& table, const RowSelect& select,
                          const std::vector<ColumnDefinition>& key) {
  const std::string not_after = absl::StrCat("$", key_columns_ + 6, "::timestamptz");
  // Texts are compared once, before triggers run, because triggers may change how values are
  // formatted.
  const std::string held = absl::Substitute(
      "$0,\n"
      "held AS MATERIALIZED (\n"
      "  SELECT a.__n, r.place, r.part, $1 FROM asked AS a CROSS JOIN LATERAL (\n"
      "    SELECT t.ctid AS place, t.tableoid AS part FROM $2\n"
      "    WHERE $3 AND $4 FOR UPDATE OF t SKIP LOCKED) AS r\n"
      "  WHERE a.__expire_time <= floor(extract(epoch FROM clock_timestamp()))::bigint),\n",
      AskedItems(key_columns_), KeyNames(key_columns_, "a.__k"), select.from(), HasKey(key, "a"),
      IsJudgedVersion(table));
  const std::string is_held =
      absl::Substitute("t.ctid = h.place AND t.tableoid = h.part AND $0 AND clock_timestamp() < $1",
                       EqualKey(key, "h"), not_after);
  delete_statement_ = absl::StrCat(held, Delete(select.from(), is_held));
  if (table.archive.has_value()) {
    source_statement_ = std::move(delete_statement_);
    delete_statement_ = absl::StrCat(held, Move(table, select.from(), is_held));
  }
  if (marks_) {
    const std::string mark = absl::StrCat("$", key_columns_ + 7);
    delete_statement_ = absl::StrCat(held, Mark(table, select.from(), is_held, mark));
    left_in_statement_ = absl::Substitute(
        "$0\n"
        "SELECT a.__n FROM asked AS a CROSS JOIN LATERAL (\n"
        "  SELECT FROM $1 WHERE $2 AND $3 LIMIT 1) AS r",
        AskedItems(key_columns_), select.from(), HasKey(key, "a"), WhereCondition(table.config));
  }
}

std::string DeleteSql::Asked() const { return AskedItems(key_columns_); }

std::string DeleteSql::HasAskedKey(const std::vector<ColumnDefinition>& key) {
  return HasKey(key, "a");
}

std::vector<Connection::Parameter> DeleteSql::StateParameters(
    absl::Span<const AskedItem> items) const {
  std::vector<ArrayText> arrays(key_columns_ + 5);
  for (const AskedItem& asked : items) {
    const v1::ExpiredItem& item = *asked.item;
    auto array = arrays.begin();
    for (const std::string& text : asked.key) (array++)->Add(text);
    (array++)->Add(item.ts());
    AddIf(item.has_ttl(), item.ttl(), *array++);
    AddIf(item.has_expire_at(), item.expire_at(), *array++);
    (array++)->Add(ComparedEtag(item.etag()));
    array->Add(item.expire_time());
  }
  std::vector<Connection::Parameter> parameters;
  parameters.reserve(arrays.size() + 1);
  for (ArrayText& array : arrays) parameters.emplace_back(array.Take());
  return parameters;
}

std::vector<Connection::Parameter> DeleteSql::DeleteParameters(absl::Span<const AskedItem> items,
                                                               absl::Time not_after) const {
  std::vector<Connection::Parameter> parameters = StateParameters(items);
  parameters.emplace_back(TimestampText(not_after));
  if (marks_) parameters.emplace_back(mark_value_);
  return parameters;
}

std::vector<Connection::Parameter> DeleteSql::KeyParameters(const AskedItem& item) const {
  return {item.key.begin(), item.key.end()};
}

}  // namespace ttl::postgres
