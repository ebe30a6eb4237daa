#ifndef TTL_SERVICE_BASE_LOG_LIMITER_H_
#define TTL_SERVICE_BASE_LOG_LIMITER_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace ttl {

// Limits log lines that can flood to `lines` of each kind per interval, which begins with the first
// of them. Pure: time is an argument, the reading of any clock. Not thread-safe.
class LogLimiter {
 public:
  explicit LogLimiter(absl::Duration interval, int64_t lines = 1)
      : interval_(interval), lines_(lines) {}

  // Whether to log a line of `kind` now. Absent if not; otherwise the number of lines suppressed in
  // the previous interval of the kind, which is 0 except for the first line of an interval. A clock
  // that went back begins a new interval.
  std::optional<int64_t> Admit(absl::string_view kind, absl::Duration now) {
    if (!kinds_.contains(kind) && kinds_.size() >= kMaxKinds) kinds_.clear();
    const auto [it, is_new] = kinds_.try_emplace(kind, Kind{now, 0});
    Kind& known = it->second;
    if (now >= known.start && now - known.start < interval_) {
      return ++known.seen <= lines_ ? std::optional<int64_t>(0) : std::nullopt;
    }
    const int64_t left_out = std::max<int64_t>(0, known.seen - lines_);
    known = {now, 1};
    return left_out;
  }

 private:
  // Beyond this number all kinds are forgotten, at the price of some extra lines.
  static constexpr size_t kMaxKinds = 1024;

  struct Kind {
    absl::Duration start;  // of the interval
    int64_t seen;          // in it
  };

  const absl::Duration interval_;
  const int64_t lines_;
  absl::flat_hash_map<std::string, Kind> kinds_;
};

}  // namespace ttl

#endif  // TTL_SERVICE_BASE_LOG_LIMITER_H_
