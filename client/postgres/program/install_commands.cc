#include "client/postgres/program/install_commands.h"

#include <memory>
#include <string>

#include "client/postgres/program/database_check.h"
#include "client/postgres/sql/install/installation.h"

namespace ttl::postgres {
namespace {

ExitCode Install(const Config& config, Output output, bool only_print) {
  const absl::StatusOr<DatabaseCheck> database = CheckDatabase(config);
  if (!database.ok()) return Fail(output, database.status());
  PrintReport(database->report, output);
  if (!database->report.problems.empty()) {
    PrintError(output, "nothing was installed; fix the problems above first");
    return ExitCode::kRefused;
  }
  const std::string sql = InstallSql(config, database->report.tables);
  if (only_print) {
    output.out << sql;
    return ExitCode::kOk;
  }
  const absl::Status installed = database->connection->Execute(sql).status();
  if (!installed.ok()) return Fail(output, installed);
  output.out << "installed\n";
  return ExitCode::kOk;
}

ExitCode Uninstall(const Config& config, Output output, bool only_print) {
  const std::string sql = UninstallSql(config);
  if (only_print) {
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

void Add(CLI::App& app, const char* name, const char* description,
         ExitCode (*run)(const Config&, Output, bool), Command& chosen) {
  const auto only_print = std::make_shared<bool>(false);
  CLI::App* command = app.add_subcommand(name, description);
  command->add_flag("--print", *only_print, "Print the SQL without running it");
  command->callback([only_print, run, &chosen] {
    chosen = [only_print, run](const Config& config, Output output) {
      return run(config, output, *only_print);
    };
  });
}

}  // namespace

void AddInstallCommands(CLI::App& app, Command& chosen) {
  Add(app, "install",
      "Create or update what ttl-postgres needs in the database, in one transaction. Run it again "
      "after every change of the configuration",
      Install, chosen);
  Add(app, "uninstall", "Remove everything that install created, and the replication slot",
      Uninstall, chosen);
}

}  // namespace ttl::postgres
