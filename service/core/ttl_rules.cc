#include "service/core/ttl_rules.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "service/base/saturated_add.h"

namespace ttl {

int64_t RemainingSeconds(int64_t expire_time, std::optional<int64_t> ttl, absl::Time now) {
  // The instant of expiry is a whole second, so rounding `now` down rounds the
  // remainder up.
  const int64_t now_seconds = absl::ToUnixSeconds(now);
  if (now_seconds >= expire_time) return 0;
  const int64_t most = ttl.value_or(std::numeric_limits<int64_t>::max());
  int64_t remaining = 0;
  if (__builtin_sub_overflow(expire_time, now_seconds, &remaining)) return most;
  return std::min(remaining, most);
}

bool IsLegalTs(int64_t ts, absl::Time now) {
  return ts >= kMinTs && absl::FromUnixSeconds(ts) <= now + kMaxTsAhead;
}

absl::Status ValidateTtl(absl::string_view field, std::optional<int64_t> ttl) {
  if (!ttl.has_value() || IsLegalTtl(*ttl)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(field, " is ", *ttl,
                                                 ": must be -1 (never expires) or 1 to ", kMaxTtl,
                                                 " seconds, or be left out"));
}

absl::Status ValidateExpireAt(absl::string_view field, std::optional<int64_t> expire_at) {
  if (!expire_at.has_value() || IsLegalExpireAt(*expire_at)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(field, " is ", *expire_at, ": must be Unix seconds, 1 to ", kMaxExpireAt,
                   " (the end of the year 9999), or be left out",
                   *expire_at > kMaxExpireAt ? " (is the value in milliseconds?)" : ""));
}

absl::Status ValidateTs(absl::string_view field, int64_t ts, absl::Time now) {
  if (IsLegalTs(ts, now)) return absl::OkStatus();
  if (ts < kMinTs) {
    return absl::InvalidArgumentError(
        absl::StrCat(field, " is ", ts, ": must be Unix seconds, at least ", kMinTs));
  }
  return absl::InvalidArgumentError(
      absl::StrCat(field, " is ", ts, ": must be at most ", absl::ToInt64Hours(kMaxTsAhead),
                   " hours ahead of the clock, which shows ", absl::ToUnixSeconds(now),
                   " (is the value in milliseconds instead of seconds?)"));
}

}  // namespace ttl
