#include "client/postgres/program/check_command.h"

#include "absl/strings/str_cat.h"
#include "client/postgres/program/database_check.h"
#include "client/postgres/program/preview/sidecar_view.h"
#include "client/postgres/sql/install/installation.h"

namespace ttl::postgres {
namespace {

constexpr char kNeedsLimit[] =
    "; install needs max_slot_wal_keep_size on the server, or --accept-unlimited-wal";

// A sidecar that does not answer is not a problem: check runs before the sidecar does.
void CheckContainers(const Config& config, CatalogReport& report) {
  const SidecarView sidecar = SidecarView::Read(config.sidecar);
  for (const TableConfig& table : config.tables) {
    if (sidecar.ShowsHeld(table.container)) {
      report.problems.push_back(absl::StrCat(
          "container ", table.container,
          " has show_held: expired rows under a hold would have to stay visible, and SQL does not "
          "know which they are: switch show_held off"));
    }
    if (sidecar.MayBeTouched(table.container)) {
      report.problems.push_back(absl::StrCat(
          "container ", table.container,
          " has or had allow_touch: rows that were touched would have to stay visible, and SQL "
          "does not know which they are: use a container without it"));
    }
  }
}

ExitCode Check(const Config& config, Output output, absl::Time now) {
  absl::StatusOr<DatabaseCheck> database = CheckDatabase(config, now);
  if (!database.ok()) return Fail(output, database.status());
  CatalogReport& report = database->report;
  CheckContainers(config, report);
  PrintReport(report, output);
  if (!report.problems.empty() || !report.archive_problems.empty()) return ExitCode::kRefused;
  const absl::Status installed = CheckInstalled(*database->connection, config, report.tables);
  // A missing installation is not a problem: check runs before install.
  if (!installed.ok() && !absl::IsFailedPrecondition(installed)) return Fail(output, installed);
  output.out << "ok: all tables can be containers; "
             << (installed.ok() ? "installed"
                                : absl::StrCat("not installed: ", installed.message()))
             << (report.wal_limit.empty() ? "" : kNeedsLimit) << "\n";
  return ExitCode::kOk;
}

}  // namespace

void AddCheckCommand(CLI::App& app, const WallClock& clock, Command& chosen) {
  app.add_subcommand("check",
                     "Check the configuration against the database; list problems and warnings")
      ->callback([clock, &chosen] {
        chosen = [clock](const Config& config, Output output) {
          return Check(config, output, clock());
        };
      });
}

}  // namespace ttl::postgres
