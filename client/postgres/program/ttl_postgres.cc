#include "client/postgres/program/ttl_postgres.h"

#include <utility>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "client/postgres/program/check_command.h"
#include "client/postgres/program/install_commands.h"
#include "client/postgres/program/migrate_command.h"
#include "client/postgres/program/preview_command.h"
#include "client/postgres/program/run_command.h"
#include "client/postgres/program/status_command.h"
#include "service/log/log.h"
#include "spdlog/spdlog.h"

namespace ttl::postgres {
namespace {

struct Options {
  std::string config;
  std::string log_level = "info";
  std::string log_format = "logfmt";
};

void AddOptions(CLI::App& app, Options& options) {
  app.add_option("--config", options.config, "YAML file with the configuration")
      ->type_name("FILE")
      ->envname("TTL_POSTGRES_CONFIG")
      ->required();
  app.add_option(
         "--log-level", options.log_level,
         "Minimum level of log lines: debug, info, warn or error. debug adds the notices that the "
         "database sends")
      ->type_name("LEVEL")
      ->check(CLI::IsMember({"debug", "info", "warn", "error"}))
      ->capture_default_str();
  app.add_option("--log-format", options.log_format,
                 "Format of log lines: logfmt or json, with the same fields")
      ->type_name("FORMAT")
      ->check(CLI::IsMember({"logfmt", "json"}))
      ->capture_default_str();
  app.set_version_flag("--version", "ttl-postgres " TTL_SIDECAR_VERSION);
}

std::string UsageError(const CLI::App& app, const CLI::ParseError& error) {
  const std::vector<std::string> unknown = app.remaining(/*recurse=*/true);
  // CLI11 reports a missing option or subcommand before an unknown word.
  if (unknown.empty()) return error.what();
  return absl::StrCat("\"", unknown.front(), "\" is not a subcommand or option");
}

ExitCode RunCommand(const Command& command, const std::string& config_path, Output output) {
  const absl::StatusOr<Config> config = ReadConfig(config_path);
  if (config.ok()) return command(*config, output);
  for (const absl::string_view problem : absl::StrSplit(config.status().message(), '\n')) {
    PrintError(output, problem);
  }
  return absl::IsNotFound(config.status()) ? ExitCode::kUsage : ExitCode::kRefused;
}

}  // namespace

ExitCode RunTtlPostgres(const std::vector<std::string>& arguments, Output output,
                        const WallClock& clock) {
  CLI::App app("Gives rows of a PostgreSQL database a time to live, with ttl-sidecar.",
               "ttl-postgres");
  app.require_subcommand(1);
  app.fallthrough();
  app.footer(std::string(ExitCodeHelp()));
  Options options;
  AddOptions(app, options);
  Command command;
  AddCheckCommand(app, clock, command);
  AddInstallCommands(app, clock, command);
  AddPreviewCommand(app, clock, command);
  AddMigrateCommand(app, clock, command);
  AddRunCommand(app, options.config, clock, command);
  AddStatusCommand(app, clock, command);
  try {
    // CLI11 expects the arguments in reverse order.
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::Success& help_or_version) {
    app.exit(help_or_version, output.out, output.err);
    return ExitCode::kOk;
  } catch (const CLI::ParseError& error) {
    PrintError(output, absl::StrCat(UsageError(app, error), " (see ttl-postgres --help)"));
    return ExitCode::kUsage;
  }
  spdlog::set_level(spdlog::level::from_str(options.log_level));
  if (options.log_format == "json") Log::SetFormat(LogFormat::kJson);
  return RunCommand(command, options.config, output);
}

}  // namespace ttl::postgres
