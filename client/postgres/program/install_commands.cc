#include "client/postgres/program/install_commands.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/postgres/program/database_check.h"
#include "client/postgres/program/preview/sidecar_view.h"
#include "client/postgres/program/preview/table_preview.h"
#include "client/postgres/sql/install/installation.h"
#include "client/postgres/sql/install/installed_objects.h"
#include "service/core/ttl_rules.h"

namespace ttl::postgres {
namespace {

struct InstallOptions {
  bool only_print = false;
  bool accepts_unlimited_wal = false;
  int64_t default_ttl = kNeverExpires;
};

// A larger table needs its own preview: the installation is complete by then and must not take
// long.
constexpr char kPreviewLimits[] = "SET statement_timeout = '10s'; SET lock_timeout = '1s'";

std::string PreviewCommandOf(const TableDefinition& table, absl::string_view default_ttl) {
  return absl::StrCat("ttl-postgres preview --default-ttl ", default_ttl, " --container ",
                      table.config.container);
}

// An error is only printed: it does not undo the installation.
void PreviewInstalled(Connection& connection, const TableDefinition& table, int64_t default_ttl,
                      const DeleteLimit& limit, Output output) {
  const bool has_own_end = table.ttl.has_value() || table.expires.has_value();
  if (default_ttl == kNeverExpires && !has_own_end) {
    output.out << table.config.container
               << ": which rows expire depends on the default_ttl; to count them: "
               << PreviewCommandOf(table, "SECONDS") << "\n";
    return;
  }
  const absl::Status status = PrintTablePreview(connection, table, default_ttl, limit, output);
  if (status.ok()) return;
  output.out << table.config.container << ": the rows were not counted (" << status.message()
             << "); to count them: " << PreviewCommandOf(table, absl::StrCat(default_ttl)) << "\n";
}

// Skips tables whose containers are on already, where a preview comes too late.
void PreviewWhatIsOff(Connection& connection, const Config& config,
                      const std::vector<TableDefinition>& definitions, int64_t default_ttl,
                      Output output) {
  if (!connection.Execute(kPreviewLimits).ok()) return;
  const SidecarView sidecar = SidecarView::Read(config.sidecar);
  for (const TableDefinition& definition : definitions) {
    if (sidecar.IsOn(definition.config.container)) continue;
    PreviewInstalled(connection, AsInstalled(definition), default_ttl,
                     sidecar.LimitOf(definition.config.container), output);
  }
}

ExitCode Install(const Config& config, Output output, absl::Time now,
                 const InstallOptions& options) {
  if (options.default_ttl == 0) {
    PrintError(output,
               "--default-ttl is 0: must be -1, or 1 to 2147483647 (see ttl-postgres --help)");
    return ExitCode::kUsage;
  }
  const absl::StatusOr<DatabaseCheck> database = CheckDatabase(config, now);
  if (!database.ok()) return Fail(output, database.status());
  PrintReport(database->report, output);
  if (!database->report.problems.empty() || !database->report.archive_problems.empty()) {
    PrintError(output, "nothing was installed; fix the problems above first");
    return ExitCode::kRefused;
  }
  const std::string sql = InstallSql(config, database->report.tables);
  if (options.only_print) {
    output.out << sql;
    return ExitCode::kOk;
  }
  const std::string& wal_limit = database->report.wal_limit;
  if (!wal_limit.empty() && !options.accepts_unlimited_wal) {
    PrintError(output, absl::StrCat("nothing is installed while max_slot_wal_keep_size is -1, "
                                    "since a slot that is forgotten would fill the disk: ",
                                    wal_limit, ", or accept that by --accept-unlimited-wal"));
    return ExitCode::kRefused;
  }
  const absl::Status installed = database->connection->Execute(sql).status();
  if (!installed.ok()) return Fail(output, installed);
  output.out << "installed\n";
  PreviewWhatIsOff(*database->connection, config, database->report.tables, options.default_ttl,
                   output);
  return ExitCode::kOk;
}

ExitCode Uninstall(const Config& config, Output output, absl::Time, const InstallOptions& options) {
  const std::string sql = UninstallSql(config);
  if (options.only_print) {
    output.out << sql;
    return ExitCode::kOk;
  }
  const auto connection = Connection::Open(config.database, "ttl-postgres");
  if (!connection.ok()) return Fail(output, connection.status());
  const absl::Status uninstalled = (*connection)->Execute(sql).status();
  if (!uninstalled.ok()) return Fail(output, uninstalled);
  output.out << "uninstalled\n";
  return ExitCode::kOk;
}

CLI::App* Add(CLI::App& app, const char* name, const char* description,
              ExitCode (*run)(const Config&, Output, absl::Time, const InstallOptions&),
              const std::shared_ptr<InstallOptions>& options, const WallClock& clock,
              Command& chosen) {
  CLI::App* command = app.add_subcommand(name, description);
  command->add_flag("--print", options->only_print, "Print the SQL without running it");
  command->callback([options, run, clock, &chosen] {
    chosen = [options, run, clock](const Config& config, Output output) {
      return run(config, output, clock(), *options);
    };
  });
  return command;
}

}  // namespace

void AddInstallCommands(CLI::App& app, const WallClock& clock, Command& chosen) {
  const auto options = std::make_shared<InstallOptions>();
  CLI::App* const install =
      Add(app, "install",
          "Create or update what ttl-postgres needs in the database, in one transaction. Run it "
          "again after every change of the configuration. Then preview the tables whose container "
          "has no default_ttl yet",
          Install, options, clock, chosen);
  install
      ->add_option("--default-ttl", options->default_ttl,
                   "default_ttl to preview afterwards, in seconds; default: -1, by which only rows "
                   "with their own end or ttl expire")
      ->type_name("SECONDS")
      ->check(CLI::Range(kNeverExpires, kMaxTtl));
  install->add_flag("--accept-unlimited-wal", options->accepts_unlimited_wal,
                    "Install even if max_slot_wal_keep_size does not limit the WAL that an unused "
                    "slot retains");
  Add(app, "uninstall", "Remove everything that install created, and the replication slot",
      Uninstall, options, clock, chosen);
}

}  // namespace ttl::postgres
