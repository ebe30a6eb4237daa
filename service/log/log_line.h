#ifndef TTL_SERVICE_LOG_LOG_LINE_H_
#define TTL_SERVICE_LOG_LOG_LINE_H_

#include <spdlog/common.h>

#include <string>

#include "absl/strings/string_view.h"

namespace ttl {

// An event of the log as its caller worded it, "NAME: KEY=VALUE KEY=VALUE ...": the name in
// front of the first ": " is constant. Without fields, all of the text is the name.
struct LogEvent {
  absl::string_view name;
  absl::string_view fields;

  static LogEvent Parse(absl::string_view text);
};

// The line of an event, with "\n" at its end:
//
//   ts=2026-01-31T12:00:00.000Z level=info msg="NAME" KEY=VALUE KEY=VALUE
//
// The time is in UTC. Whatever the event holds, it stays one line.
std::string FormatLogLine(spdlog::log_clock::time_point time, spdlog::level::level_enum level,
                          const LogEvent& event);

}  // namespace ttl

#endif  // TTL_SERVICE_LOG_LOG_LINE_H_
