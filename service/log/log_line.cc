#include "service/log/log_line.h"

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/time/time.h"
#include "service/log/json_line.h"
#include "service/log/log_key.h"

namespace ttl {
namespace {

// The level as in --log-level.
absl::string_view LevelName(spdlog::level::level_enum level) {
  if (level == spdlog::level::warn) return "warn";
  const spdlog::string_view_t name = spdlog::level::to_string_view(level);
  return {name.data(), name.size()};
}

std::string LogfmtLine(absl::string_view ts, absl::string_view level, const LogEvent& event) {
  std::string line =
      absl::StrCat("ts=", ts, " level=", level, " msg=\"", absl::CHexEscape(event.name), "\"");
  if (!event.fields.empty()) {
    absl::StrAppend(&line, " ", absl::StrReplaceAll(event.fields, {{"\n", "\\n"}}));
  }
  return absl::StrCat(line, "\n");
}

std::string JsonLine(absl::string_view ts, absl::string_view level, const LogEvent& event) {
  return absl::StrCat("{\"ts\":\"", ts, "\",\"level\":\"", level,
                      "\",\"msg\":", JsonString(event.name), event.fields.empty() ? "" : ",",
                      JsonMembers(event.fields), "}\n");
}

}  // namespace

LogEvent LogEvent::Parse(absl::string_view text) {
  const size_t colon = text.find(": ");
  if (colon == absl::string_view::npos || !StartsWithKey(text.substr(colon + 2))) {
    return {text, {}};
  }
  return {text.substr(0, colon), text.substr(colon + 2)};
}

std::string FormatLogLine(LogFormat format, spdlog::log_clock::time_point time,
                          spdlog::level::level_enum level, const LogEvent& event) {
  const std::string ts =
      absl::FormatTime("%Y-%m-%dT%H:%M:%E3SZ", absl::FromChrono(time), absl::UTCTimeZone());
  return format == LogFormat::kJson ? JsonLine(ts, LevelName(level), event)
                                    : LogfmtLine(ts, LevelName(level), event);
}

}  // namespace ttl
