#include "client/postgres/program/migrate_command.h"

#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "client/postgres/program/database_check.h"
#include "client/postgres/sql/held_times.h"
#include "client/postgres/sql/install/installation.h"
#include "service/base/small_file.h"
#include "service/base/status_macros.h"
#include "service/process/child_command.h"
#include "service/process/held_signals.h"

namespace ttl::postgres {
namespace {

constexpr absl::Duration kPutBackDeadline = absl::Minutes(1);
constexpr absl::Duration kPutBackPause = absl::Seconds(1);
constexpr int kEndedBySignal = 128;

struct MigrateOptions {
  std::vector<std::string> command;
  std::string sql_file;
  std::vector<std::string> containers;  // empty: all
};

// The command as shown to others: without its arguments, which may contain passwords.
std::string NameOf(const MigrateOptions& options) {
  const auto name = [](const std::string& path) {
    return std::filesystem::path(path).filename().string();
  };
  return options.sql_file.empty() ? name(options.command.front())
                                  : absl::StrCat("--sql ", name(options.sql_file));
}

// The containers whose installed objects are removed. If one is unknown, prints an error and
// returns an empty set.
std::set<std::string> Chosen(const Config& config, const MigrateOptions& options, Output output) {
  std::set<std::string> known;
  for (const TableConfig& table : config.tables) known.insert(table.container);
  if (options.containers.empty()) return known;
  for (const std::string& container : options.containers) {
    if (known.contains(container)) continue;
    PrintError(output, absl::StrCat("--container: the configuration has no container \"", container,
                                    "\"; it has ", absl::StrJoin(known, ", ")));
    return {};
  }
  return {options.containers.begin(), options.containers.end()};
}

// Takes the migration lock. FAILED_PRECONDITION if another migration holds it.
absl::Status TakeLock(Connection& connection, const Config& config) {
  TTL_RETURN_IF_ERROR(
      connection.Execute("SET idle_session_timeout = 0; SET search_path = pg_catalog").status());
  TTL_ASSIGN_OR_RETURN(const auto lock,
                       connection.Query(absl::StrCat("SELECT pg_try_advisory_lock(",
                                                     MigrationLock(config.schema), ")")));
  if (lock.Bool(0, 0)) return absl::OkStatus();
  return absl::FailedPreconditionError(
      "another migration is running; nothing was changed, and the command was not run");
}

// Warns before the command runs, because the times cannot be held afterwards: writes to an
// unpublished table are not streamed, so the sidecar's time of a row may be older than the row.
absl::Status WarnOfRewrites(DatabaseCheck& database, const Config& config,
                            const std::set<std::string>& containers, Output output) {
  std::vector<std::string> names;
  for (const TableDefinition& table : database.report.tables) {
    if (table.ts_source != TsSource::kCommitTime) continue;
    if (!containers.contains(table.config.container)) continue;
    names.push_back(absl::StrCat(table.config.schema, ".", table.config.table));
  }
  if (names.empty()) return absl::OkStatus();
  TTL_ASSIGN_OR_RETURN(const auto are_on, database.connection->Query(absl::StrCat(
                                              "SELECT ", EventTriggersAreOn(config.schema))));
  if (are_on.Bool(0, 0)) return absl::OkStatus();
  output.err << "warning: no event triggers hold the commit times of " << absl::StrJoin(names, ", ")
             << ": if the command runs an ALTER TABLE with a rewrite, the whole ttl of every row "
                "starts again, and expired rows are visible again. A superuser creates the "
                "triggers: "
             << CreateEventTriggersSql(config.schema) << "\n";
  return absl::OkStatus();
}

absl::Status TakeAway(DatabaseCheck& database, const Config& config,
                      const std::set<std::string>& containers, const std::string& command,
                      Output output) {
  Connection& connection = *database.connection;
  TTL_ASSIGN_OR_RETURN(const auto former, ReadMigration(connection, config.schema));
  TTL_RETURN_IF_ERROR(TakeLock(connection, config));
  TTL_ASSIGN_OR_RETURN(const auto state,
                       ReadInstallation(connection, config, database.report.tables));
  if (!state.problems.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat("not installed as configured: ", absl::StrJoin(state.problems, "; "),
                     "; the command was not run"));
  }
  if (former.has_value()) {
    PrintError(output, absl::StrCat(Describe(*former), "; this one brings that back, too"));
  }
  return connection.Execute(TakeAwaySql(config, database.report.tables, containers, command))
      .status();
}

absl::Status TryToPutBack(const Config& config, absl::Time now, Output output) {
  TTL_ASSIGN_OR_RETURN(const DatabaseCheck database, CheckDatabase(config, now));
  PrintReport(database.report, output);
  if (!database.report.problems.empty()) {
    return absl::FailedPreconditionError("the table is not what the configuration says");
  }
  return database.connection->Execute(InstallSql(config, database.report.tables)).status();
}

// Restores the installed objects; kOk: all are restored. Retries, because another session may lock
// a table briefly, as autovacuum does, and the server may come back.
ExitCode PutBack(const Config& config, const WallClock& clock, Output output) {
  const absl::Time deadline = clock() + kPutBackDeadline;
  absl::Status status = TryToPutBack(config, clock(), output);
  while ((absl::IsAborted(status) || absl::IsUnavailable(status)) && clock() < deadline) {
    PrintError(output, absl::StrCat(status.message(), "; trying again"));
    absl::SleepFor(kPutBackPause);
    status = TryToPutBack(config, clock(), output);
  }
  return status.ok() ? ExitCode::kOk : Fail(output, status);
}

// Releases the lock before the session ends, because the server may notice the end only after the
// next migration has requested the lock.
void ReleaseLock(Connection& connection, const Config& config) {
  const auto released = connection.Query(
      absl::StrCat("SELECT pg_advisory_unlock(", MigrationLock(config.schema), ")"));
  (void)released;  // on failure, the session is gone, and the lock with it
}

int RunSql(const Config& config, const std::string& sql, Output output) {
  const auto connection = Connection::Open(config.database, "ttl-postgres migrate");
  const absl::Status status =
      connection.ok() ? (*connection)->Execute(sql).status() : connection.status();
  if (!status.ok()) PrintError(output, status.message());
  return static_cast<int>(ExitCodeFor(status));
}

// Runs the command or the SQL and returns its exit code, as a shell would. Runs nothing if a signal
// is pending.
int RunWhatIsAsked(const Config& config, const MigrateOptions& options, const std::string& sql,
                   const HeldSignals& signals, Output output) {
  if (const int signal = signals.pending(); signal != 0) return kEndedBySignal + signal;
  return options.sql_file.empty() ? RunChildCommand(options.command) : RunSql(config, sql, output);
}

ExitCode Migrate(const Config& config, Output output, const WallClock& clock,
                 const MigrateOptions& options) {
  const std::set<std::string> containers = Chosen(config, options, output);
  if (containers.empty()) return ExitCode::kUsage;
  absl::StatusOr<std::string> sql = std::string();
  if (!options.sql_file.empty()) sql = ReadSmallFile(options.sql_file);
  if (!sql.ok()) return Fail(output, sql.status());
  absl::StatusOr<DatabaseCheck> database = CheckDatabase(config, clock());
  if (!database.ok()) return Fail(output, database.status());
  if (!database->report.problems.empty()) {
    PrintReport(database->report, output);
    PrintError(output, "nothing was changed, and the command was not run; fix the problems first");
    return ExitCode::kRefused;
  }
  const std::string command = NameOf(options);
  const absl::Status warned = WarnOfRewrites(*database, config, containers, output);
  if (!warned.ok()) return Fail(output, warned);
  const HeldSignals signals;
  const absl::Status away = TakeAway(*database, config, containers, command, output);
  if (!away.ok()) return Fail(output, away);
  const std::string what = absl::StrCat("what is installed for ", absl::StrJoin(containers, ", "));
  PrintError(output, absl::StrCat(what, " is removed; running ", command));
  const int code = RunWhatIsAsked(config, options, *sql, signals, output);
  ReleaseLock(*database->connection, config);
  database->connection.reset();
  const ExitCode back = PutBack(config, clock, output);
  const std::string ended = absl::StrCat("the command ended with exit code ", code, "; ", what);
  PrintError(output, absl::StrCat(ended, back == ExitCode::kOk
                                             ? " is restored"
                                             : " is NOT restored: fix the problems, and run "
                                               "ttl-postgres install"));
  return code == 0 ? back : static_cast<ExitCode>(code);
}

}  // namespace

void AddMigrateCommand(CLI::App& app, const WallClock& clock, Command& chosen) {
  const auto options = std::make_shared<MigrateOptions>();
  CLI::App* const migrate =
      app.add_subcommand("migrate",
                         "Remove the views, policies and triggers of the tables, run a command, "
                         "and create them again. Exits with the command's code if that is not 0");
  CLI::Option* const command =
      migrate->add_option("command", options->command, "Command to run, after --")->type_name("");
  CLI::Option* const sql =
      migrate
          ->add_option("--sql", options->sql_file,
                       "Run the SQL of this file in one transaction instead of a command")
          ->type_name("FILE")
          ->excludes(command);
  migrate
      ->add_option("--container", options->containers,
                   "Remove only the objects of this container's table; may be repeated; "
                   "default: all tables")
      ->type_name("CONTAINER")
      ->expected(1)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  migrate->callback([options, command, sql, clock, &chosen] {
    if (command->empty() && sql->empty()) {
      throw CLI::RequiredError("a command after --, or --sql FILE,");
    }
    chosen = [options, clock](const Config& config, Output output) {
      return Migrate(config, output, clock, *options);
    };
  });
}

}  // namespace ttl::postgres
