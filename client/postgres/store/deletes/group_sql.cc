#include "client/postgres/store/deletes/group_sql.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/substitute.h"
#include "client/postgres/sql/connect/quoting.h"
#include "client/postgres/sql/group.h"
#include "client/postgres/sql/group_cascades.h"
#include "client/postgres/sql/group_condemned.h"
#include "client/postgres/sql/install/group_objects.h"

namespace ttl::postgres {
namespace {

// These statements use the application's search_path, as those of DeleteSql do.

std::string OnlyTable(const TableDefinition& table) {
  return absl::StrCat("ONLY ", QuoteQualified(table.config.schema, table.config.table));
}

// Whether row t is in one of the asked groups, as a condition that no index can be used for.
std::string IsInAskedGroup(const TableDefinition& table) {
  std::vector<std::string> texts;
  std::vector<std::string> asked;
  for (size_t i = 0; i < table.id.size(); ++i) {
    texts.push_back(absl::StrCat("pg_catalog.concat(t.", QuoteName(table.id[i].name), ")"));
    asked.push_back(absl::StrCat("a.__k", i + 1));
  }
  return absl::Substitute("($0) IN (SELECT $1 FROM asked AS a)", absl::StrJoin(texts, ", "),
                          absl::StrJoin(asked, ", "));
}

// The rows are found before they are deleted, each group by the index, so that the plan does not
// depend on statistics. The group is compared again: a row may be moved to another group meanwhile,
// and PostgreSQL then evaluates the conditions on its newest version. Any other update would have
// to lock the group first.
std::string DeleteRows(const TableDefinition& table, const std::string& asked) {
  return absl::Substitute(
      "$0,\n"
      "gone AS (\n"
      "  DELETE FROM $1 AS t WHERE t.ctid = ANY (ARRAY(\n"
      "    SELECT r.place FROM asked AS a CROSS JOIN LATERAL (\n"
      "      SELECT t.ctid AS place FROM $1 AS t WHERE $2 OFFSET 0) AS r)) AND $3\n"
      "  RETURNING 1)\n"
      "SELECT count(*) FROM gone",
      asked, OnlyTable(table), DeleteSql::HasAskedKey(table.id), IsInAskedGroup(table));
}

// Another table may have taken the name: nobody locks the groups of its rows.
std::string HasItsName(const TableDefinition& table) {
  const std::string name = QuoteQualified(table.config.schema, table.config.table);
  return absl::StrCat("pg_catalog.to_regclass(", QuoteText(name),
                      ")::pg_catalog.oid = ", table.oid);
}

std::string When(const std::vector<std::string>& conditions, absl::string_view otherwise) {
  return absl::StrCat(" WHEN (", absl::StrJoin(conditions, " AND "), ") IS NOT TRUE THEN ",
                      QuoteText(otherwise));
}

std::string WhyUnguarded(const TableDefinition& group) {
  std::vector<std::string> named;
  std::vector<std::string> locked;
  std::vector<std::string> last;
  for (const TableDefinition* table : TablesOf(group)) {
    named.push_back(HasItsName(*table));
    locked.push_back(LockingTriggerIsOn(*table));
    last.push_back(absl::StrCat("NOT EXISTS (", TriggersAfterLocking(*table), ")"));
  }
  return absl::StrCat(
      "SELECT CASE",
      When(named,
           "a table of the group was replaced by another of its name; run ttl-postgres install"),
      When(locked,
           "a table of the group lacks the trigger that locks groups as this configuration needs "
           "it, or it is disabled; run ttl-postgres install"),
      When(last,
           "a table of the group has a trigger that fires after the one that locks groups, and "
           "may change the group; run ttl-postgres check"),
      When({absl::StrCat("NOT EXISTS (", CascadesToOtherGroups(group), ")")},
           "a foreign key between tables of the group deletes or changes rows of other groups; run "
           "ttl-postgres check"),
      " END");
}

// The columns of the group in the asked item a, each of its type.
std::vector<std::string> AskedKey(const TableDefinition& table) {
  std::vector<std::string> key;
  for (size_t i = 0; i < table.id.size(); ++i) {
    key.push_back(absl::StrCat("a.__k", i + 1, "::", table.id[i].type));
  }
  return key;
}

}  // namespace

GroupSql::GroupSql(const TableDefinition& table, const DeleteSql& sql)
    : judge_(sql.judge_statement()) {
  const std::vector<const TableDefinition*> tables = TablesOf(table);
  std::vector<std::string> names;
  std::vector<std::string> exists;
  for (const TableDefinition* one : tables) {
    is_under_row_security_ |= one->config.row_level_security;
    names.push_back(OnlyTable(*one));
    exists.push_back(absl::StrCat("EXISTS (SELECT FROM ", OnlyTable(*one), " AS t WHERE ",
                                  DeleteSql::HasAskedKey(one->id), ")"));
  }
  lock_tables_ = absl::StrCat("LOCK TABLE ", absl::StrJoin(names, ", "), " IN ROW EXCLUSIVE MODE");
  why_unguarded_ = WhyUnguarded(table);
  remains_ = absl::StrCat(sql.Asked(), "\nSELECT a.__n FROM asked AS a WHERE ",
                          absl::StrJoin(exists, " OR "));
  for (const size_t place : table.delete_order) {
    deletes_.push_back(DeleteRows(*tables[place], sql.Asked()));
  }
  const std::vector<std::string> key = AskedKey(table);
  if (!table.own_schema.empty()) SetCondemning(table, sql);
  lock_groups_ = absl::StrCat(sql.Asked(), "\nSELECT a.__n FROM asked AS a WHERE ",
                              LockGroup(table, "pg_try_advisory_xact_lock", key));
  await_group_ = absl::StrCat(sql.Asked(), "\nSELECT a.__n, ",
                              LockGroup(table, "pg_advisory_xact_lock", key), " FROM asked AS a");
}

void GroupSql::SetCondemning(const TableDefinition& table, const DeleteSql& sql) {
  const std::string condemned = CondemnedTable(table.own_schema);
  std::vector<std::string> texts;
  for (size_t i = 1; i <= table.id.size(); ++i) texts.push_back(absl::StrCat("a.__k", i));
  const std::string key = absl::StrCat("ARRAY[", absl::StrJoin(texts, ", "), "]");
  std::vector<std::string> has_newer;
  for (const TableDefinition* one : TablesOf(table)) {
    has_newer.push_back(absl::StrCat("EXISTS (SELECT FROM ", OnlyTable(*one), " AS t WHERE ",
                                     DeleteSql::HasAskedKey(one->id), " AND NOT ",
                                     IsWrittenBefore("t", "h.xid"), ")"));
  }
  keys_to_itself_ = absl::StrCat("SELECT FROM (", KeysWithinGroup(table),
                                 ") AS k(to_table, refers, is_own) "
                                 "WHERE k.is_own");
  entries_ = absl::Substitute(
      "$0\nSELECT a.__n, c.fault FROM asked AS a JOIN $1 AS c ON c.relation = $2::oid AND c.key = "
      "$3 AND c.system = $4",
      sql.Asked(), condemned, table.group, key, SystemIdentifier());
  condemn_ = absl::Substitute(
      "$0,\n"
      "oldest AS MATERIALIZED (SELECT "
      "pg_catalog.pg_snapshot_xmin(pg_catalog.pg_current_snapshot())::text::bigint AS xid),\n"
      "old AS MATERIALIZED (\n"
      "  SELECT a.__n, pg_catalog.hash_record(ROW($1)) AS hash, $2 AS key, h.xid\n"
      "  FROM asked AS a CROSS JOIN oldest AS h WHERE NOT ($3)),\n"
      "entered AS (\n"
      "  INSERT INTO $4 AS c (relation, hash, key, before_xid, system)\n"
      "  SELECT $5::oid, o.hash, o.key, o.xid, $6 FROM old AS o\n"
      "  ON CONFLICT (relation, hash, key) DO UPDATE\n"
      "  SET before_xid = excluded.before_xid, system = excluded.system, fault = NULL)\n"
      "SELECT o.__n FROM old AS o",
      sql.Asked(), absl::StrJoin(AskedKey(table), ", "), key, absl::StrJoin(has_newer, " OR "),
      condemned, table.group, SystemIdentifier());
}

}  // namespace ttl::postgres
