#include "client/postgres/sql/expiry_action.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/substitute.h"
#include "client/postgres/sql/connect/quoting.h"

namespace ttl::postgres {
namespace {

// NULL: there is none. to_regclass() would fail without a right to the schema.
std::string OidOf(absl::string_view schema, absl::string_view table) {
  return absl::StrCat(
      "(SELECT r.oid FROM pg_class AS r JOIN pg_namespace AS s ON s.oid = r.relnamespace WHERE "
      "s.nspname = ",
      QuoteText(schema), " AND r.relname = ", QuoteText(table), ")");
}

std::string SourceOid(const TableConfig& table) { return OidOf(table.schema, table.table); }

std::string ArchiveOid(const TableConfig& table) {
  return OidOf(table.schema_of_archive(), table.archive_table);
}

}  // namespace

std::string ArchiveName(const TableConfig& table) {
  return QuoteQualified(table.schema_of_archive(), table.archive_table);
}

std::string MovedColumns(const TableDefinition& table) {
  std::vector<std::string> columns;
  for (const std::string& name : table.archive->columns) {
    columns.push_back(absl::StrCat("t.", QuoteName(name), " AS a", columns.size() + 1));
  }
  return absl::StrJoin(columns, ", ");
}

std::string InsertIntoArchive(const TableDefinition& table, absl::string_view moved) {
  std::vector<std::string> names;
  std::vector<std::string> values;
  for (const std::string& name : table.archive->columns) {
    names.push_back(QuoteName(name));
    values.push_back(absl::StrCat("m.a", names.size()));
  }
  if (!table.config.archived_at.empty()) {
    names.push_back(QuoteName(table.config.archived_at));
    values.push_back("pg_catalog.clock_timestamp()");
  }
  // OVERRIDING: LIKE ... INCLUDING ALL makes an identity column of one that the table has.
  return absl::StrCat("INSERT INTO ", ArchiveName(table.config), " (", absl::StrJoin(names, ", "),
                      ") OVERRIDING SYSTEM VALUE SELECT ", absl::StrJoin(values, ", "), " FROM ",
                      moved, " AS m");
}

std::string ArchiveSignature(const TableConfig& table) {
  return absl::Substitute(
      "(SELECT md5(string_agg(concat_ws(' ', a.attrelid = $0, a.attname, n.nspname, y.typname, "
      "a.atttypmod, a.attgenerated), E'\\n' ORDER BY a.attrelid = $0, a.attnum)) FROM "
      "pg_attribute AS a JOIN pg_type AS y ON y.oid = a.atttypid JOIN pg_namespace AS n ON n.oid = "
      "y.typnamespace WHERE a.attrelid IN ($0, $1) AND a.attnum > 0 AND NOT a.attisdropped)",
      SourceOid(table), ArchiveOid(table));
}

std::string MarkValue(const TableDefinition& table, absl::string_view text) {
  return absl::StrCat(text, "::text::", table.mark->type);
}

absl::StatusOr<ArchiveDefinition> ReadArchive(Connection& connection, const TableConfig& table) {
  const auto found = connection.Query(absl::StrCat(
      "SELECT ", ArchiveSignature(table), ", c.attname FROM pg_attribute AS c WHERE c.attrelid = ",
      SourceOid(table), " AND c.attnum > 0 AND NOT c.attisdropped ORDER BY c.attnum"));
  if (!found.ok()) return found.status();
  ArchiveDefinition archive;
  for (int row = 0; row < found->rows(); ++row) {
    archive.signature = std::string(found->Text(row, 0));
    archive.columns.emplace_back(found->Text(row, 1));
  }
  return archive;
}

}  // namespace ttl::postgres
