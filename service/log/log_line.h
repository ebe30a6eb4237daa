#ifndef TTL_SERVICE_LOG_LOG_LINE_H_
#define TTL_SERVICE_LOG_LOG_LINE_H_

#include <spdlog/common.h>

#include <string>

#include "absl/strings/string_view.h"

namespace ttl {

// A log event as written by its caller, "NAME: KEY=VALUE KEY=VALUE ...". The name, up to the first
// ": ", is constant. Without fields the whole text is the name.
struct LogEvent {
  absl::string_view name;
  absl::string_view fields;

  static LogEvent Parse(absl::string_view text);
};

// How lines are written: logfmt, or one JSON object per line, with the same fields.
enum class LogFormat { kLogfmt, kJson };

// Formats the line of an event, with a trailing "\n":
//
//   ts=2026-01-31T12:00:00.000Z level=info msg="NAME" KEY=VALUE KEY="VALUE"
//   {"ts":"2026-01-31T12:00:00.000Z","level":"info","msg":"NAME","KEY":VALUE,"KEY":"VALUE"}
//
// The time is in UTC. The result is a single line whatever the event contains. For JSON see
// json_line.h.
std::string FormatLogLine(LogFormat format, spdlog::log_clock::time_point time,
                          spdlog::level::level_enum level, const LogEvent& event);

}  // namespace ttl

#endif  // TTL_SERVICE_LOG_LOG_LINE_H_
