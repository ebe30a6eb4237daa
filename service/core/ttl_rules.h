#ifndef TTL_SERVICE_CORE_TTL_RULES_H_
#define TTL_SERVICE_CORE_TTL_RULES_H_

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "service/base/saturated_add.h"

// The TTL rules of Azure Cosmos DB ("Time to Live (TTL) in Azure Cosmos DB") as pure functions. All
// times are whole Unix seconds in 64 bits, all durations whole seconds. This is the only place that
// decides whether an item is expired.
namespace ttl {

// ttl and default_ttl: this value means "never expires".
inline constexpr int64_t kNeverExpires = -1;
// Largest ttl and default_ttl, in seconds.
inline constexpr int64_t kMaxTtl = 2147483647;
// Smallest `_ts`, in Unix seconds.
inline constexpr int64_t kMinTs = 1;
// The year 2000. An item that was due earlier was stamped by a clock that was never set. It expires
// like any other, but does not count for the lateness of deletes.
inline constexpr int64_t kFirstSoundTime = 946684800;
// Largest expire_at, in Unix seconds: the last second of the year 9999.
inline constexpr int64_t kMaxExpireAt = 253402300799;
// A `_ts` may be ahead of our clock by at most this.
inline constexpr absl::Duration kMaxTsAhead = absl::Hours(24);

// The times of an item that the rules depend on.
struct ItemTimes {
  int64_t ts = 0;                         // last modification
  std::optional<int64_t> ttl = {};        // absent is a state of its own
  std::optional<int64_t> expire_at = {};  // Unix seconds; absent is a state of its own
  // When it was touched last, Unix seconds; 0: never. The store does not know it, so it is no part
  // of a version: see IsSameWrite().
  int64_t touch_time = 0;

  // From when on its ttl, or the default_ttl, counts: the later of `_ts` and the touch.
  int64_t base() const { return touch_time > ts ? touch_time : ts; }

  friend bool operator==(const ItemTimes&, const ItemTimes&) = default;
};

// Whether both are the times of one write in the store, however often it was touched.
inline bool IsSameWrite(const ItemTimes& a, const ItemTimes& b) {
  return a.ts == b.ts && a.ttl == b.ttl && a.expire_at == b.expire_at;
}

// Where the end of an item comes from: its own ttl, its own expire_at or its container's
// default_ttl; kNone if there is none, so that the item never expires. Values and meaning are those
// of TtlSource in item.proto.
enum class TtlSource { kNone = 1, kItem = 2, kContainer = 3, kExpireAt = 4 };

// The end that an item has of its own while TTL is on.
struct OwnEnd {
  enum class Kind {
    kInherited,  // none: its container's default_ttl decides
    kNever,
    kAt,
  };
  Kind kind = Kind::kInherited;
  int64_t time = 0;                     // of kAt: first second at which the item is expired
  TtlSource source = TtlSource::kNone;  // of kAt: kItem or kExpireAt

  friend bool operator==(const OwnEnd&, const OwnEnd&) = default;
};

// The earlier of base() + ttl and expire_at, by the ttl if both are the same; an item with either
// does not inherit. Never if the ttl is -1 and there is no expire_at, if the ttl or the expire_at
// is not legal, or if `_ts` is below kMinTs. A sum beyond 64 bits is the largest number instead.
OwnEnd ComputeOwnEnd(const ItemTimes& item);

// When an item expires, and because of what.
struct Expiry {
  std::optional<int64_t> time;           // first second at which it is expired; absent: never
  std::optional<int64_t> effective_ttl;  // seconds; absent if it never expires or by kExpireAt
  TtlSource source = TtlSource::kNone;

