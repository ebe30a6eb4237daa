#include "client/postgres/sql/install/group_objects.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/substitute.h"
#include "client/postgres/sql/connect/quoting.h"
#include "client/postgres/sql/end_column.h"
#include "client/postgres/sql/group.h"
#include "client/postgres/sql/group_condemned.h"
#include "client/postgres/sql/visibility.h"

namespace ttl::postgres {
namespace {

// The last trigger by name, since others may set the columns of the group.
constexpr absl::string_view kLockingTrigger = "zz_ttl_postgres_lock_group";
constexpr absl::string_view kTellsWhetherLive = "whether a group has a live row, of ";
constexpr absl::string_view kTellsWhetherCondemned = "whether a row is condemned, of ";

std::string NameOf(const TableDefinition& table) {
  return absl::StrCat(table.config.schema, ".", table.config.table);
}

// What a row of `table` in the group of the function's arguments satisfies.
std::string IsInGroup(const TableDefinition& table) {
  std::vector<std::string> conditions;
  for (size_t i = 0; i < table.id.size(); ++i) {
    conditions.push_back(absl::StrCat("t.", QuoteName(table.id[i].name), " = $", i + 1));
  }
  return absl::StrJoin(conditions, " AND ");
}

// The rows of the group that the functions judge: all, or, while older rows of it are condemned,
// those of the transactions from first_xid on.
enum class Judged { kAll, kNotCondemned };

std::string FromTable(const TableDefinition& table, Judged judged) {
  std::string from = absl::StrCat("FROM ONLY ", TableName(table), " AS t WHERE ", IsInGroup(table));
  if (judged == Judged::kAll) return from;
  return absl::StrCat(from, " AND NOT ", IsWrittenBefore("t", "first_xid"));
}

// The arguments of a function that are the columns of the group.
std::vector<std::string> KeyArguments(const TableDefinition& table) {
  std::vector<std::string> key;
  for (size_t i = 1; i <= table.id.size(); ++i) key.push_back(absl::StrCat("$", i));
  return key;
}

// The time of row t as the visibility condition compares it.
std::string ComparedTime(const TableDefinition& table) {
  if (table.expires.has_value()) {
    return ScaleOfEnd(table, absl::StrCat("t.", QuoteName(table.expires->name))).value;
  }
  const std::string column = absl::StrCat("t.", QuoteName(table.ts->name));
  const bool has_zone = table.zone.has_value() && !table.zone->is_fixed();
  return has_zone ? InstantOfColumn(table, column) : column;
}

// Visible rows are those with the latest times, those without a time, which sort as later, and
// those with illegal times, which are the earliest. So if one is visible, the last or the first row
// is. An EXISTS over all rows would be a scan of the table where the statistics promise many such
// rows.
std::string HasLiveRow(const TableDefinition& table, absl::string_view schema, Judged judged) {
  const std::string column = table.expires.has_value() ? table.expires->name : table.ts->name;
  const auto is_live = [&](absl::string_view order) {
    return absl::StrCat("EXISTS (SELECT FROM (SELECT t.", QuoteName(column), " ",
                        FromTable(table, judged), " ORDER BY ", ComparedTime(table), order,
                        " LIMIT 1) AS t WHERE ", OwnVisibleCondition(table, schema, "t"), ")");
  };
  return absl::StrCat(is_live(" DESC"), "\n    OR ", is_live(""));
}

// A group of rows that have no times, because the others were never written or are gone, is live.
std::string IsLiveExpression(const TableDefinition& table, absl::string_view schema,
                             Judged judged) {
  std::vector<std::string> live;
  std::vector<std::string> any;
  bool has_followers = false;
  for (const TableDefinition* one : TablesOf(table)) {
    if (!HasTimes(*one)) {
      has_followers = true;
      continue;
    }
    live.push_back(HasLiveRow(*one, schema, judged));
    any.push_back(absl::StrCat("EXISTS (SELECT ", FromTable(*one, judged), ")"));
  }
  if (has_followers) live.push_back(absl::StrCat("NOT (", absl::StrJoin(any, " OR "), ")"));
  return absl::StrJoin(live, "\n    OR ");
}

std::string KeyTypes(const TableDefinition& table) {
  return absl::StrJoin(table.id, ", ", [](std::string* out, const ColumnDefinition& column) {
    absl::StrAppend(out, column.type);
  });
}

// A function that views and policies call, with the rights of the tables' owner.
InstalledObject ReadersFunction(const TableDefinition& table, absl::string_view schema,
                                const std::string& name, const std::string& types,
                                absl::string_view purpose, const std::string& body) {
  InstalledObject function;
  function.target = absl::StrCat("FUNCTION ", name, "(", types, ")");
  function.name = absl::StrCat("function ", name);
  function.definition = absl::StrCat(
      "CREATE OR REPLACE ", function.target,
      " RETURNS boolean LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY DEFINER SET search_path = "
      "pg_catalog, pg_temp AS ",
      QuoteBody(body), ";\nGRANT EXECUTE ON ", function.target, " TO PUBLIC");
  function.comment =
      MarkedComment(schema, absl::StrCat(purpose, NameOf(table)), function.definition);
  return function;
}

// Names are qualified: a SET clause would cost each written row more than the lock.
std::string LockingBody(const TableDefinition& table) {
  std::vector<std::string> key;
  for (const ColumnDefinition& column : table.id) {
    key.push_back(absl::StrCat("NEW.", QuoteName(column.name)));
  }
  return absl::StrCat("\nBEGIN\n  PERFORM ", LockGroup(table, "pg_advisory_xact_lock_shared", key),
                      ";\n  RETURN NEW;\nEND ");
}

InstalledObject LockingFunction(const TableDefinition& table, absl::string_view schema) {
  InstalledObject function;
  function.target = absl::StrCat(
      "FUNCTION ", QuoteQualified(schema, absl::StrCat("lock_group_", table.oid)), "()");
  function.name = absl::StrCat("function lock_group_", table.oid);
  function.definition = absl::StrCat(
      "CREATE ", function.target, " RETURNS trigger LANGUAGE plpgsql AS ",
      QuoteBody(LockingBody(table)), ";\nREVOKE ALL ON ", function.target, " FROM PUBLIC");
  function.comment = MarkedComment(schema, LocksGroup(NameOf(table)), function.definition);
  return function;
}

}  // namespace

std::string TellsWhetherLive(const std::string& table) {
  return absl::StrCat(kTellsWhetherLive, table);
}

std::string LocksGroup(const std::string& table) {
  return absl::StrCat("a written row of ", table, " locks its group");
}

std::string TellsWhetherCondemned(const std::string& table) {
  return absl::StrCat(kTellsWhetherCondemned, table);
}

InstalledObject GroupIsLive(const TableDefinition& table, absl::string_view schema) {
  const std::string body = absl::StrCat(
      "\nDECLARE\n  first_xid bigint;\nBEGIN\n  SELECT c.before_xid INTO first_xid FROM ",
      CondemnedTable(schema), " AS c WHERE ", IsEntryOf(table, KeyArguments(table)),
      ";\n  IF first_xid IS NOT NULL THEN\n    RETURN ",
      IsLiveExpression(table, schema, Judged::kNotCondemned), ";\n  END IF;\n  RETURN ",
      IsLiveExpression(table, schema, Judged::kAll), ";\nEND ");
  return ReadersFunction(table, schema, GroupIsLiveName(table, schema), KeyTypes(table),
                         kTellsWhetherLive, body);
}

InstalledObject IsCondemned(const TableDefinition& table, absl::string_view schema) {
  const std::string writer = absl::StrCat("$", table.id.size() + 1);
  const std::string body = absl::StrCat(
      "\nBEGIN\n  RETURN EXISTS (SELECT FROM ", CondemnedTable(schema), " AS c WHERE ",
      IsEntryOf(table, KeyArguments(table)), " AND ", IsBefore(writer, "c.before_xid"), ");\nEND ");
  return ReadersFunction(table, schema, IsCondemnedName(table, schema),
                         absl::StrCat(KeyTypes(table), ", xid"), kTellsWhetherCondemned, body);
}

std::vector<InstalledObject> LockingTrigger(const TableDefinition& table,
                                            absl::string_view schema) {
  const InstalledObject function = LockingFunction(table, schema);
  InstalledObject trigger;
  trigger.name = absl::StrCat("trigger ", kLockingTrigger, " on table ", NameOf(table));
  trigger.target = absl::StrCat("TRIGGER ", QuoteName(kLockingTrigger), " ON ", TableName(table));
  trigger.definition =
      absl::StrCat("CREATE TRIGGER ", QuoteName(kLockingTrigger), " BEFORE INSERT OR UPDATE ON ",
                   TableName(table), " FOR EACH ROW EXECUTE ", function.target);
  // Includes the comment of the function, since dropping the function drops the trigger.
  trigger.comment = MarkedComment(schema, LocksGroup(NameOf(table)),
                                  absl::StrCat(trigger.definition, function.comment));
  return {function, trigger};
}

std::string LockingTriggerIsOn(const TableDefinition& table) {
  constexpr int kBeforeInsertOrUpdateOfRow = 1 | 2 | 4 | 16;  // pg_trigger.tgtype
  return absl::Substitute(
      "EXISTS (SELECT FROM pg_catalog.pg_trigger AS g JOIN pg_catalog.pg_proc AS p ON p.oid = "
      "g.tgfoid JOIN pg_catalog.pg_language AS l ON l.oid = p.prolang WHERE g.tgrelid = $0 AND "
      "g.tgname = $1 AND g.tgenabled = 'A' AND g.tgtype = $2 AND g.tgqual IS NULL AND "
      "g.tgattr::text = '' AND l.lanname = 'plpgsql' AND p.proconfig IS NULL AND "
      "p.prosrc = $3)",
      table.oid, QuoteText(kLockingTrigger), kBeforeInsertOrUpdateOfRow,
      QuoteText(LockingBody(table)));
}

std::string TriggersAfterLocking(const TableDefinition& table) {
  // PostgreSQL fires triggers in the order of their names, which are of type name.
  return absl::Substitute(
      "SELECT g.tgname FROM pg_catalog.pg_trigger AS g WHERE g.tgrelid = $0 AND g.tgname > "
      "$1::pg_catalog.name AND g.tgtype & 67 = 3 AND g.tgtype & 20 <> 0 AND g.tgenabled <> 'D'",
      table.oid, QuoteText(kLockingTrigger));
}

std::string EnableLockingTrigger(const TableDefinition& table) {
  return absl::StrCat("ALTER TABLE ", TableName(table), " ENABLE ALWAYS TRIGGER ",
                      QuoteName(kLockingTrigger));
}

std::vector<InstalledObject> GroupObjects(const TableDefinition& table, absl::string_view schema) {
  std::vector<InstalledObject> objects = LockingTrigger(table, schema);
  for (InstalledObject& function : ReadersFunctions(table, schema)) {
    objects.push_back(std::move(function));
  }
  return objects;
}

std::vector<InstalledObject> ReadersFunctions(const TableDefinition& table,
                                              absl::string_view schema) {
  if (table.oid != table.group) return {};
  return {GroupIsLive(table, schema), IsCondemned(table, schema)};
}

std::string GrantCondemned(absl::string_view schema) {
  return absl::StrCat("EXECUTE format('GRANT SELECT ON %s TO %I', ",
                      QuoteText(CondemnedTable(schema)), ", owner);\n");
}

std::string IsOfReadersFunction(absl::string_view comment, absl::string_view schema) {
  const auto starts_with = [&](absl::string_view purpose) {
    return absl::StrCat("starts_with(", comment, ", ",
                        QuoteText(absl::StrCat(CommentMark(schema), purpose)), ")");
  };
  return absl::StrCat("(", starts_with(kTellsWhetherLive), " OR ",
                      starts_with(kTellsWhetherCondemned), ")");
}

}  // namespace ttl::postgres
