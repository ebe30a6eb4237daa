#ifndef TTL_SERVICE_BASE_TIME_TEXT_H_
#define TTL_SERVICE_BASE_TIME_TEXT_H_

#include <string>

#include "absl/time/time.h"

namespace ttl {

// `time` as in all messages, log lines and output: RFC 3339 in UTC, rounded down to the second,
// such as "2026-11-29T12:00:00Z".
inline std::string TimeText(absl::Time time) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", time, absl::UTCTimeZone());
}

// The same with the fraction of the second, if there is one, where times are compared exactly:
// "2026-11-29T12:00:00.5Z".
inline std::string ExactTimeText(absl::Time time) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%E*SZ", time, absl::UTCTimeZone());
}

}  // namespace ttl

#endif  // TTL_SERVICE_BASE_TIME_TEXT_H_
