#include "service/log/log_line.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "absl/time/time.h"

namespace ttl {
namespace {

bool StartsWithKey(absl::string_view text) {
  const auto end = std::find_if_not(text.begin(), text.end(), [](unsigned char c) {
    return absl::ascii_islower(c) || absl::ascii_isdigit(c) || c == '_';
  });
  return end != text.begin() && end != text.end() && *end == '=';
}

// The level as in --log-level.
absl::string_view LevelName(spdlog::level::level_enum level) {
  if (level == spdlog::level::warn) return "warn";
  const spdlog::string_view_t name = spdlog::level::to_string_view(level);
  return {name.data(), name.size()};
}

}  // namespace

LogEvent LogEvent::Parse(absl::string_view text) {
  const size_t colon = text.find(": ");
  if (colon == absl::string_view::npos || !StartsWithKey(text.substr(colon + 2))) {
    return {text, {}};
  }
  return {text.substr(0, colon), text.substr(colon + 2)};
}

std::string FormatLogLine(spdlog::log_clock::time_point time, spdlog::level::level_enum level,
                          const LogEvent& event) {
  std::string line = absl::StrFormat(
      "ts=%s level=%s msg=\"%s\"",
      absl::FormatTime("%Y-%m-%dT%H:%M:%E3SZ", absl::FromChrono(time), absl::UTCTimeZone()),
      LevelName(level), absl::CHexEscape(event.name));
  if (!event.fields.empty()) {
    absl::StrAppend(&line, " ", absl::StrReplaceAll(event.fields, {{"\n", "\\n"}}));
  }
  line.push_back('\n');
  return line;
}

}  // namespace ttl
