#include "client/postgres/program/install_commands.h"

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "client/postgres/program/database_check.h"
#include "client/postgres/sql/install/installation.h"

namespace ttl::postgres {
namespace {

struct InstallOptions {
  bool only_print = false;
  bool accepts_unlimited_wal = false;
};

ExitCode Install(const Config& config, Output output, const InstallOptions& options) {
  const absl::StatusOr<DatabaseCheck> database = CheckDatabase(config);
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
  return ExitCode::kOk;
}

ExitCode Uninstall(const Config& config, Output output, const InstallOptions& options) {
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
              ExitCode (*run)(const Config&, Output, const InstallOptions&),
              const std::shared_ptr<InstallOptions>& options, Command& chosen) {
  CLI::App* command = app.add_subcommand(name, description);
  command->add_flag("--print", options->only_print, "Print the SQL without running it");
  command->callback([options, run, &chosen] {
    chosen = [options, run](const Config& config, Output output) {
      return run(config, output, *options);
    };
  });
  return command;
}

}  // namespace

void AddInstallCommands(CLI::App& app, Command& chosen) {
  const auto options = std::make_shared<InstallOptions>();
  Add(app, "install",
      "Create or update what ttl-postgres needs in the database, in one transaction. Run it again "
      "after every change of the configuration",
      Install, options, chosen)
      ->add_flag("--accept-unlimited-wal", options->accepts_unlimited_wal,
                 "Install even if max_slot_wal_keep_size does not limit the WAL that an unused "
                 "slot retains");
  Add(app, "uninstall", "Remove everything that install created, and the replication slot",
      Uninstall, options, chosen);
}

}  // namespace ttl::postgres
