#include "service/core/policy_effect.h"

#include <cstdint>
#include <cstdlib>
#include <optional>

#include "absl/time/time.h"
#include "gtest/gtest.h"

namespace ttl {
namespace {

constexpr int64_t kEffectNow = 1'800'000'000;
constexpr int64_t kHour = 3600;
const absl::Time kNowTime = absl::FromUnixSeconds(kEffectNow);

constexpr Policy kOff = {};

Policy DefaultTtl(int64_t seconds, int64_t delay = 0) { return {seconds, delay}; }

// One inheriting item for each second of age up to `count`, all of them counted.
TallyView OnePerSecond(int64_t count) {
  TallyView view;
  for (int64_t age = 1; age <= count; ++age)
    view.histogram.Add({kEffectNow - age, std::nullopt}, 10);
  view.tracked = view.histogram.total();
  view.complete = true;
  return view;
}

TEST(PolicyEffectTest, FiguresOfAChange) {
  struct Case {
    const char* name;
    Policy present, next;
    int64_t newly_expired, newly_visible, newly_due;
  };
  const Case cases[] = {
      {"set", kOff, DefaultTtl(100), 401, 0, 401},
      {"removed", DefaultTtl(100), kOff, 0, 401, 0},
      {"shortened", DefaultTtl(100), DefaultTtl(50), 50, 0, 50},
      {"lengthened", DefaultTtl(50), DefaultTtl(100), 0, 50, 0},
      {"longer than any item is old", kOff, DefaultTtl(501), 0, 0, 0},
      {"set, with a delay", kOff, DefaultTtl(100, 50), 401, 0, 351},
      {"delay shortened", DefaultTtl(100, 50), DefaultTtl(100), 0, 0, 50},
      {"delay lengthened", DefaultTtl(100), DefaultTtl(100, 50), 0, 0, 0},
      {"ttl shortened, delay lengthened as much", DefaultTtl(100), DefaultTtl(50, 50), 50, 0, 0},
      {"the same", DefaultTtl(100), DefaultTtl(100), 0, 0, 0},
      {"to own ttls only", DefaultTtl(100), DefaultTtl(kNeverExpires), 0, 401, 0},
  };
  const TallyView view = OnePerSecond(500);
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const PolicyEffect effect = ComputePolicyEffect(view, c.present, c.next, kNowTime);
    EXPECT_EQ(effect.newly_expired_items, c.newly_expired);
    EXPECT_EQ(effect.newly_visible_items, c.newly_visible);
    EXPECT_EQ(effect.newly_due_items, c.newly_due);
    EXPECT_EQ(effect.newly_due_at_most, c.newly_due);
    EXPECT_EQ(effect.error_bound_items, 0);
  }
}

TEST(PolicyEffectTest, ItemsWithATtlOfTheirOwnFollowTheSwitch) {
  TallyView view;
  view.histogram.Add({kEffectNow - 100, 60}, 1);
  view.histogram.Add({kEffectNow - 100, 200}, 1);
  view.complete = true;
  view.tracked = view.histogram.total();
  const Policy on = DefaultTtl(kNeverExpires);
  EXPECT_EQ(ComputePolicyEffect(view, kOff, on, kNowTime).newly_expired_items, 1);
  EXPECT_EQ(ComputePolicyEffect(view, on, kOff, kNowTime).newly_visible_items, 1);
  EXPECT_EQ(ComputePolicyEffect(view, on, DefaultTtl(1), kNowTime).newly_expired_items, 0);
}

TEST(PolicyEffectTest, TheForecastSaysWhatExpiresWithinEachHour) {
  TallyView view;
  view.complete = true;
  const auto expires_at = [&](int64_t time) {
    view.histogram.Add({kEffectNow - 1, time - kEffectNow + 1}, 1);
  };
  expires_at(kEffectNow);                   // expired already
  expires_at(kEffectNow + 1);               // within the first hour
  expires_at(kEffectNow + kHour);           // still
  expires_at(kEffectNow + kHour + 1);       // the second
  expires_at(kEffectNow + 24 * kHour);      // the last
  expires_at(kEffectNow + 24 * kHour + 1);  // beyond
  const HourlyItems hours = ForecastPerHour(view.histogram, DefaultTtl(kNeverExpires), kNowTime);
  HourlyItems expected{};
  expected[0] = 2;
  expected[1] = 1;
  expected[23] = 1;
  EXPECT_EQ(hours, expected);
  EXPECT_EQ(ComputePolicyEffect(view, kOff, DefaultTtl(kNeverExpires), kNowTime).expiring_per_hour,
            expected);
  EXPECT_EQ(ForecastPerHour(view.histogram, kOff, kNowTime), HourlyItems{});
}

TEST(PolicyEffectTest, ExpiredItemsAreCountedFromTheirSecondOnWhateverTheDelay) {
  const TallyView view = OnePerSecond(500);
  EXPECT_EQ(CountExpired(view.histogram, DefaultTtl(500), kNowTime).sum, (ItemSum{1, 10}));
  EXPECT_EQ(CountExpired(view.histogram, DefaultTtl(500, 99), kNowTime).sum, (ItemSum{1, 10}));
  EXPECT_EQ(CountExpired(view.histogram, DefaultTtl(501), kNowTime).sum.items, 0);
  EXPECT_EQ(CountExpired(view.histogram, kOff, kNowTime).sum.items, 0);
}

TEST(PolicyEffectTest, EstimatesCarryABoundAndTheBrakeGoesByTheUpperOne) {
  const TallyView view = OnePerSecond(100'000);
  const PolicyEffect effect =
      ComputePolicyEffect(view, DefaultTtl(50'001), DefaultTtl(1001), kNowTime);
  EXPECT_GT(effect.error_bound_items, 0);
  EXPECT_LE(effect.error_bound_items, 1000);
  EXPECT_LE(std::abs(effect.newly_due_items - 49'000), effect.error_bound_items);
  EXPECT_GE(effect.newly_due_at_most, 49'000);
}

TEST(PolicyEffectTest, WhileNotAllIsCountedAllThatIsTrackedMayBeNewlyDue) {
  TallyView view = OnePerSecond(10);
  view.complete = false;
  view.tracked.items = 1000;
  EXPECT_EQ(ComputePolicyEffect(view, kOff, DefaultTtl(1), kNowTime).newly_due_at_most, 1000);
  EXPECT_EQ(ComputePolicyEffect(view, DefaultTtl(1), kOff, kNowTime).newly_due_at_most, 0);
  EXPECT_EQ(ComputePolicyEffect(view, DefaultTtl(1), DefaultTtl(1), kNowTime).newly_due_at_most, 0);
}

TEST(PolicyBrakeTest, PullsBeyondEitherLimit) {
  struct Case {
    PolicyBrake brake;
    int64_t newly_due;
    bool pulls;
  };
  const Case cases[] = {
      {{100, std::nullopt, 60}, 100, false},
      {{100, std::nullopt, 60}, 101, true},
      {{0, std::nullopt, 60}, 0, false},
      {{0, std::nullopt, 60}, 1, true},
      {{std::nullopt, 10.0, 60}, 100, false},
      {{std::nullopt, 10.0, 60}, 101, true},
      {{std::nullopt, 0.0, 60}, 0, false},
      {{std::nullopt, 0.0, 60}, 1, true},
      {{std::nullopt, 100.0, 60}, 1000, false},
      {{500, 10.0, 60}, 101, true},
      {{50, 90.0, 60}, 51, true},
  };
  for (const Case& c : cases) EXPECT_EQ(PullsBrake(c.brake, c.newly_due, 1000), c.pulls);
}

}  // namespace
}  // namespace ttl
