#include "client/postgres/sql/schema_layout.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/postgres/sql/as_of.h"
#include "client/postgres/sql/connect/quoting.h"
#include "client/postgres/sql/group_condemned.h"
#include "client/postgres/sql/held_times.h"
#include "client/postgres/sql/install/installed_objects.h"
#include "client/postgres/sql/visibility.h"

namespace ttl::postgres {
namespace {

std::string Functions(absl::string_view schema) {
  const JudgedValues values = {
      .container = "is_expired.container", .ts = "is_expired.ts", .ttl = "is_expired.ttl"};
  return absl::StrCat(AsOfFunctionSql(schema), "CREATE OR REPLACE FUNCTION ",
                      QuoteQualified(schema, "is_expired"),
                      "(container text, ts timestamptz, ttl bigint DEFAULT NULL)\n"
                      "  RETURNS boolean LANGUAGE sql STABLE PARALLEL SAFE\n  RETURN ",
                      ExpiredExpression(values, schema), ";\nCREATE OR REPLACE FUNCTION ",
                      QuoteQualified(schema, "first_visible_ts"),
                      "(container text)\n"
                      "  RETURNS timestamptz LANGUAGE sql STABLE PARALLEL SAFE\n  RETURN ",
                      FirstVisibleTs("first_visible_ts.container", schema), ";\n");
}

// In a table of an earlier version each container counts as held until the mirror has written it.
// The condition avoids the lock of ALTER TABLE, behind which every read of a view would wait.
std::string AddHasHolds(absl::string_view schema) {
  const std::string table = QuoteQualified(schema, "policy");
  const std::string body = absl::StrCat(
      "\nBEGIN\nIF NOT EXISTS (SELECT FROM pg_attribute WHERE attrelid = ", QuoteText(table),
      "::regclass AND attname = 'has_holds') THEN\n  ALTER TABLE ", table,
      " ADD COLUMN has_holds boolean NOT NULL DEFAULT true;\n  ALTER TABLE ", table,
      " ALTER COLUMN has_holds SET DEFAULT false;\nEND IF;\nEND ");
  return absl::StrCat("DO ", QuoteBody(body), ";\n");
}

// PUBLIC may read the policies, since the views read them with the rights of the caller.
std::string Contents(absl::string_view schema) {
  return absl::StrCat(
      "CREATE TABLE IF NOT EXISTS ", QuoteQualified(schema, "policy"),
      " (\n  container text PRIMARY KEY,\n"
      "  default_ttl bigint CHECK (default_ttl = -1 OR default_ttl BETWEEN 1 AND 2147483647),\n"
      "  revision bigint NOT NULL,\n"
      "  mirrored_at timestamptz NOT NULL,\n"
      "  has_holds boolean NOT NULL DEFAULT false\n);\n",
      AddHasHolds(schema), "CREATE TABLE IF NOT EXISTS ", QuoteQualified(schema, "progress"),
      " (\n  container text PRIMARY KEY,\n"
      "  scan_after text[],\n"
      "  scan_done boolean NOT NULL DEFAULT false,\n"
      "  scanned bigint NOT NULL DEFAULT 0,\n"
      "  ghosts_after text,\n"
      "  ghosts_done boolean NOT NULL DEFAULT true,\n"
      "  partitions oid[],\n"
      "  source text\n);\n"
      "CREATE TABLE IF NOT EXISTS ",
      QuoteQualified(schema, "slots"),
      " (\n  name text PRIMARY KEY\n);\n"
      "CREATE TABLE IF NOT EXISTS ",
      QuoteQualified(schema, "renamed"),
      " (\n  relation regclass PRIMARY KEY,\n  name text NOT NULL\n);\n"
      "CREATE TABLE IF NOT EXISTS ",
      QuoteQualified(schema, "migration"),
      " (\n  started_at timestamptz NOT NULL,\n  command text NOT NULL\n);\n"
      "CREATE TABLE IF NOT EXISTS ",
      QuoteQualified(schema, "faults"),
      " (\n  fault text PRIMARY KEY,\n  since timestamptz NOT NULL\n);\n",
      CondemnedTableSql(schema), "GRANT USAGE ON SCHEMA ", QuoteName(schema),
      " TO PUBLIC;\nGRANT SELECT ON ", QuoteQualified(schema, "policy"), " TO PUBLIC;\n",
      Functions(schema), HeldTimesSql(schema));
}

}  // namespace

std::vector<std::string> SchemaTables(absl::string_view schema) {
  std::vector<std::string> tables = HeldTimesTables(schema);
  for (const absl::string_view name :
       {"policy", "progress", "slots", "renamed", "migration", "faults", "condemned"}) {
    tables.push_back(QuoteQualified(schema, name));
  }
  return tables;
}

std::vector<std::string> SchemaFunctions(absl::string_view schema) {
  std::vector<std::string> functions = HeldTimesFunctions(schema);
  functions.push_back(
      absl::StrCat(QuoteQualified(schema, "is_expired"), "(text, timestamptz, bigint)"));
  functions.push_back(absl::StrCat(QuoteQualified(schema, "first_visible_ts"), "(text)"));
  functions.push_back(AsOfFunction(schema));
  return functions;
}

std::string SchemaComment(absl::string_view schema) {
  return MarkedComment(schema, "its own schema", Contents(schema));
}

std::string SchemaIsOurs(absl::string_view schema) {
  return absl::StrCat("EXISTS (SELECT FROM pg_namespace WHERE nspname = ", QuoteText(schema),
                      " AND starts_with(obj_description(oid, 'pg_namespace'), ",
                      QuoteText(CommentMark(schema)), "))");
}

std::string CreateSchemaSql(absl::string_view schema) {
  const std::string name = QuoteName(schema);
  const std::string comment =
      absl::StrCat("COMMENT ON SCHEMA ", name, " IS ", QuoteText(SchemaComment(schema)), ";\n");
  const std::string body = absl::StrCat(
      "\nBEGIN\nIF NOT EXISTS (SELECT FROM pg_namespace WHERE nspname = ", QuoteText(schema),
      ") THEN\n  CREATE SCHEMA ", name, ";\n  ", comment, "ELSIF NOT ", SchemaIsOurs(schema),
      " THEN\n  RAISE EXCEPTION '%', ",
      QuoteText(absl::StrCat("schema ", schema, " is there already and not ours; give another")),
      ";\nEND IF;\nEND ");
  return absl::StrCat("DO ", QuoteBody(body), ";\n", Contents(schema), comment);
}

std::string DropSchemaSql(absl::string_view schema) {
  return absl::StrCat("DROP FUNCTION IF EXISTS ", absl::StrJoin(SchemaFunctions(schema), ", "),
                      ";\nDROP TABLE IF EXISTS ", absl::StrJoin(SchemaTables(schema), ", "),
                      ";\nDROP SCHEMA ", QuoteName(schema), ";\n");
}

}  // namespace ttl::postgres
