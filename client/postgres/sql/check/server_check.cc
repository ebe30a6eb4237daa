#include "client/postgres/sql/check/server_check.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/postgres/sql/connect/quoting.h"
#include "client/postgres/sql/expiry_action.h"
#include "client/postgres/sql/held_times.h"
#include "client/postgres/sql/install/installed_objects.h"
#include "client/postgres/sql/schema_layout.h"
#include "service/base/status_macros.h"

namespace ttl::postgres {
namespace {

constexpr int kLeastVersion = 150000;
constexpr char kLimitWal[] =
    "ALTER SYSTEM SET max_slot_wal_keep_size = '16GB'; SELECT pg_reload_conf()";

// Results of queries by name; NULL is empty.
class Facts {
 public:
  // `queries` maps names to scalar expressions.
  static absl::StatusOr<Facts> Ask(Connection& connection,
                                   const std::map<std::string, std::string>& queries) {
    std::vector<std::string> expressions;
    for (const auto& [name, expression] : queries) {
      expressions.push_back(absl::StrCat("(", expression, ")::text"));
    }
    TTL_ASSIGN_OR_RETURN(QueryResult result, connection.Query(absl::StrCat(
                                                 "SELECT ", absl::StrJoin(expressions, ", "))));
    Facts facts;
    int column = 0;
    for (const auto& [name, expression] : queries) {
      facts.answers_[name] = std::string(result.Text(0, column++));
    }
    return facts;
  }

  const std::string& Text(const std::string& name) const { return answers_.at(name); }
  bool Is(const std::string& name) const { return Text(name) == "true"; }
  int64_t Number(const std::string& name) const {
    int64_t number = 0;
    return absl::SimpleAtoi(Text(name), &number) ? number : 0;
  }

