#include "client/ttlctl/commands/global_options.h"

#include <cmath>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "client/ttlctl/commands/command.h"

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

std::string ParseServer(const std::string& text) {
  if (!MayBeAddress(text)) {
    throw CLI::ValidationError(
        "--server", absl::StrCat("\"", text, "\" must be a gRPC address, such as ",
                                 TtlClientOptions().address, " or sidecar.example:7070"));
  }
  if (LacksPort(text)) {
    throw CLI::ValidationError(
        "--server", absl::StrCat("\"", text, "\" has no port; give one, as in ", text, ":7070"));
  }
  return text;
}

double ParseTimeout(const std::string& text) {
  double seconds;
  if (!absl::SimpleAtod(text, &seconds)) {
    seconds = static_cast<double>(
        ParseDuration("--timeout-seconds", text, "a number above 0, such as 0.5"));
  }
  if (std::isfinite(seconds) && seconds > 0) return seconds;
  throw CLI::ValidationError(
      "--timeout-seconds",
      absl::StrCat("\"", text, "\" must be a finite number above 0, or a duration such as 90s"));
}

OutputFormat FormatOf(const std::string& name) {
  if (name == "json") return OutputFormat::kJson;
  return name == "yaml" ? OutputFormat::kYaml : OutputFormat::kTable;
}

void AddOutputOption(CLI::App& command, GlobalOptions& options) {
  AddChoiceOption(
      command, "-o,--output",
      "json: one JSON object per line (protobuf JSON, proto field names); yaml: one YAML document "
      "per object; default: table",
      "table|json|yaml", [&options](const std::string& name) { options.format = FormatOf(name); });
}

}  // namespace

void AddGlobalOptions(CLI::App& app, GlobalOptions& options) {
  AddParsedOption(app, "--server", "gRPC address of the sidecar", "ADDRESS",
                  [&options](const std::string& text) { options.server = ParseServer(text); })
      ->envname("TTL_SIDECAR_ADDRESS")
      ->default_str(options.server);
  AddParsedOption(
      app, "--timeout-seconds",
      "Deadline of each call, in seconds or as 90s, 2m; default: 1 for checks, 5 for reports, 15 "
      "for other calls",
      "DURATION",
      [&options](const std::string& text) { options.timeout_seconds = ParseTimeout(text); });
  AddOutputOption(app, options);
  app.add_flag_callback(
      "--json", [&options] { options.format = OutputFormat::kJson; }, "The same as -o json");
}

void AddOutputOptions(CLI::App& app, GlobalOptions& options) {
  for (CLI::App* command : app.get_subcommands({})) {
    const bool is_group = !command->get_subcommands({}).empty();
    if (!is_group) AddOutputOption(*command, options);
    AddOutputOptions(*command, options);
  }
}

}  // namespace ttl
