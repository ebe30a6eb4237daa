#include "service/server/config/environment.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace ttl {
namespace {

constexpr absl::string_view kOfTtlctl[] = {"ADDRESS", "CA_FILE", "CERT_FILE", "KEY_FILE",
                                           "SERVER_NAME"};

// NAME_PORT_7070_TCP, optionally followed by _ADDR, _PORT or _PROTO.
bool NamesPortOfService(absl::string_view name) {
  constexpr absl::string_view kPort = "PORT_";
  const size_t port = name.find(kPort);
  if (port == absl::string_view::npos) return false;
  const absl::string_view rest = name.substr(port + kPort.size());
  const auto digits_end = std::find_if_not(rest.begin(), rest.end(), absl::ascii_isdigit);
  const absl::string_view protocol = rest.substr(static_cast<size_t>(digits_end - rest.begin()));
  return digits_end != rest.begin() &&
         (absl::StartsWith(protocol, "_TCP") || absl::StartsWith(protocol, "_UDP") ||
          absl::StartsWith(protocol, "_SCTP"));
}

bool IsOfKubernetes(absl::string_view name) {
  return name == "PORT" || absl::EndsWith(name, "_PORT") || absl::EndsWith(name, "SERVICE_HOST") ||
         absl::StrContains(name, "SERVICE_PORT") || NamesPortOfService(name);
}

}  // namespace

std::vector<std::string> UnknownVariables(const char* const* environment,
                                          const std::set<std::string>& known) {
  std::vector<std::string> unknown;
  for (; *environment != nullptr; ++environment) {
    const absl::string_view entry = *environment;
    if (!absl::StartsWith(entry, kEnvironmentPrefix)) continue;
    const absl::string_view name = entry.substr(0, entry.find('='));
    const absl::string_view rest = name.substr(kEnvironmentPrefix.size());
    const bool is_of_ttlctl =
        std::find(std::begin(kOfTtlctl), std::end(kOfTtlctl), rest) != std::end(kOfTtlctl);
    if (is_of_ttlctl || IsOfKubernetes(rest) || known.contains(std::string(name))) continue;
    unknown.emplace_back(name);
  }
  std::sort(unknown.begin(), unknown.end());
  return unknown;
}

}  // namespace ttl