 private:
  std::map<std::string, std::string> answers_;
};

std::string Setting(absl::string_view name) {
  return absl::StrCat("current_setting('", name, "')");
}

std::string OfRole(absl::string_view column) {
  return absl::StrCat("SELECT ", column, " FROM pg_roles WHERE rolname = current_user");
}

std::map<std::string, std::string> Queries(const Config& config) {
  const std::string schema = QuoteText(config.schema);
  const std::string publication = QuoteText(config.publication);
  const std::string slot =
      absl::StrCat("FROM pg_replication_slots WHERE slot_name = ", QuoteText(config.slot));
  return {
      {"wal_level", Setting("wal_level")},
      {"keep", Setting("max_slot_wal_keep_size")},
      {"commit_times", Setting("track_commit_timestamp")},
      {"freeze_age", Setting("autovacuum_freeze_max_age")},
      {"holds_times", EventTriggersAreOn(config.schema)},
      {"max_slots", Setting("max_replication_slots")},
      {"slots", "SELECT count(*) FROM pg_replication_slots"},
      {"max_senders", Setting("max_wal_senders")},
      {"senders", "SELECT count(*) FROM pg_stat_replication"},
      {"role", "current_user"},
      {"is_superuser", OfRole("rolsuper")},
      {"may_replicate", OfRole("rolreplication OR rolsuper")},
      {"may_emit", absl::StrCat("has_function_privilege('", kEmitFunction, "', 'EXECUTE')")},
      {"database", "current_database()"},
      {"may_create", "has_database_privilege(current_database(), 'CREATE')"},
      {"has_schema",
       absl::StrCat("EXISTS (SELECT FROM pg_namespace WHERE nspname = ", schema, ")")},
      {"is_schema_ours", SchemaIsOurs(config.schema)},
      {"has_publication",
       absl::StrCat("EXISTS (SELECT FROM pg_publication WHERE pubname = ", publication, ")")},
      {"is_publication_ours",
       absl::StrCat("EXISTS (SELECT FROM pg_publication WHERE pubname = ", publication,
                    " AND obj_description(oid, 'pg_publication') = ",
                    QuoteText(PublicationComment(config.schema)), ")")},
      {"has_slot", absl::StrCat("EXISTS (SELECT ", slot, ")")},
      {"is_slot_active", absl::StrCat("EXISTS (SELECT ", slot, " AND active)")},
      {"is_slot_ours", absl::StrCat("EXISTS (SELECT ", slot,
                                    " AND plugin = 'pgoutput' AND database = current_database())")},
  };
}

void CheckWal(const Facts& facts, CatalogReport& report) {
  if (facts.Text("wal_level") != "logical") {
    report.problems.push_back(
        absl::StrCat("wal_level is ", facts.Text("wal_level"),
                     ", and must be logical: ALTER SYSTEM SET wal_level = logical; then restart "
                     "the server"));
  }
  if (facts.Text("keep") == "-1") {
    report.warnings.push_back(absl::StrCat(
        "max_slot_wal_keep_size is -1: while ttl-postgres is not running, nothing limits the WAL "
        "that is kept for its slot, and the disk may fill up. With a limit the slot is lost "
        "instead, and the tables are read again: ",
        kLimitWal));
    if (!facts.Is("is_slot_ours")) report.wal_limit = kLimitWal;
  }
}

void CheckRole(const Facts& facts, CatalogReport& report) {
  const std::string& role = facts.Text("role");
  if (!facts.Is("may_replicate")) {
    report.problems.push_back(absl::StrCat("role ", role, " may not replicate: ALTER ROLE ",
                                           QuoteName(role), " REPLICATION"));
  }
  if (facts.Is("is_superuser")) {
    report.warnings.push_back(absl::StrCat(
        "role ", role,
        " is a superuser: triggers that owners of tables put on deletes act with its rights. "
        "Better a role with REPLICATION that is a member of the owner's"));
  }
  if (!facts.Is("may_emit")) {
    report.problems.push_back(absl::StrCat(
        "role ", role,
        " may not emit the logical messages that mark its deletes in the WAL: GRANT EXECUTE ON "
        "FUNCTION ",
        kEmitFunction, " TO ", QuoteName(role)));
  }
  if (!facts.Is("may_create") && !(facts.Is("has_schema") && facts.Is("has_publication"))) {
    report.problems.push_back(absl::StrCat(
        "role ", role, " may not create a schema and a publication: GRANT CREATE ON DATABASE ",
        QuoteName(facts.Text("database")), " TO ", QuoteName(role)));
  }
}

void CheckSlot(const Facts& facts, const Config& config, CatalogReport& report) {
  if (facts.Is("has_slot") && !facts.Is("is_slot_ours")) {
    report.problems.push_back(
        absl::StrCat("replication slot ", config.slot,
                     " is there already, for another database or another plugin than pgoutput; "
                     "give another slot"));
  }
  if (!facts.Is("has_slot") && facts.Number("slots") >= facts.Number("max_slots")) {
    report.problems.push_back(
        absl::StrCat("all ", facts.Number("max_slots"),
                     " replication slots are taken: ALTER SYSTEM SET max_replication_slots = ",
                     facts.Number("slots") + 1, "; then restart the server"));
  }
  if (!facts.Is("is_slot_active") && facts.Number("senders") >= facts.Number("max_senders")) {
    report.problems.push_back(absl::StrCat(
        "all ", facts.Number("max_senders"),
        " walsenders are taken: ALTER SYSTEM SET max_wal_senders = ", facts.Number("senders") + 1,
        "; then restart the server"));
  }
}

void CheckNames(const Facts& facts, const Config& config, CatalogReport& report) {
  if (facts.Is("has_schema") && !facts.Is("is_schema_ours")) {
    report.problems.push_back(absl::StrCat("schema ", config.schema,
                                           " is there already and not ours; give another schema"));
  }
  if (facts.Is("has_publication") && !facts.Is("is_publication_ours")) {
    report.problems.push_back(absl::StrCat("publication ", config.publication,
                                           " is there already and not ours; give another "
                                           "publication"));
  }
}

void CheckCommitTimes(const Facts& facts, const Config& config, CatalogReport& report) {
  for (const TableConfig& table : config.tables) {
    if (table.ts_column.has_value() || table.expires_column.has_value()) continue;
    const std::string name = absl::StrCat("table ", table.schema, ".", table.table);
    if (facts.Text("commit_times") != "on") {
      report.problems.push_back(
          absl::StrCat(name,
                       " has no ts_column, and commit times are not kept: ALTER SYSTEM SET "
                       "track_commit_timestamp = on; then restart the server"));
    }
    report.warnings.push_back(absl::StrCat(
        name,
        " uses commit times. The server forgets them after about autovacuum_freeze_max_age = ",
        facts.Text("freeze_age"),
        " transactions, and has none from before track_commit_timestamp was on: such rows do not "
        "expire. ",
        facts.Is("holds_times")
            ? "ALTER TABLE with a rewrite keeps their times. VACUUM FULL or CLUSTER after it makes "
              "expired rows that are not deleted yet visible until run holds their times again, "
              "which takes it about ten seconds; a copy or a restore makes all rows live once more"
            : absl::StrCat(
                  "ALTER TABLE with a rewrite makes expired rows that are not deleted yet visible "
                  "until run holds the times that the sidecar knows, which takes it about ten "
                  "seconds; a copy, a restore, or a rewrite in ttl-postgres migrate makes all rows "
                  "live once more. Event triggers hold the times at once; after install, a "
                  "superuser creates them: ",
                  CreateEventTriggersSql(config.schema)),
        ". A ts_column has no such limits"));
  }
}

}  // namespace

absl::StatusOr<bool> CheckServer(Connection& connection, const Config& config,
                                 CatalogReport& report) {
  // The first queries must work on older servers too.
  TTL_ASSIGN_OR_RETURN(Facts server,
                       Facts::Ask(connection, {{"version", Setting("server_version_num")},
                                               {"version_name", Setting("server_version")},
                                               {"is_standby", "pg_is_in_recovery()"}}));
  if (server.Number("version") < kLeastVersion) {
    report.problems.push_back(absl::StrCat("the server is PostgreSQL ", server.Text("version_name"),
                                           "; column lists of publications need 15 or later"));
  }
  if (server.Is("is_standby")) {
    report.problems.push_back(
        "the server is a standby, where nothing can be deleted; give the primary, with "
        "target_session_attrs=read-write in database");
  }
  if (!report.problems.empty()) return false;

  TTL_ASSIGN_OR_RETURN(Facts facts, Facts::Ask(connection, Queries(config)));
  CheckWal(facts, report);
  CheckRole(facts, report);
  CheckSlot(facts, config, report);
  CheckNames(facts, config, report);
  CheckCommitTimes(facts, config, report);
  return true;
}

}  // namespace ttl::postgres
