#include "client/postgres/sql/expiry_action.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/substitute.h"
#include "client/postgres/sql/connect/quoting.h"

namespace ttl::postgres {
namespace {

// NULL if the table does not exist. to_regclass() would fail without a right to the schema.
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

// Columns of both tables. $0, $1: oids of the table and of the archive.
constexpr char kColumns[] =
    "(SELECT string_agg(concat_ws(' ', a.attrelid = $0, a.attname, n.nspname, y.typname, "
    "a.atttypmod, a.attgenerated), E'\\n' ORDER BY a.attrelid = $0, a.attnum) FROM "
    "pg_attribute AS a JOIN pg_type AS y ON y.oid = a.atttypid JOIN pg_namespace AS n ON n.oid = "
    "y.typnamespace WHERE a.attrelid IN ($0, $1) AND a.attnum > 0 AND NOT a.attisdropped)";

// Kind, parents and rules of the archive. Of its partitions only those that are not ordinary,
// logged tables are included, since others are added and dropped regularly. No function here locks
// them. $0: oid of the archive; $1: the query of its partitions.
constexpr char kArchiveKind[] =
    "(SELECT concat_ws(' ', c.relkind, c.relpersistence) FROM pg_class AS c WHERE c.oid = $0), "
    "(SELECT string_agg(i.inhparent::text, ' ' ORDER BY i.inhparent) FROM pg_inherits AS i WHERE "
    "i.inhrelid = $0), "
    "(SELECT string_agg(concat_ws(' ', w.rulename, w.ev_type, w.ev_enabled), E'\\n' ORDER BY "
    "w.rulename) FROM pg_rewrite AS w WHERE w.ev_class = $0), "
    "(SELECT string_agg(concat_ws(' ', c.relkind, c.relpersistence, c.oid), E'\\n' ORDER BY c.oid) "
    "FROM ($1) AS p JOIN pg_class AS c ON c.oid = p.oid WHERE c.relkind NOT IN ('r', 'p') OR "
    "c.relpersistence <> 'p')";

constexpr absl::string_view NameOf(OnExpiry action) {
  switch (action) {
    case OnExpiry::kDelete:
      return "delete";
    case OnExpiry::kArchive:
      return "archive";
    case OnExpiry::kMark:
      break;
  }
  return "mark";
}

// The server builds the JSON, so that it quotes any name.
std::string Emit(const TableConfig& table, int64_t count, absl::string_view more) {
  return absl::StrCat(
      "pg_catalog.pg_logical_emit_message(true, 'ttl-postgres', pg_catalog.json_build_object("
      "'container', ",
      QuoteText(table.container), ", 'schema', ", QuoteText(table.schema), ", 'table', ",
      QuoteText(table.table), ", 'count', ", count, ", 'on_expiry', '", NameOf(table.on_expiry),
      "'", more, ")::pg_catalog.text)");
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
  // LIKE ... INCLUDING ALL copies an identity column of the table, which requires OVERRIDING.
  return absl::StrCat("INSERT INTO ", ArchiveName(table.config), " (", absl::StrJoin(names, ", "),
                      ") OVERRIDING SYSTEM VALUE SELECT ", absl::StrJoin(values, ", "), " FROM ",
                      moved, " AS m");
}

std::string ArchiveSignature(const TableConfig& table) {
  return absl::StrCat(
      "(SELECT md5(concat_ws(E'\\n', ",
      absl::Substitute(kColumns, SourceOid(table), ArchiveOid(table)), ", ",
      absl::Substitute(kArchiveKind, ArchiveOid(table), PartitionsOf(ArchiveOid(table))), ")))");
}

std::string PartitionsOf(absl::string_view oid) {
  return absl::Substitute(
      "WITH RECURSIVE tree AS (SELECT $0::oid AS oid UNION SELECT i.inhrelid FROM tree AS t JOIN "
      "pg_inherits AS i ON i.inhparent = t.oid JOIN pg_class AS c ON c.oid = i.inhrelid WHERE "
      "c.relispartition) SELECT tree.oid FROM tree",
      oid);
}

std::string RemovedRowsOfArchive(const TableConfig& table) {
  return absl::StrCat(
      "(SELECT coalesce(sum(pg_stat_get_xact_tuples_deleted(p.oid)), 0)::bigint FROM (",
      PartitionsOf(ArchiveOid(table)), ") AS p)");
}

std::string MarkValue(const TableDefinition& table, absl::string_view text) {
  return absl::StrCat(text, "::text::", table.mark->type);
}

std::string EmitMessage(const TableConfig& table, int64_t count) { return Emit(table, count, ""); }

std::string EmitPieceMessage(const TableConfig& table) {
  return Emit(table, 0, ", 'condemned', true");
}

std::string EmitReplacingMessage(const TableConfig& table) {
  return Emit(table, 1, ", 'replace_expired', true");
}

}  // namespace ttl::postgres
