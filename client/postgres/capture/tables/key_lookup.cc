#include "client/postgres/capture/tables/key_lookup.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/postgres/row/row_key.h"
#include "client/postgres/sql/connect/array_text.h"
#include "client/postgres/sql/connect/quoting.h"
#include "client/postgres/sql/visibility.h"
#include "service/base/status_macros.h"

namespace ttl::postgres {
namespace {

// OFFSET makes each lookup separate and by the index, whatever the statistics. The names of the
// requested keys cannot clash with a column in a `where`.
std::string Statement(const TableDefinition& table, const std::string& list,
                      const std::string& restriction) {
  std::vector<std::string> asked;
  std::vector<std::string> arrays;
  std::vector<std::string> conditions;
  const auto add = [&](const ColumnDefinition& column) {
    const std::string name = absl::StrCat("__k", asked.size());
    asked.push_back(name);
    arrays.push_back(absl::StrCat("$", asked.size(), "::text[]"));
    conditions.push_back(
        absl::StrCat("t.", QuoteName(column.name), " = asked.", name, "::", column.type));
  };
  for (const ColumnDefinition& column : table.partition_key) add(column);
  for (const ColumnDefinition& column : table.id) add(column);
  if (!restriction.empty()) conditions.push_back(restriction);
  return absl::StrCat("SELECT found.* FROM unnest(", absl::StrJoin(arrays, ", "), ") AS asked(",
                      absl::StrJoin(asked, ", "), "), LATERAL (SELECT ", list, " FROM ",
                      RowSelect(table).from(), " WHERE ", absl::StrJoin(conditions, " AND "),
                      " OFFSET 0) AS found");
}

std::string KeyList(const TableDefinition& table) {
  std::vector<std::string> columns;
  for (const auto* key : {&table.partition_key, &table.id}) {
    for (const ColumnDefinition& column : *key) {
      columns.push_back(absl::StrCat("t.", QuoteName(column.name)));
    }
  }
  // Only tables have this column: if a rename has put a view in place of the table, which may hide
  // rows, the query fails.
  columns.push_back("t.tableoid");
  return absl::StrJoin(columns, ", ");
}

std::string ExistingStatement(const TableDefinition& table) {
  const bool has_where = !table.config.where.empty();
  return Statement(table, KeyList(table), has_where ? WhereCondition(table.config) : "");
}

std::string ArrayOf(absl::Span<const std::vector<std::string>> keys, size_t column) {
  ArrayText array;
  for (const std::vector<std::string>& key : keys) array.Add(key[column]);
  return array.Take();
}

std::string Join(const QueryResult& rows, int row, size_t from, size_t count) {
  std::vector<absl::string_view> texts;
  for (size_t i = from; i < from + count; ++i) {
    texts.push_back(rows.Text(row, static_cast<int>(i)));
  }
  return JoinKey(texts);
}

}  // namespace

KeyLookup::KeyLookup(const TableDefinition& table)
    : partition_key_columns_(table.partition_key.size()),
      id_columns_(table.id.size()),
      select_(table),
      existing_statement_(ExistingStatement(table)),
      read_statement_(Statement(table, select_.list(), "")) {}

absl::StatusOr<absl::flat_hash_set<ItemKeyText>> KeyLookup::Existing(
    PatientQuery& database, absl::Span<const ItemKeyText> keys) const {
  absl::flat_hash_set<ItemKeyText> existing;
  TTL_RETURN_IF_ERROR(Ask(database, Split(keys), existing));
  return existing;
}

absl::Status KeyLookup::Read(PatientQuery& database, absl::Span<const ItemKeyText> keys,
                             Take take) const {
  TTL_ASSIGN_OR_RETURN(const auto rows, database.Query(read_statement_, Parameters(Split(keys))));
  SelectedRow row;
  for (int i = 0; i < rows.rows(); ++i) {
    select_.Read(rows, i, row);
    take({JoinKey(row.texts.partition_key), JoinKey(row.texts.id)}, row);
  }
  return absl::OkStatus();
}

std::vector<KeyLookup::Texts> KeyLookup::Split(absl::Span<const ItemKeyText> keys) const {
  std::vector<Texts> asked;
  for (const ItemKeyText& key : keys) {
    auto texts = SplitKey(key.first, partition_key_columns_);
    const auto id = SplitKey(key.second, id_columns_);
    // A PostgreSQL text cannot contain a zero byte.
    if (!texts.ok() || !id.ok() || absl::StrContains(key.first, '\0') ||
        absl::StrContains(key.second, '\0')) {
      continue;
    }
    texts->insert(texts->end(), id->begin(), id->end());
    asked.push_back(*std::move(texts));
  }
  return asked;
}

std::vector<Connection::Parameter> KeyLookup::Parameters(absl::Span<const Texts> keys) const {
  std::vector<Connection::Parameter> parameters;
  for (size_t i = 0; i < partition_key_columns_ + id_columns_; ++i) {
    parameters.emplace_back(ArrayOf(keys, i));
  }
  return parameters;
}

absl::Status KeyLookup::Ask(PatientQuery& database, absl::Span<const Texts> keys,
                            absl::flat_hash_set<ItemKeyText>& existing) const {
  if (keys.empty()) return absl::OkStatus();
  const auto rows = database.Query(existing_statement_, Parameters(keys));
  if (IsFaultOfRow(rows.status())) {
    // A key is not a valid value of its type and so has no row, or `where` fails for its row.
    if (keys.size() == 1) return absl::OkStatus();
    const size_t half = keys.size() / 2;
    TTL_RETURN_IF_ERROR(Ask(database, keys.subspan(0, half), existing));
    return Ask(database, keys.subspan(half), existing);
  }
  TTL_RETURN_IF_ERROR(rows.status());
  // Use the row's texts: a different text may be an equal value.
  for (int row = 0; row < rows->rows(); ++row) {
    existing.insert({Join(*rows, row, 0, partition_key_columns_),
                     Join(*rows, row, partition_key_columns_, id_columns_)});
  }
  return absl::OkStatus();
}

}  // namespace ttl::postgres
