#include "client/postgres/sql/install/installation.h"

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "client/postgres/sql/connect/quoting.h"
#include "client/postgres/sql/group.h"
#include "client/postgres/sql/group_condemned.h"
#include "client/postgres/sql/held_times.h"
#include "client/postgres/sql/install/group_objects.h"
#include "client/postgres/sql/install/installed_objects.h"
#include "client/postgres/sql/schema_layout.h"
#include "client/postgres/sql/table_facts.h"
#include "service/base/status_macros.h"

namespace ttl::postgres {
namespace {

// Unqualified names resolve in pg_catalog only, whatever the role has set. A short lock_timeout is
// needed since later statements on the table queue behind this one.
constexpr absl::string_view kPreamble =
    "SET LOCAL search_path = pg_catalog;\n"
    "SET LOCAL lock_timeout = '10s';\n";

std::string Block(absl::string_view declarations, absl::string_view body) {
  return absl::StrCat("DO ", QuoteBody(absl::StrCat("\n", declarations, "BEGIN\n", body, "END ")),
                      ";\n");
}

// An SQL comment; a name may contain line breaks.
std::string Heading(absl::string_view text) {
  return absl::StrCat("\n-- ", absl::StrReplaceAll(text, {{"\n", " "}, {"\r", " "}}), "\n");
}

std::string Raise(absl::string_view problem) {
  return absl::StrCat("RAISE EXCEPTION '%', ", QuoteText(problem), ";\n");
}

std::string CommentOn(const InstalledObject& object) {
  return absl::StrCat("COMMENT ON ", object.target, " IS ", QuoteText(object.comment), ";\n");
}

// Whether the object exists with this definition: its comment identifies both.
std::string IsThere(const InstalledObject& object) {
  return absl::StrCat(
      "EXISTS (SELECT FROM pg_description WHERE description = ", QuoteText(object.comment), ")");
}

std::string CreateUnlessThere(const InstalledObject& object) {
  return absl::StrCat("IF NOT ", IsThere(object), " THEN\n", object.definition, ";\n",
                      CommentOn(object), "END IF;\n");
}

std::string RegclassOf(absl::string_view qualified) {
  return absl::StrCat("to_regclass(", QuoteText(qualified), ")");
}

// Replacing the view keeps the objects that depend on it, unless columns were removed. PUBLIC may
// use the view, since the rights of the caller on the table still apply.
std::string ViewSql(const TableDefinition& table, const std::string& schema) {
  const InstalledObject view = LiveView(table, schema);
  const std::string name = LiveViewName(table.config);
  const std::string is_not_ours =
      absl::StrCat(RegclassOf(name), " IS NOT NULL AND NOT starts_with(coalesce(obj_description(",
                   RegclassOf(name), ", 'pg_class'), ''), ", QuoteText(CommentMark(schema)), ")");
  const std::string create = absl::StrCat(view.definition, ";\n");
  return Block("", absl::StrCat("IF ", is_not_ours, " THEN\n",
                                Raise(absl::StrCat(table.config.live_view_schema(), ".",
                                                   table.config.live_view,
                                                   " is there already and not ours; give another "
                                                   "live_view")),
                                "END IF;\nBEGIN\n", create,
                                "EXCEPTION WHEN invalid_table_definition THEN\nDROP VIEW ", name,
                                ";\n", create, "END;\n", CommentOn(view),
                                "GRANT SELECT, INSERT, UPDATE, DELETE ON ", name, " TO PUBLIC;\n"));
}

// A new schema contains only views, which have their own rights, so PUBLIC may use it. An existing
// schema stays unchanged.
std::string ViewSchemaSql(const TableDefinition& table, const std::string& schema) {
  const InstalledObject view_schema = ViewSchema(table, schema);
  return Block("",
               absl::StrCat("IF NOT EXISTS (SELECT FROM pg_namespace WHERE nspname = ",
                            QuoteText(table.config.view_schema), ") THEN\n", view_schema.definition,
                            ";\n", CommentOn(view_schema), "END IF;\n"));
}

// Records the former name, which nothing else preserves once the view is gone.
std::string RenameSql(const TableDefinition& table, const std::string& schema) {
  const std::string renamed = QuoteQualified(schema, "renamed");
  const std::string relation = RegclassOf(TableName(table));
  const std::string name = QuoteText(table.configured_table);
  return Block("", absl::StrCat("IF NOT EXISTS (SELECT FROM ", renamed, " WHERE relation = ",
                                relation, " AND name = ", name, ") THEN\nALTER TABLE ",
                                QuoteQualified(table.config.schema, table.configured_table),
                                " RENAME TO ", QuoteName(table.config.table), ";\nINSERT INTO ",
                                renamed, " VALUES (", relation, ", ", name, ");\nEND IF;\n"));
}

// Restores the former names of tables, except those that match the condition `is_kept`, and drops
// the views that have these names.
std::string RenameBack(absl::string_view schema, absl::string_view is_kept) {
  const std::string renamed = QuoteQualified(schema, "renamed");
  return absl::StrCat(
      "FOR former IN SELECT n.nspname, c.relname, r.name, r.relation, EXISTS (SELECT FROM pg_class "
      "AS v\n    WHERE v.relnamespace = n.oid AND v.relname = r.name AND v.relkind = 'v' AND "
      "starts_with(obj_description(v.oid, 'pg_class'), ",
      QuoteText(CommentMark(schema)), ")) AS has_view\n  FROM ", renamed,
      " AS r JOIN pg_class AS c ON c.oid = r.relation JOIN pg_namespace AS n ON n.oid = "
      "c.relnamespace\n  WHERE NOT (",
      is_kept,
      ")\nLOOP\nIF former.has_view THEN\nEXECUTE format('DROP VIEW %I.%I', former.nspname, "
      "former.name);\nEND IF;\nIF former.relname <> former.name THEN\nEXECUTE format('ALTER TABLE "
      "%I.%I RENAME TO %I', former.nspname, former.relname, former.name);\nEND IF;\nDELETE FROM ",
      renamed, " WHERE relation = former.relation;\nEND LOOP;\nDELETE FROM ", renamed,
      " WHERE relation NOT IN (SELECT oid FROM pg_class);\n");
}

// A condition: the renamed table is one of `tables`, and has its configured name.
std::string IsRenamedAsConfigured(absl::Span<const TableDefinition> tables) {
  std::vector<std::string> conditions = {"false"};
  for (const TableDefinition& table : tables) {
    if (table.config.rename_table.empty()) continue;
    conditions.push_back(absl::StrCat("n.nspname = ", QuoteText(table.config.schema),
                                      " AND r.name = ", QuoteText(table.configured_table),
                                      " AND c.relname = ", QuoteText(table.config.table)));
  }
  return absl::StrJoin(conditions, "\n    OR ");
}

// The policies would show condemned rows.
std::string RefuseCondemned(const TableDefinition& table, const std::string& schema) {
  if (!IsGroup(table)) return "";
  return absl::StrCat("IF EXISTS (SELECT FROM ", CondemnedTable(schema),
                      " WHERE relation = ", table.group, " AND system = ", SystemIdentifier(),
                      ") THEN\n",
                      Raise(absl::StrCat("groups of ", table.config.schema, ".", table.config.table,
                                         " are being deleted in pieces; set row_level_security "
                                         "when ttl-postgres status shows no condemned group")),
                      "END IF;\n");
}

// While row-level security is off, existing policies have no effect. Switching it on would activate
// them, and our showing policy would allow the rows that they hide.
std::string RowSecuritySql(const TableDefinition& table, const std::string& schema) {
  const std::string oid = absl::StrCat(QuoteText(TableName(table)), "::regclass");
  std::string body = absl::StrCat(
      RefuseCondemned(table, schema),
      "IF NOT (SELECT relrowsecurity FROM pg_class WHERE oid = ", oid,
      ") THEN\nIF EXISTS (SELECT FROM pg_policy WHERE polrelid = ", oid,
      " AND NOT starts_with(polname, 'ttl_postgres_')) THEN\n",
      Raise(absl::StrCat("table ", table.config.schema, ".", table.config.table,
                         " has policies, but its row-level security is off; switch it on, or "
                         "drop them")),
      "END IF;\n", CreateUnlessThere(ShowingPolicy(table, schema)), "ALTER TABLE ",
      TableName(table), " ENABLE ROW LEVEL SECURITY;\nEND IF;\n");
  for (const InstalledObject& policy : HidingPolicies(table, schema)) {
    absl::StrAppend(&body, CreateUnlessThere(policy));
  }
  return Block("", body);
}

// The variable of a block that has the owner of the table.
std::string OwnerOf(const TableDefinition& table) {
  return absl::StrCat("DECLARE\nowner name := (SELECT pg_get_userbyid(relowner) FROM pg_class\n",
                      "  WHERE oid = ", QuoteText(TableName(table)), "::regclass);\n");
}

// A function runs with the rights of the owner of the table, and no others.
std::string GiveToOwner(const std::string& target, const std::string& schema) {
  const std::string schema_text = QuoteText(schema);
  return absl::StrCat(
      "IF owner <> current_user THEN\nEXECUTE format('GRANT CREATE ON SCHEMA %I TO %I', ",
      schema_text, ", owner);\nEXECUTE format('ALTER %s OWNER TO %I', ", QuoteText(target),
      ", owner);\nEXECUTE format('REVOKE CREATE ON SCHEMA %I FROM %I', ", schema_text,
      ", owner);\nEND IF;\n");
}

std::string TriggerSql(const TableDefinition& table, const std::string& schema) {
  const std::vector<InstalledObject> objects = ReplacingTrigger(table, schema);
  const std::string enable = absl::StrCat("IF ", ReplacingTriggerIsOff(table), " THEN\n",
                                          EnableReplacingTrigger(table), ";\nEND IF;\n");
  return Block(OwnerOf(table),
               absl::StrCat(CreateUnlessThere(objects[0]), GiveToOwner(objects[0].target, schema),
                            CreateUnlessThere(objects[1]), enable));
}

std::string GroupSql(const TableDefinition& table, const std::string& schema) {
  std::string body;
  for (const InstalledObject& object : LockingTrigger(table, schema)) {
    absl::StrAppend(&body, CreateUnlessThere(object));
  }
  absl::StrAppend(&body, "IF NOT ", LockingTriggerIsOn(table), " THEN\n",
                  EnableLockingTrigger(table), ";\nEND IF;\n");
  if (table.oid == table.group) absl::StrAppend(&body, GrantCondemned(schema));
  for (const InstalledObject& function : ReadersFunctions(table, schema)) {
    absl::StrAppend(&body, function.definition, ";\n", CommentOn(function),
                    GiveToOwner(function.target, schema));
  }
  return Block(OwnerOf(table), body);
}

std::string TableSql(const TableDefinition& table, const std::string& schema) {
  const TableConfig& config = table.config;
  std::string sql = Heading(
      absl::StrCat("Table ", config.schema, ".", config.table, ", container ", config.container));
  if (!config.rename_table.empty()) absl::StrAppend(&sql, RenameSql(table, schema));
  if (IsGroup(table)) absl::StrAppend(&sql, GroupSql(table, schema));
  if (!config.view_schema.empty()) absl::StrAppend(&sql, ViewSchemaSql(table, schema));
  if (!config.live_view.empty()) absl::StrAppend(&sql, ViewSql(table, schema));
  if (config.row_level_security) absl::StrAppend(&sql, RowSecuritySql(table, schema));
  if (config.replace_expired) absl::StrAppend(&sql, TriggerSql(table, schema));
  return sql;
}

std::string PublicationSql(const Config& config, absl::Span<const TableDefinition> tables) {
  const std::string name = QuoteName(config.publication);
  const std::string comment = QuoteText(PublicationComment(config.schema));
  const std::string is_there = absl::StrCat("EXISTS (SELECT FROM pg_publication WHERE pubname = ",
                                            QuoteText(config.publication));
  return absl::StrCat(
      Heading("What is streamed"),
      Block("", absl::StrCat("IF NOT ", is_there, ") THEN\nCREATE PUBLICATION ", name,
                             ";\nCOMMENT ON PUBLICATION ", name, " IS ", comment, ";\nELSIF NOT ",
                             is_there, " AND obj_description(oid, 'pg_publication') = ", comment,
                             ") THEN\n",
                             Raise(absl::StrCat("publication ", config.publication,
                                                " is there already and not ours; give another "
                                                "publication")),
                             "END IF;\n")),
      // Must precede SET, since column lists of partitioned tables require it.
      "ALTER PUBLICATION ", name,
      " SET (publish = 'insert, update, delete, truncate', publish_via_partition_root = true);\n",
      "ALTER PUBLICATION ", name, " SET ", PublishedTables(tables), ";\n");
}

// Leftovers that are not wanted, in one of two steps.
enum class Leftovers {
  kAll,
  kBeforeObjects,  // all but the functions that views and policies of groups call
  kAfterObjects,   // these functions, which no view calls any more
};

std::string IsInStep(Leftovers step, const std::string& schema) {
  if (step == Leftovers::kAll) return "";
  return absl::StrCat("\n  AND ", step == Leftovers::kBeforeObjects ? "NOT " : "",
                      IsOfReadersFunction("comment", schema));
}

// Keeps views by name, since they are replaced and not dropped. `comments` are the comments, as
// SQL, of other objects to keep.
std::string LeftoversSql(const Config& config, absl::Span<const TableDefinition> tables,
                         Leftovers step, std::vector<std::string> comments = {"''"}) {
  std::vector<std::string> views = {"0"};
  for (const TableDefinition& table : tables) {
    for (const InstalledObject& object : InstalledObjects(table, config.schema)) {
      comments.push_back(QuoteText(object.comment));
    }
    if (table.config.live_view.empty()) continue;
    views.push_back(absl::StrCat("coalesce(", RegclassOf(LiveViewName(table.config)), "::oid, 0)"));
  }
  const std::string is_leftover =
      absl::StrCat("comment <> ALL (ARRAY[\n    ", absl::StrJoin(comments, ",\n    "),
                   "])\n  AND object <> ALL (ARRAY[", absl::StrJoin(views, ", "),
                   "]::oid[])\n  AND command <> format('DROP PUBLICATION %I', ",
                   QuoteText(config.publication), ")", IsInStep(step, config.schema));
  return absl::StrCat(
      Heading("What a former configuration left"),
      Block("DECLARE\nleftover text;\nformer record;\n",
            absl::StrCat("FOR leftover IN SELECT command FROM (", MarkedObjectsQuery(config.schema),
                         ") AS m\n  WHERE ", is_leftover,
                         "\n  ORDER BY position\nLOOP\nEXECUTE leftover;\nEND LOOP;\n",
                         RenameBack(config.schema, IsRenamedAsConfigured(tables)))));
}

// Must follow the removal of the objects that read the policies.
std::string PoliciesSql(const std::string& schema, absl::Span<const TableDefinition> tables) {
  const auto quote = [](std::string* out, const TableDefinition& table) {
    absl::StrAppend(out, QuoteText(table.config.container));
  };
  return absl::StrCat(Heading("Policies that nothing asks for any more"), "DELETE FROM ",
                      QuoteQualified(schema, "policy"), " WHERE container <> ALL (ARRAY[",
                      absl::StrJoin(tables, ", ", quote), "]::text[]);\n");
}

// Entries whose rows cannot be found any more, and those of another server, where a dump came from.
std::string CondemnedSql(const std::string& schema, absl::Span<const TableDefinition> tables) {
  std::vector<std::string> groups;
  for (const TableDefinition& table : tables) groups.push_back(absl::StrCat(table.group));
  return absl::StrCat(
      Heading("Groups that were being deleted in pieces"),
      Block("",
            absl::StrCat("DELETE FROM ", CondemnedTable(schema), " WHERE relation <> ALL (ARRAY[",
                         absl::StrJoin(groups, ", "), "]::oid[]) OR system <> ", SystemIdentifier(),
                         ";\nIF FOUND THEN\nRAISE WARNING 'groups that are no longer "
                         "configured were being deleted in pieces: their rows that are left "
                         "are no longer hidden';\nEND IF;\n")));
}

// Our slots among `names`, an SQL array.
std::string OurSlots(absl::string_view names) {
  return absl::StrCat("FROM pg_replication_slots WHERE slot_name = ANY (", names,
                      ") AND plugin = 'pgoutput' AND database = current_database()");
}

// Dropping a slot cannot be undone, so every step that may fail must precede it.
std::string RefuseActiveSlots(absl::string_view names) {
  return absl::StrCat(
      "FOR slot IN SELECT slot_name, active_pid ", OurSlots(names),
      " AND active LOOP\nRAISE EXCEPTION 'replication slot % is in use by the process % of the "
      "server: stop the ttl-postgres that it serves first', slot.slot_name, slot.active_pid;\n"
      "END LOOP;\n");
}

std::string DropSlots(absl::string_view names) {
  return absl::StrCat("PERFORM pg_drop_replication_slot(slot_name) ", OurSlots(names), ";\n");
}

std::string SlotSql(const Config& config) {
  const std::string slots = QuoteQualified(config.schema, "slots");
  const std::string present = QuoteText(config.slot);
  return absl::StrCat(
      Heading("Slots that a former configuration used"),
      Block(absl::StrCat("DECLARE\nslot record;\nformer text[] := ARRAY(SELECT name FROM ", slots,
                         " WHERE name <> ", present, ");\n"),
            absl::StrCat(RefuseActiveSlots("former"), "DELETE FROM ", slots,
                         " WHERE name = ANY (former);\nINSERT INTO ", slots, " VALUES (", present,
                         ") ON CONFLICT DO NOTHING;\n", DropSlots("former"))));
}

// A new policy or view would interfere with a running migration.
std::string RefuseMigration(const std::string& schema) {
  return absl::StrCat("IF NOT pg_try_advisory_xact_lock(", MigrationLock(schema),
                      ") THEN\nRAISE EXCEPTION 'a migration is running; wait for the end of "
                      "ttl-postgres migrate' USING ERRCODE = 'lock_not_available';\nEND IF;\n");
}

std::string EndOfMigrationSql(const std::string& schema) {
  return absl::StrCat(Heading("What a migration took away comes back"),
                      Block("", absl::StrCat(RefuseMigration(schema), "DELETE FROM ",
                                             QuoteQualified(schema, "migration"), ";\n")));
}

std::string UnpublishSql(const Config& config, const TableDefinition& table) {
  return Block(
      "",
      absl::StrCat("IF EXISTS (SELECT FROM pg_publication_rel AS r JOIN pg_publication AS p ON "
                   "p.oid = r.prpubid WHERE p.pubname = ",
                   QuoteText(config.publication), " AND r.prrelid = ", table.oid,
                   ") THEN\nALTER PUBLICATION ", QuoteName(config.publication), " DROP TABLE ",
                   QuoteQualified(table.config.schema, table.configured_table), ";\nEND IF;\n"));
}

std::vector<TableDefinition> AllAsInstalled(absl::Span<const TableDefinition> definitions) {
  std::vector<TableDefinition> tables;
  for (const TableDefinition& definition : definitions) tables.push_back(AsInstalled(definition));
  return AllTables(tables);
}

}  // namespace

std::string InstallSql(const Config& config, absl::Span<const TableDefinition> definitions) {
  const std::vector<TableDefinition> tables = AllAsInstalled(definitions);
  std::string sql = absl::StrCat(kPreamble, Heading("Our own schema"),
                                 CreateSchemaSql(config.schema), EndOfMigrationSql(config.schema),
                                 LeftoversSql(config, tables, Leftovers::kBeforeObjects));
  for (const TableDefinition& table : tables) {
    absl::StrAppend(&sql, TableSql(table, config.schema));
  }
  absl::StrAppend(&sql, LeftoversSql(config, tables, Leftovers::kAfterObjects));
  return absl::StrCat(sql, PoliciesSql(config.schema, tables), CondemnedSql(config.schema, tables),
                      Heading("Times that rewrites would change"),
                      HoldTimesSql(config.schema, tables), PublicationSql(config, tables),
                      SlotSql(config));
}

std::string TakeAwaySql(const Config& config, absl::Span<const TableDefinition> tables,
                        const std::set<std::string>& containers, absl::string_view command) {
  std::vector<TableDefinition> others;
  std::vector<std::string> comments = {"''"};
  std::string unpublish;
  for (const TableDefinition& table : AllAsInstalled(tables)) {
    if (!containers.contains(table.config.container)) {
      others.push_back(table);
      continue;
    }
    absl::StrAppend(&unpublish, UnpublishSql(config, table));
    if (table.config.view_schema.empty()) continue;
    comments.push_back(QuoteText(ViewSchema(table, config.schema).comment));
  }
  const std::string migration = QuoteQualified(config.schema, "migration");
  return absl::StrCat(kPreamble, LeftoversSql(config, others, Leftovers::kAll, std::move(comments)),
                      unpublish, "DELETE FROM ", migration, ";\nINSERT INTO ", migration,
                      " VALUES (statement_timestamp(), ", QuoteText(command), ");\n");
}

int64_t MigrationLock(absl::string_view schema) {
  return static_cast<int64_t>(Fingerprint(absl::StrCat("ttl-postgres migrate ", schema)));
}

std::string Describe(const Migration& migration) {
  return absl::StrCat(
      "a migration (", migration.command, "), begun at ", migration.started_at,
      migration.is_running ? ", is running" : ", was interrupted and has left objects removed");
}

absl::StatusOr<std::optional<Migration>> ReadMigration(Connection& connection,
                                                       const std::string& schema) {
  TTL_ASSIGN_OR_RETURN(const auto readable, CanReadOwnTable(connection, schema, "migration"));
  if (!readable) return std::nullopt;
  const auto noted = connection.Query(absl::StrCat(
      "SELECT command, to_char(started_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS') || ' UTC', "
      "EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND database = (SELECT oid FROM "
      "pg_database WHERE datname = current_database()) AND objsubid = 1 AND classid::bigint << 32 "
      "| objid::bigint = ",
      MigrationLock(schema), ") FROM ", QuoteQualified(schema, "migration")));
  TTL_RETURN_IF_ERROR(noted.status());
  if (noted->rows() == 0) return std::nullopt;
  return Migration{std::string(noted->Text(0, 0)), std::string(noted->Text(0, 1)),
                   noted->Bool(0, 2)};
}

std::string UninstallSql(const Config& config) {
  const std::string& schema = config.schema;
  const std::string slots = QuoteText(QuoteQualified(schema, "slots"));
  const std::string declarations =
      absl::StrCat("DECLARE\nslot record;\nleftover text;\nformer record;\nnames text[] := ARRAY[",
                   QuoteText(config.slot), "];\n");
  const std::string find_slots = absl::StrCat(
      "IF ", SchemaIsOurs(schema), " AND to_regclass(", slots,
      ") IS NOT NULL THEN\nEXECUTE format('SELECT %L::text[] || array_agg(name) FROM %s', names, ",
      slots, ") INTO names;\nEND IF;\n");
  const std::string drop_marked =
      absl::StrCat("FOR leftover IN SELECT command FROM (", MarkedObjectsQuery(schema),
                   ") AS m ORDER BY position LOOP\nEXECUTE leftover;\nEND LOOP;\n");
  const std::string rename_back = absl::StrCat(
      "IF ", SchemaIsOurs(schema), " AND ", RegclassOf(QuoteQualified(schema, "renamed")),
      " IS NOT NULL THEN\n", RenameBack(schema, "false"), "END IF;\n");
  const std::string drop_schema =
      absl::StrCat("IF ", SchemaIsOurs(schema), " THEN\n", DropEventTriggersSql(schema),
                   DropSchemaSql(schema), "END IF;\n");
  return absl::StrCat(
      kPreamble, Block("", RefuseMigration(schema)),
      Block(declarations, absl::StrCat(find_slots, RefuseActiveSlots("names"), drop_marked,
                                       rename_back, drop_schema, DropSlots("names"))));
}

}  // namespace ttl::postgres
