#include "service/core/ttl_rules.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "service/base/saturated_add.h"

namespace ttl {
namespace {

EffectiveTtl TtlFrom(TtlSource source, int64_t ttl) {
  if (ttl == kNeverExpires || !IsLegalTtl(ttl)) return {};
  return {ttl, source};
}

}  // namespace

EffectiveTtl ComputeEffectiveTtl(std::optional<int64_t> default_ttl, std::optional<int64_t> ttl) {
  if (!default_ttl.has_value() || !IsLegalTtl(*default_ttl)) return {};
  if (ttl.has_value()) return TtlFrom(TtlSource::kItem, *ttl);
  return TtlFrom(TtlSource::kContainer, *default_ttl);
}

std::optional<int64_t> ExpireTime(std::optional<int64_t> default_ttl, const ItemTimes& item) {
  if (item.ts < kMinTs) return std::nullopt;
  const EffectiveTtl effective = ComputeEffectiveTtl(default_ttl, item.ttl);
  if (!effective.seconds.has_value()) return std::nullopt;
  return SaturatedAdd(item.ts, *effective.seconds);
}

int64_t RemainingSeconds(int64_t expire_time, int64_t ttl, absl::Time now) {
  // The instant of expiry is a whole second, so rounding `now` down rounds the
  // remainder up.
  const int64_t now_seconds = absl::ToUnixSeconds(now);
  if (now_seconds >= expire_time) return 0;
  int64_t remaining = 0;
  if (__builtin_sub_overflow(expire_time, now_seconds, &remaining)) return ttl;
  return std::min(remaining, ttl);
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
