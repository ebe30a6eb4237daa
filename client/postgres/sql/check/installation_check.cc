#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "client/postgres/sql/connect/array_text.h"
#include "client/postgres/sql/connect/quoting.h"
#include "client/postgres/sql/group.h"
#include "client/postgres/sql/install/group_objects.h"
#include "client/postgres/sql/install/installation.h"
#include "client/postgres/sql/install/installed_objects.h"
#include "client/postgres/sql/schema_layout.h"
#include "service/base/status_macros.h"

namespace ttl::postgres {
namespace {

// Returns the values of the first column of a query.
absl::StatusOr<std::set<std::string>> Column(Connection& connection, const std::string& query) {
  TTL_ASSIGN_OR_RETURN(QueryResult result, connection.Query(query));
  std::set<std::string> values;
  for (int row = 0; row < result.rows(); ++row) values.emplace(result.Text(row, 0));
  return values;
}

class InstallationCheck {
 public:
  InstallationCheck(Connection& connection, const Config& config)
      : connection_(connection), config_(config) {}

  absl::StatusOr<InstallationState> Read(absl::Span<const TableDefinition> definitions) {
    const std::vector<TableDefinition> tables = AllTables(definitions);
    TTL_ASSIGN_OR_RETURN(const auto migration, ReadMigration(connection_, config_.schema));
    if (migration.has_value()) {
      state_.migration = Describe(*migration);
      // A migration that has not ended is a fault even if no object is missing.
      state_.faults.push_back(state_.migration);
    }
    for (const auto step :
         {&InstallationCheck::CheckSchema, &InstallationCheck::CheckNames,
          &InstallationCheck::CheckObjects, &InstallationCheck::CheckRowSecurity,
          &InstallationCheck::CheckTriggers, &InstallationCheck::CheckPublication}) {
      TTL_RETURN_IF_ERROR((this->*step)(tables));
    }
    return std::move(state_);
  }

 private:
  // Adds to `wrong` the problem of each condition that does not hold. One query tests all
  // conditions.
  absl::Status Expect(const std::map<std::string, std::string>& conditions,
                      std::vector<std::string>& wrong) {
    std::vector<std::string> selects;
    for (const auto& [problem, condition] : conditions) {
      selects.push_back(
          absl::StrCat("SELECT ", QuoteText(problem), " WHERE (", condition, ") IS NOT TRUE"));
    }
    if (selects.empty()) return absl::OkStatus();
    TTL_ASSIGN_OR_RETURN(std::set<std::string> failed,
                         Column(connection_, absl::StrJoin(selects, " UNION ALL ")));
    wrong.insert(wrong.end(), failed.begin(), failed.end());
    return absl::OkStatus();
  }

  absl::Status CheckSchema(absl::Span<const TableDefinition>) {
    const std::string& schema = config_.schema;
    std::map<std::string, std::string> conditions;
    conditions[absl::StrCat("schema ", schema, " is missing or of another version")] = absl::StrCat(
        "SELECT obj_description(oid, 'pg_namespace') = ", QuoteText(SchemaComment(schema)),
        " FROM pg_namespace WHERE nspname = ", QuoteText(schema));
    for (const std::string& table : SchemaTables(schema)) {
      conditions[absl::StrCat("table ", table, " is missing, or this role may not write it")] =
          absl::StrCat("has_table_privilege(to_regclass(", QuoteText(table),
                       "), 'SELECT') AND has_table_privilege(to_regclass(", QuoteText(table),
                       "), 'INSERT') AND has_table_privilege(to_regclass(", QuoteText(table),
                       "), 'UPDATE') AND has_table_privilege(to_regclass(", QuoteText(table),
                       "), 'DELETE')");
    }
    for (const std::string& function : SchemaFunctions(schema)) {
      conditions[absl::StrCat("function ", function, " is missing")] =
          absl::StrCat("to_regprocedure(", QuoteText(function), ") IS NOT NULL");
    }
    return Expect(conditions, state_.problems);
  }

  // The tables of all containers, with the members of groups.
  std::vector<TableConfig> AllConfigured() const {
    std::vector<TableConfig> all;
    for (const TableConfig& table : config_.tables) {
      all.push_back(table);
      all.insert(all.end(), table.members.begin(), table.members.end());
    }
    return all;
  }

  // Only the name shows whether a table is renamed.
  absl::Status CheckNames(absl::Span<const TableDefinition> tables) {
    for (const TableDefinition& table : tables) {
      const std::string& name = AsInstalled(table).config.table;
      if (table.config.table == name) continue;
      state_.faults.push_back(absl::StrCat("table ", table.config.schema, ".", table.config.table,
                                           " is not renamed to ", name));
    }
    return absl::OkStatus();
  }

