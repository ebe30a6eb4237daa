#include "client/postgres/sql/group_condemned.h"

#include <cstdint>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/substitute.h"
#include "client/postgres/sql/connect/quoting.h"
#include "client/postgres/sql/group.h"

// Names are qualified: some statements use the application's search_path.
namespace ttl::postgres {
namespace {

// How far the xid of a row that a statement sees may exceed the snapshot's: by those of our own
// transaction, and by those that began while the statement waited for the row.
constexpr int64_t kMaxAhead = int64_t{1} << 28;
// Xids of rows that old versions of PostgreSQL froze are lower.
constexpr int kFirstNormalXid = 3;

std::string Column(absl::string_view row, absl::string_view name) {
  return row.empty() ? QuoteName(name) : absl::StrCat(row, ".", QuoteName(name));
}

std::vector<std::string> KeyOfRow(const TableDefinition& table, absl::string_view row) {
  std::vector<std::string> key;
  for (const ColumnDefinition& column : table.id) key.push_back(Column(row, column.name));
  return key;
}

// Does not depend on the row, so it is evaluated once per statement.
std::string AnyIsCondemned(const TableDefinition& table, absl::string_view schema) {
  return absl::StrCat("EXISTS (SELECT FROM ", CondemnedTable(schema),
                      " AS c WHERE c.relation = ", table.group, "::oid)");
}

}  // namespace

std::string CondemnedTable(absl::string_view schema) { return QuoteQualified(schema, "condemned"); }

std::string CondemnedTableSql(absl::string_view schema) {
  return absl::Substitute(
      "CREATE TABLE IF NOT EXISTS $0 (\n  relation oid NOT NULL,\n  hash integer NOT NULL,\n"
      "  key text[] NOT NULL,\n  before_xid bigint NOT NULL,\n  system bigint NOT NULL,\n"
      "  since timestamptz NOT NULL DEFAULT statement_timestamp(),\n  fault text,\n"
      "  PRIMARY KEY (relation, hash, key)\n);\nGRANT SELECT (relation) ON $0 TO PUBLIC;\n",
      CondemnedTable(schema));
}

std::string SystemIdentifier() {
  return "(SELECT s.system_identifier FROM pg_catalog.pg_control_system() AS s)";
}

// The stored texts are cast, since the texts of the row's values depend on the settings of the
// reader's session; and the images are compared, since a collation may be any.
std::string IsEntryOf(const TableDefinition& table, absl::Span<const std::string> key) {
  std::vector<std::string> values;
  std::vector<std::string> stored;
  for (size_t i = 0; i < table.id.size(); ++i) {
    values.push_back(absl::StrCat(key[i], "::", table.id[i].type));
    stored.push_back(absl::StrCat("c.key[", i + 1, "]::", table.id[i].type));
  }
  return absl::Substitute(
      "c.relation = $0::oid AND c.hash = pg_catalog.hash_record(ROW($1)) AND "
      "pg_catalog.record_image_eq(ROW($1), ROW($2)) AND c.system = $3",
      table.group, absl::StrJoin(values, ", "), absl::StrJoin(stored, ", "), SystemIdentifier());
}

// The writer is the highest number with the lower 32 bits of the xid that is not above the highest
// that can be. A number that is too high is that of a row of a new group at worst.
std::string IsBefore(absl::string_view xid, absl::string_view before_xid) {
  const std::string highest = absl::StrCat(
      "(SELECT pg_catalog.pg_snapshot_xmax(pg_catalog.pg_current_snapshot())::text::bigint + ",
      kMaxAhead, "::bigint)");
  return absl::Substitute(
      "($0::text::bigint < $1::bigint OR $2 - pg_catalog.mod($2 - $0::text::bigint, "
      "4294967296::bigint) < $3)",
      xid, kFirstNormalXid, highest, before_xid);
}

std::string IsWrittenBefore(absl::string_view row, absl::string_view before_xid) {
  return IsBefore(absl::StrCat(row, ".xmin"), before_xid);
}

std::string IsNotCondemned(const TableDefinition& table, absl::string_view schema,
                           absl::string_view row) {
  return absl::StrCat("NOT (", AnyIsCondemned(table, schema), " AND EXISTS (SELECT FROM ",
                      CondemnedTable(schema), " AS c WHERE ",
                      IsEntryOf(table, KeyOfRow(table, row)), " AND ",
                      IsWrittenBefore(row, "c.before_xid"), "))");
}

std::string IsNotCondemnedForReaders(const TableDefinition& table, absl::string_view schema,
                                     absl::string_view row) {
  std::vector<std::string> arguments = KeyOfRow(table, row);
  arguments.push_back(Column(row, "xmin"));
  return absl::StrCat("(NOT ", AnyIsCondemned(table, schema), " OR NOT ",
                      IsCondemnedName(table, schema), "(", absl::StrJoin(arguments, ", "), "))");
}

std::string IsCondemnedName(const TableDefinition& table, absl::string_view schema) {
  return QuoteQualified(schema, absl::StrCat("is_condemned_", table.group));
}

}  // namespace ttl::postgres
