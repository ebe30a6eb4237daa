#ifndef TTL_SERVICE_CORE_TTL_RULES_H_
#define TTL_SERVICE_CORE_TTL_RULES_H_

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

// The TTL rules of Azure Cosmos DB ("Time to Live (TTL) in Azure Cosmos DB") as
// pure functions. All times are whole Unix seconds in 64 bits, all durations
// whole seconds. This is the only place that decides whether an item is expired.
namespace ttl {

// ttl and default_ttl: this value means "never expires".
inline constexpr int64_t kNeverExpires = -1;
// Largest ttl and default_ttl, in seconds.
inline constexpr int64_t kMaxTtl = 2147483647;
// Smallest `_ts`, in Unix seconds.
inline constexpr int64_t kMinTs = 1;
// The year 2000. What is due earlier was stamped by a clock that was never set: it expires like
// any other, but does not tell how late its delete is.
inline constexpr int64_t kFirstSoundTime = 946684800;
// A `_ts` may be ahead of our clock by at most this.
inline constexpr absl::Duration kMaxTsAhead = absl::Hours(24);

// What an item brings to the rules.
struct ItemTimes {
  int64_t ts = 0;              // last modification
  std::optional<int64_t> ttl;  // absent is a state of its own

  friend bool operator==(const ItemTimes&, const ItemTimes&) = default;
};

// Where an effective ttl comes from; kNone if there is none, so that the item
// never expires.
enum class TtlSource { kNone, kItem, kContainer };

// The ttl that counts for an item. `seconds` is absent if it never expires.
struct EffectiveTtl {
  std::optional<int64_t> seconds;
  TtlSource source = TtlSource::kNone;

  friend bool operator==(const EffectiveTtl&, const EffectiveTtl&) = default;
};

// The 3x3 table: the item's ttl against its container's default_ttl. A ttl that
// is not legal never expires; one that is absent inherits. A default_ttl that is
// not legal counts as absent: nothing expires by a policy that makes no sense.
EffectiveTtl ComputeEffectiveTtl(std::optional<int64_t> default_ttl, std::optional<int64_t> ttl);

// First second at which the item is expired; absent if it never is, as with a
// `_ts` below kMinTs. A sum beyond 64 bits is the largest number instead.
std::optional<int64_t> ExpireTime(std::optional<int64_t> default_ttl, const ItemTimes& item);

// Whether an item of that expire time is expired at `now`: from the first
// instant of the second on, not before.
inline bool IsExpiredAt(std::optional<int64_t> expire_time, absl::Time now) {
  return expire_time.has_value() && absl::ToUnixSeconds(now) >= *expire_time;
}

// Whole seconds, rounded up, that remain until `expire_time`; 0 once expired. At most `ttl`, the
// effective one: what was written in the future, by the clock of now, is as new as it can be.
int64_t RemainingSeconds(int64_t expire_time, int64_t ttl, absl::Time now);

// Whether `ttl` is a legal ttl or default_ttl: -1 or 1..kMaxTtl.
inline bool IsLegalTtl(int64_t ttl) { return ttl == kNeverExpires || (ttl >= 1 && ttl <= kMaxTtl); }

// Whether `ts` can be a `_ts`: not below kMinTs, not more than a day ahead of `now`.
bool IsLegalTs(int64_t ts, absl::Time now);

// Whether an item can be like that at `now`; one that cannot is shown.
inline bool IsPossible(const ItemTimes& item, absl::Time now) {
  return IsLegalTs(item.ts, now) && (!item.ttl.has_value() || IsLegalTtl(*item.ttl));
}

// INVALID_ARGUMENT, naming `field`, the value and what is allowed, if `ttl` is
// present and not legal.
absl::Status ValidateTtl(absl::string_view field, std::optional<int64_t> ttl);

// INVALID_ARGUMENT, naming `field`, the value and what is allowed, if `ts` is not
// legal.
absl::Status ValidateTs(absl::string_view field, int64_t ts, absl::Time now);

}  // namespace ttl

#endif  // TTL_SERVICE_CORE_TTL_RULES_H_