  // Checks that exactly the expected objects exist.
  absl::Status CheckObjects(absl::Span<const TableDefinition> tables) {
    TTL_ASSIGN_OR_RETURN(QueryResult marked, connection_.Query(absl::StrCat(
                                                 "SELECT comment, command FROM (",
                                                 MarkedObjectsQuery(config_.schema), ") AS m")));
    std::map<std::string, std::string> leftovers;
    for (int row = 0; row < marked.rows(); ++row) {
      leftovers.emplace(marked.Text(row, 0), marked.Text(row, 1));
    }
    std::vector<std::pair<std::string, InstalledObject>> missing;  // with the container
    std::set<std::string> wanted = {PublicationComment(config_.schema)};
    for (const TableConfig& table : AllConfigured()) {
      if (table.view_schema.empty()) continue;
      TableDefinition definition;
      definition.config = table;
      wanted.insert(ViewSchema(definition, config_.schema).comment);
    }
    for (const TableDefinition& definition : tables) {
      const TableDefinition table = AsInstalled(definition);
      const std::string showing = ShowingPolicy(table, config_.schema).comment;
      for (const InstalledObject& object : InstalledObjects(table, config_.schema)) {
        wanted.insert(object.comment);
        // Install does not create the policy if row-level security was on before, or the schema if
        // it existed.
        if (leftovers.contains(object.comment) || object.comment == showing ||
            absl::StartsWith(object.target, "SCHEMA ")) {
          continue;
        }
        missing.emplace_back(table.config.container, object);
      }
    }
    std::erase_if(leftovers, [&](const auto& object) { return wanted.contains(object.first); });
    std::set<std::string> purposes;  // of unexpected objects
    for (const auto& [comment, command] : leftovers) purposes.insert(PurposeOf(comment));
    for (const auto& [container, object] : missing) {
      std::string wrong = absl::StrCat(object.name, " is missing or out of date");
      if (purposes.contains(PurposeOf(object.comment))) {
        state_.outdated[container] = std::move(wrong);
      } else {
        state_.faults.push_back(std::move(wrong));
      }
    }
    NoteLeftovers(tables, leftovers);
    return absl::OkStatus();
  }

  // Ignores leftovers of tables that are left out, since their definitions are unknown. An object
  // that a former configuration created for one of `tables` may show or replace rows whose expire
  // time is now another.
  void NoteLeftovers(absl::Span<const TableDefinition> tables,
                     const std::map<std::string, std::string>& leftovers) {
    std::map<std::string, std::string> containers;  // by purpose
    const auto add = [&](const TableConfig& table, const std::string& name) {
      for (std::string& purpose : PurposesFor(table.schema, name, config_.schema)) {
        containers[std::move(purpose)] = table.container;
      }
    };
    for (const TableConfig& table : AllConfigured()) {
      add(table, table.table);
      add(table, table.rename_table);
    }
    // A former configuration may have renamed the table.
    for (const TableDefinition& table : tables) add(table.config, table.config.table);
    for (const auto& [comment, command] : leftovers) {
      std::string wrong = absl::StrCat("a former configuration left something: ", command);
      const auto container = containers.find(PurposeOf(comment));
      if (container == containers.end()) {
        state_.leftovers.push_back(std::move(wrong));
        continue;
      }
      const bool is_known = std::any_of(tables.begin(), tables.end(), [&](const auto& table) {
        return table.config.container == container->second;
      });
      if (is_known) state_.outdated.emplace(container->second, std::move(wrong));
    }
  }

  absl::Status CheckRowSecurity(absl::Span<const TableDefinition> tables) {
    std::map<std::string, std::string> conditions;
    for (const TableDefinition& table : tables) {
      if (!table.config.row_level_security) continue;
      conditions[absl::StrCat("row-level security of table ", table.config.schema, ".",
                              table.config.table, " is off")] =
          absl::StrCat("SELECT relrowsecurity FROM pg_class WHERE oid = ", table.oid);
    }
    return Expect(conditions, state_.faults);
  }

  // After a change of owner the function lacks rights, and each INSERT would fail.
  absl::Status CheckTriggers(absl::Span<const TableDefinition> tables) {
    std::map<std::string, std::string> conditions;
    for (const TableDefinition& table : tables) {
      if (IsGroup(table)) ExpectOfGroup(table, conditions);
      if (!table.config.replace_expired) continue;
      const std::string function = ReplacingTrigger(table, config_.schema).front().target;
      conditions[absl::StrCat("the trigger of table ", table.config.schema, ".", table.config.table,
                              " acts for a former owner")] =
          absl::StrCat(
              "SELECT p.proowner = c.relowner FROM pg_class AS c, pg_proc AS p WHERE c.oid = ",
              table.oid, " AND p.oid = to_regprocedure(",
              QuoteText(absl::StripPrefix(function, "FUNCTION ")), ")");
      conditions[absl::StrCat("the trigger of table ", table.config.schema, ".", table.config.table,
                              " is disabled")] = absl::StrCat("NOT ", ReplacingTriggerIsOff(table));
    }
    return Expect(conditions, state_.faults);
  }

