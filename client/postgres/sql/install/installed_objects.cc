#include "client/postgres/sql/install/installed_objects.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "client/postgres/sql/connect/quoting.h"
#include "client/postgres/sql/expiry_action.h"
#include "client/postgres/sql/group.h"
#include "client/postgres/sql/install/group_objects.h"
#include "client/postgres/sql/visibility.h"

namespace ttl::postgres {
namespace {

constexpr absl::string_view kShowingPolicy = "ttl_postgres_all";
// Triggers fire in the order of their names. This one must be last, since others may set the key.
constexpr absl::string_view kTrigger = "zz_ttl_postgres_replace_expired";

std::string PlainName(absl::string_view schema, absl::string_view table) {
  return absl::StrCat(schema, ".", table);
}

std::string PlainName(const TableDefinition& table) {
  return PlainName(table.config.schema, table.config.table);
}

// Purposes of installed objects, by the plain name of the table.
std::string ShowsLiveRows(const std::string& table) { return absl::StrCat("live rows of ", table); }
std::string DecidesOnRows(const std::string& table) { return absl::StrCat("rows of ", table); }
std::string Replaces(const std::string& table) {
  return absl::StrCat("a new row of ", table, " replaces");
}
std::string ReplacesExpired(const std::string& table) {
  return absl::StrCat(Replaces(table), " an expired one");
}

InstalledObject Policy(const TableDefinition& table, absl::string_view schema,
                       absl::string_view name, absl::string_view clauses) {
  InstalledObject policy;
  policy.name = absl::StrCat("policy ", name, " on table ", PlainName(table));
  policy.target = absl::StrCat("POLICY ", QuoteName(name), " ON ", TableName(table));
  policy.definition = absl::StrCat("CREATE ", policy.target, " ", clauses);
  policy.comment = MarkedComment(schema, DecidesOnRows(PlainName(table)), policy.definition);
  return policy;
}

// t.key = NEW.key for each column of the key.
std::string IsRowOfNew(const TableDefinition& table) {
  std::vector<std::string> conditions;
  for (const auto* columns : {&table.partition_key, &table.id}) {
    for (const ColumnDefinition& column : *columns) {
      const std::string name = QuoteName(column.name);
      conditions.push_back(absl::StrCat("t.", name, " = NEW.", name));
    }
  }
  return absl::StrJoin(conditions, " AND ");
}

// The search path for triggers that the delete of an expired row fires: the schemas that they
// usually rely on, but not those of the inserting role.
std::string PathOfTriggers(const TableDefinition& table) {
  return absl::StrCat(QuoteName(table.config.schema), ", \"$user\", public, pg_temp");
}

// Removes the locked row, and says so in the WAL. With on_expiry: archive the row is moved, or the
// INSERT fails.
std::string RemoveHeldRow(const TableDefinition& table) {
  const std::string remove =
      absl::StrCat("DELETE FROM ", TableName(table),
                   " AS t\n    WHERE t.ctid OPERATOR(pg_catalog.=) expired.place AND "
                   "t.tableoid OPERATOR(pg_catalog.=) expired.part");
  const std::string emit = absl::StrCat("    PERFORM ", EmitReplacingMessage(table.config), ";\n");
  if (!table.archive.has_value()) {
    // A trigger may keep the row.
    return absl::StrCat("    ", remove, ";\n    IF FOUND THEN\n  ", emit, "    END IF;\n");
  }
  return absl::StrCat(
      "    WITH gone AS (", remove, "\n    RETURNING ", MovedColumns(table), "),\n    moved AS (",
      InsertIntoArchive(table, "gone"),
      " RETURNING 1)\n    SELECT (SELECT count(*) FROM gone) OPERATOR(pg_catalog.=) "
      "(SELECT count(*) FROM moved) INTO is_whole;\n    IF NOT is_whole THEN\n      RAISE "
      "EXCEPTION 'an expired row of %, whose key is used again, is kept out of its archive_table "
      "by a trigger', ",
      QuoteText(PlainName(table)), ";\n    END IF;\n", emit);
}

// With on_expiry: archive, a changed table or archive would lose a part of the row.
std::string RefuseChangedArchive(const TableDefinition& table) {
  if (!table.archive.has_value()) return "";
  return absl::StrCat("    IF ", ArchiveSignature(table.config), " IS DISTINCT FROM ",
                      QuoteText(table.archive->signature),
                      " THEN\n      RAISE EXCEPTION 'an expired row of %, whose key is used again, "
                      "cannot be moved: the table or its archive_table has changed; run "
                      "ttl-postgres install', ",
                      QuoteText(PlainName(table)), ";\n    END IF;\n");
}

// While holds stand or deletes wait for a gated subscription, the expired row stays and the INSERT
// meets it: SQL does not know which rows that is about. Asked only if there is such a row.
std::string LeaveHeldRow(const TableDefinition& table, absl::string_view schema) {
  return absl::StrCat("    IF EXISTS (SELECT FROM ", QuoteQualified(schema, "policy"),
                      " AS p WHERE p.container = ", QuoteText(table.config.container),
                      " AND p.has_holds) THEN\n      RETURN NEW;\n    END IF;\n");
}

// Runs with the rights of the owner of the table, since the inserting role may lack the right to
// delete. No other role may use the function in a trigger: the column types of its table would
// determine which operators are called.
std::string ReplacingBody(const TableDefinition& table, absl::string_view schema) {
  // A name in the condition must refer to a column, not to a variable of the function.
  const absl::string_view options =
      table.config.where.empty() ? "" : "\n#variable_conflict use_column";
  return absl::StrCat(options, "\n<<expired>>\nDECLARE\n  place tid;\n  part oid;\n",
                      table.archive.has_value() ? "  is_whole boolean;\n" : "", "BEGIN\n",
                      "  SELECT t.ctid, t.tableoid INTO place, part FROM ", TableName(table),
                      " AS t\n  WHERE ", IsRowOfNew(table), "\n    AND NOT ",
                      VisibleCondition(table, schema, "t"), "\n  FOR UPDATE;\n  IF FOUND THEN\n",
                      LeaveHeldRow(table, schema), RefuseChangedArchive(table),
                      "    PERFORM set_config('search_path', ", QuoteText(PathOfTriggers(table)),
                      ", true);\n", RemoveHeldRow(table), "  END IF;\n  RETURN NEW;\nEND ");
}

InstalledObject ReplacingFunction(const TableDefinition& table, absl::string_view schema) {
  const std::string name =
      absl::StrCat(QuoteQualified(schema, absl::StrCat("replace_expired_", table.oid)), "()");
  InstalledObject function;
  function.name = absl::StrCat("function ", name);
  function.target = absl::StrCat("FUNCTION ", name);
  function.definition = absl::StrCat("CREATE ", function.target,
                                     " RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET "
                                     "search_path = pg_catalog, pg_temp AS ",
                                     QuoteBody(ReplacingBody(table, schema)), ";\nREVOKE ALL ON ",
                                     function.target, " FROM PUBLIC");
  function.comment = MarkedComment(schema, ReplacesExpired(PlainName(table)), function.definition);
  return function;
}

std::string MarkedOf(absl::string_view catalog, absl::string_view columns,
                     absl::string_view joins) {
  return absl::StrCat("SELECT ", columns, ", d.description FROM pg_description AS d JOIN ", catalog,
                      " AS o ON o.oid = d.objoid ", joins, " WHERE d.classoid = '", catalog,
                      "'::regclass AND d.objsubid = 0");
}

// Position, oid, removing command and comment of each commented object, in all catalogs. Excludes
// `schema`.
std::string AllCommented(absl::string_view schema) {
  constexpr absl::string_view kOfTable =
      "JOIN pg_class AS c ON c.oid = %s JOIN pg_namespace AS n ON n.oid = c.relnamespace";
  const std::string is_last_policy = absl::StrCat(
      "o.polname = '", kShowingPolicy,
      "' AND NOT EXISTS (SELECT FROM pg_policy AS other WHERE other.polrelid = o.polrelid AND "
      "NOT starts_with(other.polname, 'ttl_postgres_'))");
  return absl::StrJoin(
      {MarkedOf("pg_class", "1, o.oid, format('DROP VIEW %I.%I', n.nspname, o.relname)",
                "AND o.relkind = 'v' JOIN pg_namespace AS n ON n.oid = o.relnamespace"),
       MarkedOf("pg_policy",
                absl::StrCat("2, o.oid, format('DROP POLICY %I ON %I.%I', o.polname, n.nspname, "
                             "c.relname) || CASE WHEN ",
                             is_last_policy,
                             " THEN format('; ALTER TABLE %I.%I DISABLE ROW LEVEL SECURITY', "
                             "n.nspname, c.relname) ELSE '' END"),
                absl::StrFormat(kOfTable, "o.polrelid")),
       MarkedOf("pg_trigger",
                "3, o.oid, format('DROP TRIGGER %I ON %I.%I', o.tgname, n.nspname, c.relname)",
                absl::StrFormat(kOfTable, "o.tgrelid")),
       MarkedOf("pg_proc", "4, o.oid, format('DROP FUNCTION %s', o.oid::regprocedure)", ""),
       MarkedOf("pg_publication", "5, o.oid, format('DROP PUBLICATION %I', o.pubname)", ""),
       absl::StrCat(MarkedOf("pg_namespace", "6, o.oid, format('DROP SCHEMA %I', o.nspname)", ""),
                    " AND o.nspname <> ", QuoteText(schema))},
      " UNION ALL\n  ");
}

}  // namespace

std::string MarkedObjectsQuery(absl::string_view schema) {
  return absl::StrCat(
      "SELECT * FROM (\n  ", AllCommented(schema),
      "\n) AS marked(position, object, command, comment) WHERE starts_with(comment, ",
      QuoteText(CommentMark(schema)), ")");
}

TableDefinition AsInstalled(TableDefinition table) {
  TableConfig& config = table.config;
  config.table = config.rename_table.empty() ? table.configured_table : config.rename_table;
  for (TableDefinition& member : table.members) member = AsInstalled(std::move(member));
  return table;
}

std::vector<std::string> PurposesFor(absl::string_view table_schema, absl::string_view table,
                                     absl::string_view schema) {
  const std::string name = PlainName(table_schema, table);
  std::vector<std::string> purposes;
  for (const std::string& purpose :
       {ShowsLiveRows(name), DecidesOnRows(name), Replaces(name), ReplacesExpired(name),
        TellsWhetherLive(name), TellsWhetherCondemned(name), LocksGroup(name)}) {
    purposes.push_back(PurposeOf(MarkedComment(schema, purpose, "")));
  }
  return purposes;
}

std::string PurposeOf(const std::string& comment) { return comment.substr(0, comment.rfind(" [")); }

std::string LiveViewName(const TableConfig& config) {
  return QuoteQualified(config.live_view_schema(), config.live_view);
}

InstalledObject ViewSchema(const TableDefinition& table, absl::string_view schema) {
  const std::string& name = table.config.view_schema;
  InstalledObject view_schema;
  view_schema.name = absl::StrCat("schema ", name);
  view_schema.target = absl::StrCat("SCHEMA ", QuoteName(name));
  view_schema.definition = absl::StrCat("CREATE ", view_schema.target, ";\nGRANT USAGE ON ",
                                        view_schema.target, " TO PUBLIC");
  view_schema.comment =
      MarkedComment(schema, absl::StrCat("views in ", name), view_schema.definition);
  return view_schema;
}

InstalledObject LiveView(const TableDefinition& table, absl::string_view schema) {
  const TableConfig& config = table.config;
  InstalledObject view;
  view.name = absl::StrCat("view ", config.live_view_schema(), ".", config.live_view);
  view.target = absl::StrCat("VIEW ", LiveViewName(config));
  view.definition = absl::StrCat(
      "CREATE OR REPLACE ", view.target, " WITH (security_invoker = true) AS\n", "  SELECT * FROM ",
      TableName(table), " AS t WHERE ", VisibleCondition(table, schema, "t"));
  view.comment = MarkedComment(schema, ShowsLiveRows(PlainName(table)), view.definition);
  return view;
}

std::vector<InstalledObject> HidingPolicies(const TableDefinition& table,
                                            absl::string_view schema) {
  const std::string using_visible =
      absl::StrCat("\n  USING (", VisibleInPolicy(table, schema), ")");
  // Restrictive policies hide expired rows even if other policies allow them. WITH CHECK (true): no
  // written row is refused.
  return {Policy(table, schema, "ttl_postgres_select",
                 absl::StrCat("AS RESTRICTIVE FOR SELECT", using_visible)),
          Policy(table, schema, "ttl_postgres_update",
                 absl::StrCat("AS RESTRICTIVE FOR UPDATE", using_visible, " WITH CHECK (true)")),
          Policy(table, schema, "ttl_postgres_delete",
                 absl::StrCat("AS RESTRICTIVE FOR DELETE", using_visible))};
}

InstalledObject ShowingPolicy(const TableDefinition& table, absl::string_view schema) {
  return Policy(table, schema, kShowingPolicy, "USING (true) WITH CHECK (true)");
}

std::vector<InstalledObject> ReplacingTrigger(const TableDefinition& table,
                                              absl::string_view schema) {
  const InstalledObject function = ReplacingFunction(table, schema);
  InstalledObject trigger;
  trigger.name = absl::StrCat("trigger ", kTrigger, " on table ", PlainName(table));
  trigger.target = absl::StrCat("TRIGGER ", QuoteName(kTrigger), " ON ", TableName(table));
  trigger.definition = absl::StrCat("CREATE TRIGGER ", QuoteName(kTrigger), " BEFORE INSERT ON ",
                                    TableName(table), " FOR EACH ROW EXECUTE ", function.target);
  // Includes the comment of the function, since dropping the function drops the trigger.
  trigger.comment = MarkedComment(schema, Replaces(PlainName(table)),
                                  absl::StrCat(trigger.definition, function.comment));
  return {function, trigger};
}

// A row of a partitioned table fires the trigger of its partition.
std::string ReplacingTriggerIsOff(const TableDefinition& table) {
  const std::string oid = absl::StrCat("to_regclass(", QuoteText(TableName(table)), ")");
  return absl::StrCat("EXISTS (SELECT FROM pg_trigger WHERE (tgrelid = ", oid,
                      " OR tgrelid IN (SELECT relid FROM pg_partition_tree(", oid,
                      "))) AND tgname = ", QuoteText(kTrigger), " AND tgenabled IN ('D', 'R'))");
}

std::string EnableReplacingTrigger(const TableDefinition& table) {
  return absl::StrCat("ALTER TABLE ", TableName(table), " ENABLE TRIGGER ", QuoteName(kTrigger));
}

std::vector<InstalledObject> InstalledObjects(const TableDefinition& table,
                                              absl::string_view schema) {
  std::vector<InstalledObject> objects;
  const auto append = [&objects](const std::vector<InstalledObject>& more) {
    objects.insert(objects.end(), more.begin(), more.end());
  };
  if (IsGroup(table)) append(GroupObjects(table, schema));
  if (!table.config.view_schema.empty()) append({ViewSchema(table, schema)});
  if (!table.config.live_view.empty()) append({LiveView(table, schema)});
  if (table.config.row_level_security) {
    append({ShowingPolicy(table, schema)});
    append(HidingPolicies(table, schema));
  }
  if (table.config.replace_expired) append(ReplacingTrigger(table, schema));
  return objects;
}

std::string PublicationComment(absl::string_view schema) {
  return absl::StrCat(CommentMark(schema), "what is streamed");
}

std::string PublishedTables(absl::Span<const TableDefinition> tables) {
  const auto columns = [](const TableDefinition& table) {
    if (table.publishes_all_columns) return std::string();
    const auto quote = [](std::string* out, const std::string& name) {
      absl::StrAppend(out, QuoteName(name));
    };
    return absl::StrCat(" (", absl::StrJoin(table.published_columns, ", ", quote), ")");
  };
  return absl::StrJoin(tables, ",\n  ", [&columns](std::string* out, const TableDefinition& table) {
    absl::StrAppend(out, "TABLE ", TableName(table), columns(table));
  });
}

}  // namespace ttl::postgres
