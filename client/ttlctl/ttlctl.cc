#include "client/ttlctl/ttlctl.h"

#include <algorithm>
#include <cmath>
#include <ostream>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "client/ttlctl/apply_command.h"
#include "client/ttlctl/command.h"
#include "client/ttlctl/container_commands.h"
#include "client/ttlctl/expiry_commands.h"
#include "client/ttlctl/health_command.h"
#include "client/ttlctl/import_command.h"
#include "client/ttlctl/item_commands.h"
#include "client/ttlctl/limit_commands.h"
#include "client/ttlctl/maintenance_commands.h"
#include "client/ttlctl/session.h"
#include "client/ttlctl/tls_options.h"

namespace ttl {
namespace {

void AddGlobalOptions(CLI::App& app, GlobalOptions& options) {
  AddTextOption(app, "--server", "gRPC address of the sidecar", options.server)
      ->envname("TTL_SIDECAR_ADDRESS")
      ->default_str(options.server);
  AddParsedOption(
      app, "--timeout-seconds",
      "Longest time for each call; 1 for checks, 5 for reports, 15 for the rest if "
      "not given",
      "X", [&options](const std::string& text) {
        double seconds;
        if (!absl::SimpleAtod(text, &seconds) || !std::isfinite(seconds) || seconds <= 0) {
          throw CLI::ValidationError("--timeout-seconds",
                                     absl::StrCat("\"", text, "\" must be a number above 0"));
        }
        options.timeout_seconds = seconds;
      });
  app.add_flag("--json", options.json,
               "Print protobuf JSON, one object per line, with the field names of the protos");
}

// "ttlctl items check", for the subcommand that the parsing has come to.
std::string ParsedCommand(const CLI::App& app) {
  std::string name = "ttlctl";
  const CLI::App* current = &app;
  while (!current->get_subcommands().empty()) {
    current = current->get_subcommands().front();
    absl::StrAppend(&name, " ", current->get_name());
  }
  return name;
}

}  // namespace

ExitCode RunTtlctl(const std::vector<std::string>& arguments, const Terminal& terminal) {
  CLI::App app("Command line of ttl-sidecar", "ttlctl");
  app.require_subcommand(1);
  app.fallthrough();
  app.footer(absl::StrCat(
      "Ids of items, partition keys and etags are bytes: write \\\\ for a backslash and \\xHH for "
      "any\nbyte; tables show them the same way, --json as base64.\n\n",
      ExitCodeHelp()));
  GlobalOptions options;
  AddGlobalOptions(app, options);
  TlsOptions tls;
  AddTlsOptions(app, tls);
  Command command;
  AddContainerCommands(app, command);
  AddApplyCommand(app, command);
  AddItemCommands(app, command);
  AddImportCommand(app, command);
  AddExpiryCommands(app, command);
  AddLimitCommands(app, command);
  AddMaintenanceCommands(app, command);
  AddHealthCommand(app, command);
  try {
    // CLI11 takes arguments from the back.
    std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
    std::transform(reversed.begin(), reversed.end(), reversed.begin(), ToCli11);
    app.parse(std::move(reversed));
  } catch (const CLI::CallForHelp& help) {
    app.exit(help, terminal.out, terminal.err);
    return ExitCode::kOk;
  } catch (const CLI::ParseError& error) {
    PrintError(terminal.err, absl::StrCat(error.what(), " (see ", ParsedCommand(app), " --help)"));
    return ExitCode::kUsage;
  }
  if (const absl::Status secured = Secure(tls, options); !secured.ok()) {
    PrintError(terminal.err, secured.message());
    return ExitCode::kUsage;
  }
  Session session(options, terminal);
  return command(session);
}

}  // namespace ttl
