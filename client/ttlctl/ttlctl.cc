#include "client/ttlctl/ttlctl.h"

#include <algorithm>
#include <ostream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/ttlctl/commands/command.h"
#include "client/ttlctl/commands/containers/apply_command.h"
#include "client/ttlctl/commands/containers/container_commands.h"
#include "client/ttlctl/commands/containers/export_command.h"
#include "client/ttlctl/commands/feed/subscription_commands.h"
#include "client/ttlctl/commands/feed/watch_command.h"
#include "client/ttlctl/commands/global_options.h"
#include "client/ttlctl/commands/help/completion_call.h"
#include "client/ttlctl/commands/help/help_commands.h"
#include "client/ttlctl/commands/holds/hold_commands.h"
#include "client/ttlctl/commands/items/import_command.h"
#include "client/ttlctl/commands/items/item_commands.h"
#include "client/ttlctl/commands/key_help.h"
#include "client/ttlctl/commands/operations/expiry_commands.h"
#include "client/ttlctl/commands/operations/forecast_command.h"
#include "client/ttlctl/commands/operations/health_command.h"
#include "client/ttlctl/commands/operations/limit_commands.h"
#include "client/ttlctl/commands/operations/maintenance_commands.h"
#include "client/ttlctl/commands/session.h"
#include "client/ttlctl/commands/tls_options.h"
#include "client/ttlctl/definition/complaint.h"
#include "client/ttlctl/definition/completion_script.h"

namespace ttl {
namespace {

void AddCommands(CLI::App& app, Command& chosen) {
  AddContainerCommands(app, chosen);
  AddApplyCommand(app, chosen);
  AddExportCommand(app, chosen);
  AddItemCommands(app, chosen);
  AddImportCommand(app, chosen);
  AddHoldCommands(app, chosen);
  AddSubscriptionCommands(app, chosen);
  AddWatchCommand(app, chosen);
  AddExpiryCommands(app, chosen);
  AddForecastCommand(app, chosen);
  AddLimitCommands(app, chosen);
  AddMaintenanceCommands(app, chosen);
  AddHealthCommand(app, chosen);
}

std::vector<std::string> WordsLeft(const CLI::App& app) {
  std::vector<std::string> words = app.remaining(/*recurse=*/true);
  std::transform(words.begin(), words.end(), words.begin(), FromCli11);
  return words;
}

// Checks that the output was written: a list truncated by a full disk must not look complete.
ExitCode Delivered(const Terminal& terminal) {
  if (terminal.out.flush()) return ExitCode::kOk;
  PrintError(terminal.err, "done, but what it printed could not be written");
  return ExitCode::kRefused;
}

}  // namespace

ExitCode RunTtlctl(const std::vector<std::string>& arguments, const Terminal& terminal) {
  CLI::App app("Controls a ttl-sidecar", "ttlctl");
  app.require_subcommand(1);
  app.fallthrough();
  app.set_version_flag("--version", "ttlctl " TTL_SIDECAR_VERSION);
  GlobalOptions options;
  AddGlobalOptions(app, options);
  TlsOptions tls;
  AddTlsOptions(app, tls);
  Command command;
  AddCommands(app, command);
  AddOutputOptions(app, options);
  OfflineCommand offline;
  AddHelpCommands(app, offline);
  // After the subcommands, which would take it over as theirs.
  app.footer(absl::StrCat(kKeyHelp, "\n", ExitCodeHelp()));
  if (!arguments.empty() && arguments.front() == kCompleteCall) {
    PrintCompletions(app, {arguments.begin() + 1, arguments.end()}, terminal, RunTtlctl);
    return Delivered(terminal);
  }
  try {
    // CLI11 expects arguments in reverse.
    std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
    std::transform(reversed.begin(), reversed.end(), reversed.begin(), ToCli11);
    app.parse(std::move(reversed));
  } catch (const CLI::Success& help_or_version) {
    app.exit(help_or_version, terminal.out, terminal.err);
    return ExitCode::kOk;
  } catch (const NumberTooLarge& error) {
    PrintError(terminal.err, error.what());
    return ExitCode::kRefused;
  } catch (const CLI::ParseError& error) {
    PrintError(terminal.err, ComplaintText(app, error, WordsLeft(app)));
    return ExitCode::kUsage;
  }
  if (offline) {
    const ExitCode code = offline(terminal);
    return code == ExitCode::kOk ? Delivered(terminal) : code;
  }
  if (const absl::Status secured = Secure(tls, options); !secured.ok()) {
    PrintError(terminal.err, secured.message());
    return ExitCode::kUsage;
  }
  Session session(options, terminal);
  const ExitCode code = command(session);
  return code == ExitCode::kOk ? Delivered(terminal) : code;
}

}  // namespace ttl
