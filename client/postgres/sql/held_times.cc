#include "client/postgres/sql/held_times.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/substitute.h"
#include "client/postgres/sql/connect/quoting.h"
#include "client/postgres/sql/install/installed_objects.h"
#include "client/postgres/sql/visibility.h"

namespace ttl::postgres {
namespace {

// Maximum rows of held_times that one call examines per rewrite.
constexpr int kRowsOfStep = 10000;

// The functions run with the rights of the installing role, since a role that alters the table has
// no rights to our schema.
constexpr absl::string_view kEventFunction =
    "() RETURNS event_trigger LANGUAGE plpgsql SECURITY DEFINER\n"
    "  SET search_path = pg_catalog, pg_temp SET row_security = off SET enable_nestloop = off AS ";

std::string EventFunction(absl::string_view schema, absl::string_view name, std::string body) {
  return absl::StrCat("CREATE OR REPLACE FUNCTION ", QuoteQualified(schema, name), kEventFunction,
                      QuoteBody(body), ";\n");
}

// PUBLIC may read `rewrites` and `held_times`, since the views read them with the rights of the
// caller.
std::string Tables(absl::string_view schema) {
  return absl::Substitute(
      "CREATE TABLE IF NOT EXISTS $0 (\n  relation oid PRIMARY KEY\n);\n"
      "CREATE UNLOGGED TABLE IF NOT EXISTS $1 (\n  relation oid NOT NULL,\n  place tid NOT NULL,\n"
      "  ts timestamptz\n);\n"
      "CREATE TABLE IF NOT EXISTS $2 (\n  filenode oid PRIMARY KEY,\n  relation oid NOT NULL,\n"
      "  xids xid[] NOT NULL,\n  looked_at tid NOT NULL DEFAULT '(0,0)'\n);\n"
      "CREATE TABLE IF NOT EXISTS $3 (\n  filenode oid,\n  place tid,\n  xid xid NOT NULL,\n"
      "  ts timestamptz NOT NULL,\n  PRIMARY KEY (filenode, place)\n);\n"
      "CREATE TABLE IF NOT EXISTS $4 (\n  relation oid PRIMARY KEY,\n  filenode oid NOT NULL,\n"
      "  attached text NOT NULL\n);\nGRANT SELECT ON $2, $3 TO PUBLIC;\n",
      QuoteQualified(schema, "by_commit_time"), QuoteQualified(schema, "rewritten"),
      QuoteQualified(schema, "rewrites"), QuoteQualified(schema, "held_times"),
      QuoteQualified(schema, "known_files"));
}

std::string CommitTimeFunction(absl::string_view schema) {
  return absl::Substitute(
      "CREATE OR REPLACE FUNCTION $0(relation oid, place tid, writer xid)\n"
      "  RETURNS timestamptz LANGUAGE sql STABLE PARALLEL SAFE\n"
      "  RETURN coalesce((SELECT h.ts FROM $1 AS h\n"
      "    WHERE h.filenode = pg_relation_filenode(commit_time.relation::regclass)\n"
      "      AND h.place = commit_time.place AND h.xid = commit_time.writer),\n"
      "    pg_xact_commit_timestamp(commit_time.writer));\n",
      QuoteQualified(schema, "commit_time"), QuoteQualified(schema, "held_times"));
}

// Before the rewrite the catalog has the new columns and the file the old ones, so only system
// columns can be read; nothing can be read while an index is not yet rebuilt, since every query
// opens all indexes. A synchronized scan, which starts in the middle, would change the order of the
// rows. The snapshot of a REPEATABLE READ or SERIALIZABLE transaction may lack rows that the
// rewrite copies.
std::string NoteRowsFunction(absl::string_view schema) {
  return EventFunction(
      schema, "note_rows",
      absl::Substitute(
          "\nDECLARE\n  altered oid := pg_event_trigger_table_rewrite_oid();\nBEGIN\n"
          "  IF NOT EXISTS (SELECT FROM $0 AS b WHERE b.relation = altered OR b.relation IN\n"
          "    (SELECT a.relid FROM pg_partition_ancestors(altered) AS a)) THEN\n    RETURN;\n"
          "  END IF;\n"
          "  IF current_setting('transaction_isolation') IN ('repeatable read', 'serializable') "
          "THEN\n"
          "    RAISE WARNING 'the rows of % live once more for their whole ttl: times are held in "
          "READ COMMITTED transactions only', altered::regclass;\n    RETURN;\n"
          "  END IF;\n"
          "  IF EXISTS (SELECT FROM pg_index AS i WHERE i.indrelid = altered\n"
          "    AND pg_relation_size(i.indexrelid) = 0) THEN\n"
          "    RAISE WARNING 'the rows of % live once more for their whole ttl: a column of an "
          "index "
          "gets another type; to hold times, drop that index or constraint by a statement before, "
          "and create it by one after it', altered::regclass;\n    RETURN;\n"
          "  END IF;\n"
          "  PERFORM set_config('synchronize_seqscans', 'off', true);\n"
          "  EXECUTE $1 || altered::regclass || ' AS t';\nEND ",
          QuoteQualified(schema, "by_commit_time"),
          QuoteText(absl::StrCat("INSERT INTO ", QuoteQualified(schema, "rewritten"),
                                 " SELECT t.tableoid, t.ctid, ", CommitTimeOfRow(schema),
                                 " FROM ONLY "))));
}

// A rewrite appends the rows to the new file in their order, by which old and new rows are matched.
std::string HoldTimesFunction(absl::string_view schema) {
  const std::string rewritten = QuoteQualified(schema, "rewritten");
  const std::string hold = absl::Substitute(
      "INSERT INTO $0 SELECT pg_relation_filenode($$1::regclass), new.place, new.xid, old.ts\n"
      "  FROM (SELECT row_number() OVER (ORDER BY w.place) AS n, w.ts FROM $1 AS w\n"
      "    WHERE w.relation = $$1) AS old\n"
      "  JOIN (SELECT row_number() OVER (ORDER BY t.ctid) AS n, t.ctid AS place, t.xmin AS xid "
      "FROM ONLY ",
      QuoteQualified(schema, "held_times"), rewritten);
  const std::string note =
      absl::StrCat("INSERT INTO ", QuoteQualified(schema, "rewrites"),
                   " SELECT pg_relation_filenode($1::regclass), $1, ARRAY[t.xmin] FROM ONLY ");
  return EventFunction(
      schema, "hold_times",
      absl::Substitute(
          "\nDECLARE\n  altered oid;\n  before bigint;\n  after bigint;\nBEGIN\n"
          "  FOR altered, before IN SELECT w.relation, count(*) FROM $0 AS w GROUP BY 1 LOOP\n"
          "    EXECUTE 'SELECT count(*) FROM ONLY ' || altered::regclass INTO after;\n"
          "    IF before = after THEN\n"
          "      EXECUTE $1 || altered::regclass || ' AS t) AS new USING (n) WHERE old.ts IS NOT "
          "NULL' USING altered;\n"
          "      EXECUTE $2 || altered::regclass || ' AS t LIMIT 1' USING altered;\n"
          "    ELSE\n"
          "      RAISE WARNING 'the rows of % live once more for their whole ttl: % were there "
          "before the rewrite, and % after it', altered::regclass, before, after;\n"
          "    END IF;\n"
          "  END LOOP;\n"
          "  DELETE FROM $0;\nEND ",
          rewritten, QuoteText(hold), QuoteText(note)));
}

// Held times of a replaced file are obsolete. A transaction that adds held times also locks the row
// of their file in `rewrites`, in the order of the files. So each statement below sees all held
// times, and no times are added for a file that is being removed.
std::string RemoveFunction(absl::string_view schema) {
  const std::string body = absl::Substitute(
      "\nDECLARE\n  known record;\n  places tid[];\n  is_left boolean;\nBEGIN\n"
      "  FOR known IN SELECT * FROM $0 ORDER BY filenode FOR UPDATE LOOP\n"
      "    places := ARRAY(SELECT h.place FROM $1 AS h WHERE h.filenode = known.filenode\n"
      "      AND h.place > known.looked_at ORDER BY h.place LIMIT $2);\n"
      "    IF pg_relation_filenode(known.relation::regclass) IS DISTINCT FROM known.filenode THEN\n"
      "      DELETE FROM $1 AS h WHERE h.filenode = known.filenode AND h.place = ANY (places);\n"
      "    ELSE\n"
      "      EXECUTE $3 || known.relation::regclass || ' AS t WHERE t.ctid = h.place AND t.xmin = "
      "h.xid)'\n"
      "        USING known.filenode, places;\n"
      "    END IF;\n"
      "    is_left := EXISTS (SELECT FROM $1 AS h WHERE h.filenode = known.filenode);\n"
      "    DELETE FROM $0 AS r WHERE r.filenode = known.filenode AND NOT is_left;\n"
      "    UPDATE $0 AS r SET looked_at = coalesce(places[$2], '(0,0)')\n"
      "      WHERE r.filenode = known.filenode;\n"
      "  END LOOP;\nEND ",
      QuoteQualified(schema, "rewrites"), QuoteQualified(schema, "held_times"), kRowsOfStep,
      QuoteText(absl::StrCat("DELETE FROM ", QuoteQualified(schema, "held_times"),
                             " AS h WHERE h.filenode = $1 AND h.place = ANY ($2) AND NOT EXISTS "
                             "(SELECT FROM ONLY ")));
  return absl::StrCat("CREATE OR REPLACE FUNCTION ", QuoteQualified(schema, "remove_held_times"),
                      "()\n  RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp "
                      "SET row_security = off AS ",
                      QuoteBody(body), ";\n");
}

// Names of event triggers are unique in the database, not in a schema.
std::string TriggerName(absl::string_view schema, absl::string_view function) {
  return QuoteName(absl::StrCat(schema, "_", function));
}

std::string OurEventTriggers(absl::string_view schema) {
  return absl::StrCat(
      "pg_event_trigger AS e JOIN pg_proc AS p ON p.oid = e.evtfoid JOIN pg_namespace AS n ON "
      "n.oid = p.pronamespace WHERE n.nspname = ",
      QuoteText(schema), " AND p.proname IN ('note_rows', 'hold_times')");
}

}  // namespace

std::string HeldTimesSql(absl::string_view schema) {
  return absl::StrCat(Tables(schema), CommitTimeFunction(schema), NoteRowsFunction(schema),
                      HoldTimesFunction(schema), RemoveFunction(schema));
}

std::vector<std::string> HeldTimesTables(absl::string_view schema) {
  return {QuoteQualified(schema, "by_commit_time"), QuoteQualified(schema, "rewritten"),
          QuoteQualified(schema, "rewrites"), QuoteQualified(schema, "held_times"),
          QuoteQualified(schema, "known_files")};
}

std::vector<std::string> HeldTimesFunctions(absl::string_view schema) {
  return {absl::StrCat(QuoteQualified(schema, "commit_time"), "(oid, tid, xid)"),
          absl::StrCat(QuoteQualified(schema, "note_rows"), "()"),
          absl::StrCat(QuoteQualified(schema, "hold_times"), "()"),
          absl::StrCat(QuoteQualified(schema, "remove_held_times"), "()")};
}

std::string CreateEventTriggersSql(absl::string_view schema) {
  return absl::Substitute(
      "CREATE EVENT TRIGGER $0 ON table_rewrite EXECUTE FUNCTION $1(); "
      "CREATE EVENT TRIGGER $2 ON ddl_command_end WHEN TAG IN ('ALTER TABLE', 'ALTER TYPE') "
      "EXECUTE FUNCTION $3()",
      TriggerName(schema, "note_rows"), QuoteQualified(schema, "note_rows"),
      TriggerName(schema, "hold_times"), QuoteQualified(schema, "hold_times"));
}

std::string HoldTimesSql(absl::string_view schema, absl::Span<const TableDefinition> tables) {
  const std::string noted = QuoteQualified(schema, "by_commit_time");
  std::vector<std::string> oids;
  for (const TableDefinition& table : tables) {
    if (table.ts_source == TsSource::kCommitTime) oids.push_back(absl::StrCat("(", table.oid, ")"));
  }
  std::string sql = absl::StrCat(
      "DELETE FROM ", noted, ";\nDELETE FROM ", QuoteQualified(schema, "known_files"),
      " AS k WHERE NOT EXISTS (SELECT FROM pg_class AS c WHERE c.oid = k.relation);\n");
  if (oids.empty()) return sql;
  absl::StrAppend(&sql, "INSERT INTO ", noted, " VALUES ", absl::StrJoin(oids, ", "), ";\n");
  const std::string body = absl::StrCat(
      "\nBEGIN\nIF NOT EXISTS (SELECT FROM ", OurEventTriggers(schema), ") THEN\n",
      CreateEventTriggersSql(schema),
      ";\nEND IF;\nEXCEPTION WHEN insufficient_privilege THEN\nRAISE WARNING '%', ",
      QuoteText(absl::StrCat("a superuser has to create event triggers, so that rewrites of tables "
                             "by commit time do not show expired rows again: ",
                             CreateEventTriggersSql(schema))),
      ";\nEND ");
  return absl::StrCat(sql, "DO ", QuoteBody(body), ";\n");
}

std::string IsInDoubt(absl::string_view schema) {
  return absl::StrCat("EXISTS (SELECT FROM ", QuoteQualified(schema, "known_files"),
                      " AS f WHERE f.relation = t.tableoid AND f.filenode <> "
                      "pg_catalog.pg_relation_filenode(t.tableoid))");
}

std::string DropEventTriggersSql(absl::string_view schema) {
  return absl::StrCat("FOR leftover IN SELECT format('DROP EVENT TRIGGER %I', e.evtname) FROM ",
                      OurEventTriggers(schema), " LOOP\nEXECUTE leftover;\nEND LOOP;\n");
}

std::string EventTriggersAreOn(absl::string_view schema) {
  return absl::StrCat("(SELECT count(DISTINCT p.oid) FROM ", OurEventTriggers(schema),
                      " AND e.evtenabled IN ('O', 'A')) = 2");
}

absl::Status RemoveHeldTimes(Connection& connection, absl::string_view schema) {
  return connection
      .Query(absl::StrCat("SELECT ", QuoteQualified(schema, "remove_held_times"), "()"))
      .status();
}

}  // namespace ttl::postgres
