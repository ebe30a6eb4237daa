#include "service/expiry/adaptive_rate.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace ttl {
namespace {

// Sends `count` deletes a second, in ten batches, for so many seconds.
absl::Duration SendFor(AdaptiveRate& rate, int64_t count, int seconds, absl::Duration now) {
  for (int batch = 0; batch < seconds * 10; ++batch) {
    rate.NoteSent(count / 10, now);
    now += absl::Milliseconds(100);
  }
  return now;
}

TEST(AdaptiveRateTest, WithoutPushBackItSaysNothing) {
  AdaptiveRate rate{absl::ZeroDuration()};
  const absl::Duration now = SendFor(rate, 1000, 5, absl::ZeroDuration());
  EXPECT_EQ(rate.Get(now), std::nullopt);
}

TEST(AdaptiveRateTest, PushBackHalvesWhatIsSentAtOnce) {
  AdaptiveRate rate{absl::ZeroDuration()};
  const absl::Duration now = SendFor(rate, 1000, 3, absl::ZeroDuration());
  rate.PushBack(now);
  EXPECT_NEAR(*rate.Get(now), 500, 1);
}

TEST(AdaptiveRateTest, ManyPushBacksWithinOneStepAreOne) {
  AdaptiveRate rate{absl::ZeroDuration()};
  const absl::Duration now = SendFor(rate, 1000, 3, absl::ZeroDuration());
  for (int i = 0; i < 10; ++i) rate.PushBack(now + absl::Milliseconds(90) * i);
  EXPECT_NEAR(*rate.Get(now), 500, 1);
  rate.PushBack(now + AdaptiveRate::kStep);
  EXPECT_LT(*rate.Get(now + AdaptiveRate::kStep), 500);
}

TEST(AdaptiveRateTest, ItGrowsBackStepByStepUntilItSaysNoMore) {
  AdaptiveRate rate{absl::ZeroDuration()};
  absl::Duration now = SendFor(rate, 1000, 3, absl::ZeroDuration());
  rate.PushBack(now);
  std::optional<double> last = rate.Get(now);
  int steps = 0;
  while (last.has_value()) {
    now += AdaptiveRate::kStep;
    const std::optional<double> next = rate.Get(now);
    if (next.has_value()) {
      EXPECT_GT(*next, *last);
      EXPECT_LE(*next, *last * 1.25);
    }
    last = next;
    ASSERT_LT(++steps, 20);
  }
  EXPECT_GE(steps, 4);  // not back to where it hurt within a moment
}

TEST(AdaptiveRateTest, UnderLastingPushBackTheBacklogStillMoves) {
  AdaptiveRate rate{absl::ZeroDuration()};
  absl::Duration now = SendFor(rate, 100'000, 3, absl::ZeroDuration());
  for (int i = 0; i < 60; ++i) {
    rate.PushBack(now);
    EXPECT_GE(*rate.Get(now), AdaptiveRate::kFloor);
    now = SendFor(rate, 0, 1, now);
  }
  EXPECT_LE(*rate.Get(now), 5);
}

RC_GTEST_PROP(AdaptiveRatePropertyTest, NeverBelowTheFloorAndNeverMoreThanGrowthAllows, ()) {
  AdaptiveRate rate{absl::ZeroDuration()};
  absl::Duration now;
  std::optional<double> last;
  const auto steps = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 3));
  for (const int step : steps) {
    if (step == 0) rate.NoteSent(*rc::gen::inRange<int64_t>(1, 100'000), now);
    if (step == 1) rate.PushBack(now);
    if (step == 2) now += absl::Milliseconds(*rc::gen::inRange(1, 5000));
    const std::optional<double> next = rate.Get(now);
    if (next.has_value()) RC_ASSERT(*next >= AdaptiveRate::kFloor);
    if (step == 1 && last.has_value()) RC_ASSERT(next.has_value() && *next <= *last);
    last = next;
  }
}

}  // namespace
}  // namespace ttl
