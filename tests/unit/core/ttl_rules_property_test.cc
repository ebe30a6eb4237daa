#include <algorithm>
#include <cstdint>
#include <optional>

#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "rapidcheck/gtest.h"
#include "service/core/ttl_rules.h"
#include "tests/unit/core/generators.h"

namespace ttl {
namespace {

using generators::AnyTtl;
using generators::InstantNear;
using generators::Item;
using generators::kMaxInt64;
using generators::LegalTtl;
using generators::MaybeTtl;
using generators::Ts;

using Wide = __int128;

// The published rules once more, in the plainest way: whether an item is expired
// `nanos` nanoseconds after the epoch.
bool ModelIsExpired(std::optional<int64_t> default_ttl, const ItemTimes& item, Wide nanos) {
  const auto is_positive = [](std::optional<int64_t> ttl) {
    return *ttl > 0 && *ttl <= 2147483647;
  };
  if (!default_ttl || (*default_ttl != -1 && !is_positive(default_ttl))) return false;
  const bool is_strange = item.expire_at && (*item.expire_at < 1 || *item.expire_at > 253402300799);
  if (is_strange || (item.ttl && *item.ttl != -1 && !is_positive(item.ttl))) return false;
  if (item.expire_at && nanos >= Wide{*item.expire_at} * 1'000'000'000) return true;
  const bool inherits = !item.ttl && !item.expire_at;
  const std::optional<int64_t> ttl = inherits ? default_ttl : item.ttl;
  if (!ttl || !is_positive(ttl)) return false;
  return nanos >= (Wide{item.ts} + Wide{*ttl}) * 1'000'000'000;
}

Wide ToNanos(absl::Time time) {
  const int64_t seconds = absl::ToUnixSeconds(time);
  return Wide{seconds} * 1'000'000'000 +
         absl::ToInt64Nanoseconds(time - absl::FromUnixSeconds(seconds));
}

// An instant that is interesting for the item.
absl::Time InstantFor(std::optional<int64_t> default_ttl, const ItemTimes& item) {
  return *InstantNear(ExpireTime(default_ttl, item).value_or(item.ts));
}

RC_GTEST_PROP(TtlRulesProperty, AgreesWithThePublishedTable, ()) {
  const auto default_ttl = *MaybeTtl(AnyTtl());
  ItemTimes item = *Item(AnyTtl());
  // Beyond that the clock of the process ends before the item does.
  item.ts = std::min(item.ts, kMaxInt64 - 2 * kMaxTtl);
  const absl::Time now = InstantFor(default_ttl, item);
  RC_ASSERT(IsExpiredAt(ExpireTime(default_ttl, item), now) ==
            ModelIsExpired(default_ttl, item, ToNanos(now)));
}

RC_GTEST_PROP(TtlRulesProperty, ExpireTimeIsTheSumOrTheLargestNumberOrTheExpireAt, ()) {
  const auto default_ttl = *MaybeTtl(AnyTtl());
  const ItemTimes item = *Item(AnyTtl());
  const Expiry expiry = ComputeExpiry(default_ttl, item);
  RC_ASSERT((expiry.source == TtlSource::kNone) == !expiry.time.has_value());
  if (!expiry.time.has_value()) return;
  RC_ASSERT((expiry.source == TtlSource::kExpireAt) == !expiry.effective_ttl.has_value());
  const Wide sum = Wide{item.ts} + expiry.effective_ttl.value_or(0);
  RC_ASSERT((Wide{*expiry.time} ==
             (expiry.effective_ttl ? std::min(sum, Wide{kMaxInt64}) : Wide{*item.expire_at})));
}

RC_GTEST_PROP(TtlRulesProperty, ExpiredStaysExpired, ()) {
  const auto default_ttl = *MaybeTtl(LegalTtl());
  const ItemTimes item = *Item(LegalTtl());
  const absl::Time now = InstantFor(default_ttl, item);
  const absl::Time later = now + absl::Nanoseconds(*rc::gen::nonNegative<int64_t>());
  const auto expire_time = ExpireTime(default_ttl, item);
  RC_ASSERT(!IsExpiredAt(expire_time, now) || IsExpiredAt(expire_time, later));
}

RC_GTEST_PROP(TtlRulesProperty, WritingAnItemLaterNeverExpiresItEarlier, ()) {
  const auto default_ttl = *MaybeTtl(LegalTtl());
  const ItemTimes item = *Item(LegalTtl());
  ItemTimes rewritten = item;
  rewritten.ts = std::max(item.ts, *Ts());
  const auto before = ExpireTime(default_ttl, item);
  const auto after = ExpireTime(default_ttl, rewritten);
  RC_ASSERT(before.has_value() == after.has_value());
  RC_ASSERT((before <= after));
}

RC_GTEST_PROP(TtlRulesProperty, OwnTtlDoesNotDependOnTheSizeOfTheDefault, ()) {
  const ItemTimes item = {*Ts(), *LegalTtl()};
  RC_ASSERT((ExpireTime(*LegalTtl(), item) == ExpireTime(*LegalTtl(), item)));
}

RC_GTEST_PROP(TtlRulesProperty, NothingExpiresWhileTtlIsOff, ()) {
  RC_ASSERT(!ExpireTime(std::nullopt, *Item(AnyTtl())).has_value());
}

RC_GTEST_PROP(TtlRulesProperty, RemainingSecondsAreTheLeastThatReachTheExpireTime, ()) {
  const int64_t expire_time = *rc::gen::inRange<int64_t>(1, 10'000'000'000);
  const absl::Time now = *InstantNear(expire_time - *rc::gen::inRange<int64_t>(0, 100));
  const int64_t remaining = RemainingSeconds(expire_time, kMaxTtl, now);
  RC_ASSERT(remaining >= 0);
  RC_ASSERT((remaining == 0) == IsExpiredAt(expire_time, now));
  RC_ASSERT(IsExpiredAt(expire_time, now + absl::Seconds(remaining)));
  if (remaining > 0) RC_ASSERT(!IsExpiredAt(expire_time, now + absl::Seconds(remaining - 1)));
}

RC_GTEST_PROP(TtlRulesProperty, RemainingSecondsAreAtMostTheTtl, ()) {
  const int64_t ts = *rc::gen::inRange<int64_t>(1, 5'000'000'000);
  const int64_t ttl = *rc::gen::inRange<int64_t>(1, kMaxTtl + 1);
  // Also while ts is in the future.
  const absl::Time now = absl::FromUnixSeconds(ts) +
                         absl::Seconds(*rc::gen::inRange<int64_t>(-10'000'000, 10'000'000));
  RC_ASSERT(RemainingSeconds(*ExpireTime(-1, {ts, ttl}), ttl, now) <= ttl);
}

}  // namespace
}  // namespace ttl
