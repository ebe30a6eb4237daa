#include "client/postgres/program/preview_command.h"

#include <cstdint>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "client/postgres/program/database_check.h"
#include "client/postgres/program/preview/sidecar_view.h"
#include "client/postgres/program/preview/table_preview.h"
#include "service/core/ttl_rules.h"

namespace ttl::postgres {
namespace {

struct PreviewOptions {
  int64_t default_ttl = 0;
  std::string container;  // empty: all
};

ExitCode Preview(const Config& config, Output output, absl::Time now,
                 const PreviewOptions& options) {
  if (options.default_ttl == 0) {
    PrintError(output,
               "--default-ttl is 0: must be -1, or 1 to 2147483647 (see ttl-postgres --help)");
    return ExitCode::kUsage;
  }
  const absl::StatusOr<DatabaseCheck> database = CheckDatabase(config, now);
  if (!database.ok()) return Fail(output, database.status());
  PrintReport(database->report, output);
  if (!database->report.problems.empty()) return ExitCode::kRefused;
  const SidecarView sidecar = SidecarView::Read(config.sidecar);
  bool is_found = false;
  for (const TableDefinition& table : database->report.tables) {
    if (!options.container.empty() && table.config.container != options.container) continue;
    is_found = true;
    const absl::Status status = PrintTablePreview(*database->connection, table, options.default_ttl,
                                                  sidecar.LimitOf(table.config.container), output);
    if (!status.ok()) return Fail(output, status);
  }
  if (is_found) return ExitCode::kOk;
  PrintError(output,
             absl::StrCat("the configuration has no container \"", options.container, "\""));
  return ExitCode::kRefused;
}

}  // namespace

void AddPreviewCommand(CLI::App& app, const WallClock& clock, Command& chosen) {
  const auto options = std::make_shared<PreviewOptions>();
  CLI::App* const command = app.add_subcommand(
      "preview", "Count the rows that a default_ttl would hide and delete, without changing it");
  command
      ->add_option("--default-ttl", options->default_ttl,
                   "default_ttl to preview, in seconds; -1: only rows with their own ttl expire")
      ->type_name("SECONDS")
      ->required()
      ->check(CLI::Range(kNeverExpires, kMaxTtl));
  command
      ->add_option("--container", options->container,
                   "Preview only the table of this container; default: all tables")
      ->type_name("CONTAINER");
  command->callback([options, clock, &chosen] {
    chosen = [options, clock](const Config& config, Output output) {
      return Preview(config, output, clock(), *options);
    };
  });
}

}  // namespace ttl::postgres