  friend bool operator==(const Expiry&, const Expiry&) = default;
};

// The rule: the item's own end, or else base() and its container's default_ttl. Without a
// default_ttl nothing expires. An illegal default_ttl counts as absent, because nothing may expire
// because of a policy that makes no sense.
Expiry ComputeExpiry(std::optional<int64_t> default_ttl, const ItemTimes& item);

// ComputeExpiry().time.
std::optional<int64_t> ExpireTime(std::optional<int64_t> default_ttl, const ItemTimes& item);

// Whether an item with that expire time is expired at `now`: from the first instant of that second
// on, not before.
inline bool IsExpiredAt(std::optional<int64_t> expire_time, absl::Time now) {
  return expire_time.has_value() && absl::ToUnixSeconds(now) >= *expire_time;
}

// Whole seconds, rounded up, that remain until `expire_time`; 0 once expired. At most the effective
// `ttl`, if there is one, even if the item was written in the future by the clock of `now`.
int64_t RemainingSeconds(int64_t expire_time, std::optional<int64_t> ttl, absl::Time now);

// Whether `ttl` is a legal ttl or default_ttl: -1 or 1..kMaxTtl.
inline bool IsLegalTtl(int64_t ttl) { return ttl == kNeverExpires || (ttl >= 1 && ttl <= kMaxTtl); }

// Whether `expire_at` is legal: 1..kMaxExpireAt. A time in the past is legal; the item is expired
// at once.
inline bool IsLegalExpireAt(int64_t expire_at) {
  return expire_at >= 1 && expire_at <= kMaxExpireAt;
}

// Whether the ttl and the expire_at of `item` are legal, or absent.
inline bool HasLegalEnd(const ItemTimes& item) {
  return (!item.ttl.has_value() || IsLegalTtl(*item.ttl)) &&
         (!item.expire_at.has_value() || IsLegalExpireAt(*item.expire_at));
}

// Whether `ts` can be a `_ts`: not below kMinTs, not more than a day ahead of `now`.
bool IsLegalTs(int64_t ts, absl::Time now);

// Whether an item can have these times at `now`. A check of an item that cannot answers VISIBLE.
inline bool IsPossible(const ItemTimes& item, absl::Time now) {
  return IsLegalTs(item.ts, now) && HasLegalEnd(item);
}

// INVALID_ARGUMENT, naming `field`, the value and what is allowed, if `ttl` is present and illegal.
absl::Status ValidateTtl(absl::string_view field, std::optional<int64_t> ttl);

// The same for an expire_at.
absl::Status ValidateExpireAt(absl::string_view field, std::optional<int64_t> expire_at);

// INVALID_ARGUMENT, naming `field`, the value and what is allowed, if `ts` is illegal.
absl::Status ValidateTs(absl::string_view field, int64_t ts, absl::Time now);

// Inline: a check judges every one of its keys by them.

inline OwnEnd ComputeOwnEnd(const ItemTimes& item) {
  using Kind = OwnEnd::Kind;
  if (item.ts < kMinTs || !HasLegalEnd(item)) return {Kind::kNever};
  const bool has_ttl = item.ttl.has_value() && *item.ttl != kNeverExpires;
  if (!has_ttl && !item.expire_at.has_value()) {
    return {item.ttl.has_value() ? Kind::kNever : Kind::kInherited};
  }
  const int64_t by_ttl = has_ttl ? SaturatedAdd(item.base(), *item.ttl) : 0;
  if (has_ttl && (!item.expire_at.has_value() || by_ttl <= *item.expire_at)) {
    return {Kind::kAt, by_ttl, TtlSource::kItem};
  }
  return {Kind::kAt, *item.expire_at, TtlSource::kExpireAt};
}

inline Expiry ComputeExpiry(std::optional<int64_t> default_ttl, const ItemTimes& item) {
  if (!default_ttl.has_value() || !IsLegalTtl(*default_ttl)) return {};
  const OwnEnd own = ComputeOwnEnd(item);
  switch (own.kind) {
    case OwnEnd::Kind::kNever:
      return {};
    case OwnEnd::Kind::kAt:
      return {own.time, own.source == TtlSource::kItem ? item.ttl : std::nullopt, own.source};
    case OwnEnd::Kind::kInherited:
      break;
  }
  if (*default_ttl == kNeverExpires) return {};
  return {SaturatedAdd(item.base(), *default_ttl), default_ttl, TtlSource::kContainer};
}

inline std::optional<int64_t> ExpireTime(std::optional<int64_t> default_ttl,
                                         const ItemTimes& item) {
  return ComputeExpiry(default_ttl, item).time;
}

}  // namespace ttl

#endif  // TTL_SERVICE_CORE_TTL_RULES_H_
