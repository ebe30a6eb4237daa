#include "client/ttlctl/ttlctl.h"

#include <algorithm>
#include <cmath>
#include <ostream>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "client/ttlctl/commands/command.h"
#include "client/ttlctl/commands/containers/apply_command.h"
#include "client/ttlctl/commands/containers/container_commands.h"
#include "client/ttlctl/commands/items/import_command.h"
#include "client/ttlctl/commands/items/item_commands.h"
#include "client/ttlctl/commands/operations/expiry_commands.h"
#include "client/ttlctl/commands/operations/health_command.h"
#include "client/ttlctl/commands/operations/limit_commands.h"
#include "client/ttlctl/commands/operations/maintenance_commands.h"
#include "client/ttlctl/commands/operations/forecast_command.h"
#include "client/ttlctl/commands/session.h"
#include "client/ttlctl/commands/tls_options.h"

namespace ttl {
namespace {

// Whether gRPC would try to connect to the address.
bool MayBeAddress(absl::string_view server) {
  constexpr size_t kMaxSocketPathBytes = 107;
  if (!absl::ConsumePrefix(&server, "unix:")) return !server.empty();
  return !server.empty() && server.size() <= kMaxSocketPathBytes;
}

// Whether the address has no port, so that gRPC would use that of HTTPS: "localhost",
// "dns:///sidecar.example", "[::1]".
bool LacksPort(absl::string_view server) {
  if (absl::StartsWith(server, "unix")) return false;
  for (const absl::string_view scheme : {"dns:///", "dns:", "ipv4:", "ipv6:"}) {
    if (absl::ConsumePrefix(&server, scheme)) break;
  }
  const size_t host_end = server.rfind(']');
  return server.substr(host_end == absl::string_view::npos ? 0 : host_end).find(':') ==
         absl::string_view::npos;
}

void AddGlobalOptions(CLI::App& app, GlobalOptions& options) {
  AddParsedOption(
      app, "--server", "gRPC address of the sidecar", "TEXT",
      [&options](const std::string& text) {
        if (!MayBeAddress(text)) {
          throw CLI::ValidationError(
              "--server", absl::StrCat("\"", text, "\" must be a gRPC address, such as ",
                                       TtlClientOptions().address, " or sidecar.example:7070"));
        }
        if (LacksPort(text)) {
          throw CLI::ValidationError(
              "--server",
              absl::StrCat("\"", text, "\" has no port; give one, as in ", text, ":7070"));
        }
        options.server = text;
      })
      ->envname("TTL_SIDECAR_ADDRESS")
      ->default_str(options.server);
  AddParsedOption(app, "--timeout-seconds",
                  "Deadline of each call, in seconds or as 90s, 2m; default: 1 for checks, 5 for "
                  "reports, 15 for "
                  "the rest",
                  "DURATION", [&options](const std::string& text) {
                    double seconds;
                    if (!absl::SimpleAtod(text, &seconds)) {
                      seconds = static_cast<double>(ParseDuration("--timeout-seconds", text,
                                                                  "a number above 0, such as 0.5"));
                    }
                    if (!std::isfinite(seconds) || seconds <= 0) {
                      throw CLI::ValidationError("--timeout-seconds",
                                                 absl::StrCat("\"", text, "\" must be above 0"));
                    }
                    options.timeout_seconds = seconds;
                  });
  app.add_flag("--json", options.json,
               "Print protobuf JSON, one object per line, with the field names of the protos");
}

void AddCommands(CLI::App& app, Command& chosen) {
  AddContainerCommands(app, chosen);
  AddApplyCommand(app, chosen);
  AddItemCommands(app, chosen);
  AddImportCommand(app, chosen);
  AddExpiryCommands(app, chosen);
  AddForecastCommand(app, chosen);
  AddLimitCommands(app, chosen);
  AddMaintenanceCommands(app, chosen);
  AddHealthCommand(app, chosen);
}

// The name of the parsed subcommand, such as "ttlctl items check".
std::string ParsedCommand(const CLI::App& app) {
  std::string name = "ttlctl";
  const CLI::App* current = &app;
  while (!current->get_subcommands().empty()) {
    current = current->get_subcommands().front();
    absl::StrAppend(&name, " ", current->get_name());
  }
  return name;
}

// The error of a command line.
std::string Complaint(const CLI::App& app, const CLI::ParseError& error) {
  const std::vector<std::string> left = app.remaining(/*recurse=*/true);
  const absl::string_view complaint = error.what();
  // For an unknown subcommand CLI11 says that one is missing.
  if (!left.empty() && complaint == CLI::RequiredError::Subcommand(1).what()) {
    return absl::StrCat("\"", FromCli11(left.front()), "\" is not a subcommand or option");
  }
  return std::string(complaint);
}

// Checks that the output was written: a list truncated by a full disk must not look complete.
ExitCode Delivered(const Terminal& terminal) {
  if (terminal.out.flush()) return ExitCode::kOk;
  PrintError(terminal.err, "done, but what it printed could not be written");
  return ExitCode::kRefused;
}

}  // namespace

ExitCode RunTtlctl(const std::vector<std::string>& arguments, const Terminal& terminal) {
  CLI::App app("Command line of ttl-sidecar", "ttlctl");
  app.require_subcommand(1);
  app.fallthrough();
  app.set_version_flag("--version", "ttlctl " TTL_SIDECAR_VERSION);
  app.footer(absl::StrCat(
      "Ids of items, partition keys and etags are bytes: write \\\\ for a backslash and \\xHH for "
      "any\nbyte; tables show them the same way, --json as base64.\n\n",
      ExitCodeHelp()));
  GlobalOptions options;
  AddGlobalOptions(app, options);
  TlsOptions tls;
  AddTlsOptions(app, tls);
  Command command;
  AddCommands(app, command);
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
    PrintError(terminal.err,
               absl::StrCat(Complaint(app, error), " (see ", ParsedCommand(app), " --help)"));
    return ExitCode::kUsage;
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
