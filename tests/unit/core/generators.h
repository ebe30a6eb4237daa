#ifndef TTL_TESTS_UNIT_CORE_GENERATORS_H_
#define TTL_TESTS_UNIT_CORE_GENERATORS_H_

#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "rapidcheck/gtest.h"
#include "service/core/container.h"
#include "service/core/ttl_rules.h"

// Values for property tests, with those at the edges of their ranges often.
namespace ttl::generators {

inline constexpr int64_t kMaxInt64 = std::numeric_limits<int64_t>::max();

inline rc::Gen<int64_t> OneOf(std::vector<int64_t> values) {
  return rc::gen::elementOf(std::move(values));
}

inline rc::Gen<int64_t> LegalTtl() {
  return rc::gen::oneOf(rc::gen::inRange<int64_t>(1, 100),
                        rc::gen::inRange<int64_t>(1, kMaxTtl + 1),
                        OneOf({kNeverExpires, 1, kMaxTtl - 1, kMaxTtl}));
}

inline rc::Gen<int64_t> AnyTtl() {
  return rc::gen::oneOf(
      LegalTtl(), rc::gen::arbitrary<int64_t>(),
      OneOf({0, -2, int64_t{1} << 31, (int64_t{1} << 32) - 1, (int64_t{1} << 32) + 60, kMaxInt64,
             std::numeric_limits<int64_t>::min()}));
}

// Absent in one of three cases.
inline rc::Gen<std::optional<int64_t>> MaybeTtl(rc::Gen<int64_t> ttl) {
  return rc::gen::mapcat(rc::gen::inRange(0, 3), [ttl](int kind) {
    if (kind == 0) return rc::gen::just(std::optional<int64_t>());
    return rc::gen::map(ttl, [](int64_t value) { return std::optional<int64_t>(value); });
  });
}

inline rc::Gen<int64_t> Ts() {
  return rc::gen::oneOf(rc::gen::inRange<int64_t>(1, 200),
                        rc::gen::inRange<int64_t>(1, 5'000'000'000),
                        OneOf({1, (int64_t{1} << 31) - 1, int64_t{1} << 31, int64_t{1} << 32,
                               kMaxInt64 - kMaxTtl, kMaxInt64 - 1, kMaxInt64}));
}

// Mostly legal.
inline rc::Gen<int64_t> ExpireAt() {
  return rc::gen::oneOf(rc::gen::inRange<int64_t>(1, 300),
                        rc::gen::inRange<int64_t>(1, 5'000'000'000),
                        OneOf({1, kMaxExpireAt, 0, -1, kMaxExpireAt + 1, kMaxInt64}));
}

inline rc::Gen<ItemTimes> Item(rc::Gen<int64_t> ttl) {
  return rc::gen::build<ItemTimes>(rc::gen::set(&ItemTimes::ts, Ts()),
                                   rc::gen::set(&ItemTimes::ttl, MaybeTtl(ttl)),
                                   rc::gen::set(&ItemTimes::expire_at, MaybeTtl(ExpireAt())));
}

// An instant within some seconds of `second`, mostly not on a second.
inline rc::Gen<absl::Time> InstantNear(int64_t second) {
  const absl::Time middle = absl::FromUnixSeconds(second);
  return rc::gen::map(
      rc::gen::oneOf(OneOf({-1, 0, 1}), rc::gen::inRange<int64_t>(-3'000'000'000, 3'000'000'000)),
      [middle](int64_t nanos) { return middle + absl::Nanoseconds(nanos); });
}

inline rc::Gen<Policy> AnyPolicy() {
  const auto delay = rc::gen::oneOf(rc::gen::just<int64_t>(0), rc::gen::inRange<int64_t>(0, 100),
                                    rc::gen::just(kMaxDelaySeconds));
  return rc::gen::build<Policy>(rc::gen::set(&Policy::default_ttl, MaybeTtl(LegalTtl())),
                                rc::gen::set(&Policy::delay_seconds, delay));
}

}  // namespace ttl::generators

#endif  // TTL_TESTS_UNIT_CORE_GENERATORS_H_
