#include "service/server/config/listen_options.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "service/base/status_macros.h"

namespace ttl {
namespace {

constexpr char kRightRoles[] =
    "roles with a plus between them, such as store+reader; roles are "
    "store, reader, consumer and admin";

// Whether `text` is an option: "key=value" with a key of lower-case letters.
bool IsOption(absl::string_view text) {
  const size_t end = text.find('=');
  return end != absl::string_view::npos && end > 0 &&
         std::all_of(text.begin(), text.begin() + end, absl::ascii_islower);
}

// Removes "key=value" options from the end of `text` and passes each to `take`, which validates it.
absl::Status TakeOptions(
    absl::string_view& text,
    const std::function<absl::Status(absl::string_view key, absl::string_view value)>& take) {
  while (true) {
    const size_t comma = text.rfind(',');
    if (comma == absl::string_view::npos) return absl::OkStatus();
    const absl::string_view option = text.substr(comma + 1);
    if (!IsOption(option)) return absl::OkStatus();
    const size_t end = option.find('=');
    TTL_RETURN_IF_ERROR(take(option.substr(0, end), option.substr(end + 1)));
    text = text.substr(0, comma);
  }
}

absl::Status TakeRoles(absl::string_view value, Roles& roles) {
  const std::optional<Roles> parsed = ParseRoles(value);
  if (!parsed.has_value()) return absl::InvalidArgumentError(kRightRoles);
  roles = *parsed;
  return absl::OkStatus();
}

bool IsPort(absl::string_view text) {
  int port = -1;
  const bool is_digits =
      !text.empty() && std::all_of(text.begin(), text.end(), absl::ascii_isdigit);
  const bool has_leading_zero = text.size() > 1 && text[0] == '0';
  return is_digits && !has_leading_zero && absl::SimpleAtoi(text, &port) && port <= 65535;
}

}  // namespace

absl::StatusOr<mode_t> ParseMode(absl::string_view value) {
  mode_t mode = 0;
  bool ok = value.size() == 3 || (value.size() == 4 && value[0] == '0');
  for (const char c : value) {
    ok = ok && c >= '0' && c <= '7';
    mode = mode * 8 + static_cast<mode_t>(c - '0');
  }
  if (ok) return mode;
  return absl::InvalidArgumentError("an octal file mode of three digits, such as 0660 or 600");
}

absl::StatusOr<std::string> ParseHostPort(absl::string_view value) {
  const size_t colon = value.rfind(':');
  const absl::string_view host = value.substr(0, colon);
  const bool is_bracketed = absl::StartsWith(host, "[") && absl::EndsWith(host, "]");
  if (colon == absl::string_view::npos || host.empty() ||
      (absl::StrContains(host, ":") && !is_bracketed) || !IsPort(value.substr(colon + 1))) {
    return absl::InvalidArgumentError(
        "HOST:PORT, such as 127.0.0.1:7070, 0.0.0.0:7070 or [::1]:7070; port 0 picks a free port");
  }
  return std::string(value);
}

absl::StatusOr<ListenSocket> ParseListenSocket(absl::string_view value) {
  ListenSocket socket;
  TTL_RETURN_IF_ERROR(
      TakeOptions(value, [&socket](absl::string_view key, absl::string_view text) -> absl::Status {
        if (key == "roles") return TakeRoles(text, socket.roles);
        if (key == "group" && !text.empty()) {
          socket.group = std::string(text);
          return absl::OkStatus();
        }
        if (key == "mode") {
          TTL_ASSIGN_OR_RETURN(socket.mode, ParseMode(text));
          return absl::OkStatus();
        }
        return absl::InvalidArgumentError(
            "a path, optionally followed by ,mode=OCTAL ,group=GROUP ,roles=ROLE+ROLE");
      }));
  socket.path = std::string(value);
  return socket;
}

absl::StatusOr<ListenTcp> ParseListenTcp(absl::string_view value) {
  ListenTcp tcp;
  TTL_RETURN_IF_ERROR(
      TakeOptions(value, [&tcp](absl::string_view key, absl::string_view text) -> absl::Status {
        if (key == "roles") return TakeRoles(text, tcp.roles);
        return absl::InvalidArgumentError("HOST:PORT, optionally followed by ,roles=ROLE+ROLE");
      }));
  TTL_ASSIGN_OR_RETURN(tcp.host_port, ParseHostPort(value));
  return tcp;
}

}  // namespace ttl