  // Without its trigger no group is deleted.
  void ExpectOfGroup(const TableDefinition& table, std::map<std::string, std::string>& conditions) {
    const std::string name = absl::StrCat("table ", table.config.schema, ".", table.config.table);
    conditions[absl::StrCat("the trigger of ", name,
                            " that locks groups is disabled, or not as installed")] =
        LockingTriggerIsOn(table);
    if (table.oid != table.group) return;
    for (const InstalledObject& function : ReadersFunctions(table, config_.schema)) {
      conditions[absl::StrCat("the ", function.name, " of ", name,
                              " for groups acts for a former owner, so that reads of expired rows "
                              "fail; run ttl-postgres install")] =
          absl::StrCat(
              "SELECT p.proowner = c.relowner FROM pg_class AS c, pg_proc AS p WHERE c.oid = ",
              table.oid, " AND p.oid = to_regprocedure(",
              QuoteText(absl::StripPrefix(function.target, "FUNCTION ")), ")");
    }
  }

  absl::Status CheckPublication(absl::Span<const TableDefinition> tables) {
    const std::string name = QuoteText(config_.publication);
    const std::string what = absl::StrCat("publication ", config_.publication);
    TTL_RETURN_IF_ERROR(Expect(
        {{absl::StrCat(what, " is missing, or its options are others"),
          absl::StrCat("SELECT pubinsert AND pubupdate AND pubdelete AND pubtruncate AND "
                       "pubviaroot AND NOT puballtables FROM pg_publication WHERE pubname = ",
                       name)}},
        state_.problems));
    absl::StatusOr<std::set<std::string>> published = Column(
        connection_,
        absl::StrCat(
            "SELECT format('TABLE \"%s\".\"%s\"', replace(n.nspname, '\"', '\"\"'), "
            "replace(c.relname, '\"', '\"\"')) || coalesce(' (' || (SELECT string_agg('\"' || "
            "replace(a.attname, '\"', '\"\"') || '\"', ', ' ORDER BY a.attnum) FROM pg_attribute "
            "AS a WHERE a.attrelid = c.oid AND a.attnum = ANY (r.prattrs)) || ')', '') FROM "
            "pg_publication AS p JOIN pg_publication_rel AS r ON r.prpubid = p.oid JOIN pg_class "
            "AS c ON c.oid = r.prrelid JOIN pg_namespace AS n ON n.oid = c.relnamespace WHERE "
            "p.pubname = ",
            name));
    TTL_RETURN_IF_ERROR(published.status());
    for (const TableDefinition& table : tables) {
      if (published->erase(PublishedTables({table})) > 0) continue;
      TTL_RETURN_IF_ERROR(CheckPublished(table));
    }
    for (const std::string& table : *published) {
      state_.unneeded.push_back(absl::StrCat(what, " has ", table, " without need"));
    }
    return absl::OkStatus();
  }

  // Extra published columns do no harm.
  absl::Status CheckPublished(const TableDefinition& table) {
    ArrayText needed;
    for (const std::string& column : table.published_columns) needed.Add(column);
    absl::StatusOr<QueryResult> enough = connection_.Query(
        "SELECT r.prattrs IS NULL OR NOT $3::boolean AND $4::text[] <@ ARRAY(SELECT "
        "a.attname::text FROM pg_attribute AS a WHERE a.attrelid = r.prrelid AND a.attnum = ANY "
        "(r.prattrs)) FROM pg_publication AS p JOIN pg_publication_rel AS r ON r.prpubid = p.oid "
        "WHERE p.pubname = $1 AND r.prrelid = $2::oid",
        {config_.publication, absl::StrCat(table.oid), table.publishes_all_columns ? "t" : "f",
         needed.Take()});
    TTL_RETURN_IF_ERROR(enough.status());
    std::string wrong = absl::StrCat("publication ", config_.publication, " does not have ",
                                     PublishedTables({table}));
    if (!state_.migration.empty()) absl::StrAppend(&wrong, ", since ", state_.migration);
    if (enough->rows() > 0 && !enough->Bool(0, 0)) {
      absl::StrAppend(&wrong,
                      ", so that PostgreSQL refuses UPDATE and DELETE of the table, the "
                      "application's too, if its replica identity has other columns");
    }
    if (enough->Bool(0, 0)) {
      state_.faults.push_back(std::move(wrong));
    } else {
      state_.unpublished[table.config.container] = std::move(wrong);
    }
    return absl::OkStatus();
  }

  Connection& connection_;
  const Config& config_;
  InstallationState state_;
};

}  // namespace

absl::StatusOr<InstallationState> ReadInstallation(Connection& connection, const Config& config,
                                                   absl::Span<const TableDefinition> tables) {
  return InstallationCheck(connection, config).Read(tables);
}

absl::Status CheckInstalled(Connection& connection, const Config& config,
                            absl::Span<const TableDefinition> tables) {
  TTL_ASSIGN_OR_RETURN(const InstallationState state, ReadInstallation(connection, config, tables));
  std::vector<std::string> wrong = state.problems;
  for (const auto* more : {&state.faults, &state.leftovers, &state.unneeded}) {
    wrong.insert(wrong.end(), more->begin(), more->end());
  }
  for (const auto* tables_wrong : {&state.outdated, &state.unpublished}) {
    for (const auto& [container, why] : *tables_wrong) wrong.push_back(why);
  }
  if (wrong.empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("not installed for this configuration: ", absl::StrJoin(wrong, "; "),
                   ". Run: ttl-postgres install"));
}

}  // namespace ttl::postgres
