#ifndef TTL_SERVICE_BASE_LOG_LIMITER_H_
#define TTL_SERVICE_BASE_LOG_LIMITER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace ttl {

// Thins out log lines that can flood: of each kind of trouble one line per interval.
// Pure: time is an argument, the reading of a steady clock. Not thread-safe.
class LogLimiter {
 public:
  explicit LogLimiter(absl::Duration interval) : interval_(interval) {}

  // Whether to log a line of `kind` now: absent if not, else how many lines of the
  // kind were left out since its last one.
  std::optional<int64_t> Admit(absl::string_view kind, absl::Duration now) {
    if (!kinds_.contains(kind) && kinds_.size() >= kMaxKinds) kinds_.clear();
    const auto [it, is_new] = kinds_.try_emplace(kind, Kind{now, 0});
    Kind& known = it->second;
    if (!is_new && now - known.last < interval_) {
      ++known.left_out;
      return std::nullopt;
    }
    const int64_t left_out = known.left_out;
    known = {now, 0};
    return left_out;
  }

 private:
  // More kinds than this are forgotten, at the price of a line too many.
  static constexpr size_t kMaxKinds = 1024;

  struct Kind {
    absl::Duration last;
    int64_t left_out;
  };

  const absl::Duration interval_;
  absl::flat_hash_map<std::string, Kind> kinds_;
};

}  // namespace ttl

#endif  // TTL_SERVICE_BASE_LOG_LIMITER_H_
