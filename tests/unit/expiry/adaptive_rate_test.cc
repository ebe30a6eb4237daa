#include "service/expiry/pace/adaptive_rate.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace ttl {
namespace {

// Deletes `count` a second, in a hundred batches, for so many seconds.
absl::Duration DeleteFor(AdaptiveRate& rate, int64_t count, int seconds, absl::Duration now) {
  for (int batch = 0; batch < seconds * 100; ++batch) {
    now += absl::Milliseconds(10);
    rate.NoteSent(count / 100, now);
    rate.NoteDeleted(count / 100, now);
  }
  return now;
}

TEST(AdaptiveRateTest, WithoutPushBackItSaysNothing) {
  AdaptiveRate rate;
  const absl::Duration now = DeleteFor(rate, 1000, 5, absl::ZeroDuration());
  EXPECT_EQ(rate.Get(now), std::nullopt);
}

TEST(AdaptiveRateTest, PushBackHalvesWhatWasDeletedInTheLastSecond) {
  for (const int64_t before : {200, 1000, 44'000}) {
    AdaptiveRate rate;
    const absl::Duration now = DeleteFor(rate, before, 3, absl::ZeroDuration());
    const double half = static_cast<double>(before) / 2;
    rate.PushBack(now);
    EXPECT_NEAR(*rate.Get(now), half, half * 0.03);
    // What is in the last second is still mostly the same.
    rate.PushBack(now + absl::Milliseconds(100));
    EXPECT_NEAR(*rate.Get(now + absl::Milliseconds(100)), half, half * 0.13);
  }
}

TEST(AdaptiveRateTest, WhatWasSentButNotDeletedDoesNotCount) {
  AdaptiveRate rate;
  const absl::Duration now = DeleteFor(rate, 1000, 3, absl::ZeroDuration());
  rate.NoteSent(100'000, now);
  rate.PushBack(now);
  EXPECT_NEAR(*rate.Get(now), 500, 15);
}

// However long the store refuses everything.
TEST(AdaptiveRateTest, TenSecondsAfterTheLastPushBackTheOldRateIsBack) {
  for (const int seconds : {0, 3, 60, 3600}) {
    AdaptiveRate rate;
    absl::Duration now = DeleteFor(rate, 44'000, 3, absl::ZeroDuration());
    const absl::Duration end = now + absl::Seconds(seconds);
    rate.PushBack(now);
    while (now < end) {
      now += absl::Milliseconds(700);
      rate.NoteSent(1, now);
      rate.PushBack(now);
    }
    EXPECT_LE(*rate.Get(now), 22'440);
    EXPECT_LE(*rate.Get(now + absl::Seconds(2)), 0.6 * 44'000) << "step by step";
    EXPECT_GE(*rate.Get(now + absl::Seconds(9)), 0.9 * 43'000);
    EXPECT_GE(*rate.Get(now + absl::Seconds(10)), 0.97 * 44'000);
    EXPECT_TRUE(rate.Get(now + absl::Seconds(12)).has_value());
    EXPECT_EQ(rate.Get(now + absl::Seconds(13)), std::nullopt);
  }
}

TEST(AdaptiveRateTest, AStoreThatIsIdleWhenItPushesBackIsFoundAgainToo) {
  AdaptiveRate rate;
  rate.NoteSent(500, absl::Seconds(50));
  rate.PushBack(absl::Seconds(51));
  EXPECT_EQ(*rate.Get(absl::Seconds(51)), AdaptiveRate::kFloor);
  EXPECT_GE(*rate.Get(absl::Seconds(61)), 500);
}

// A store that bears less than before: the rate goes around what it bears.
TEST(AdaptiveRateTest, AStoreThatBearsLessThanBeforeIsNotAskedForMoreAgainAndAgain) {
  AdaptiveRate rate;
  absl::Duration now = DeleteFor(rate, 10'000, 5, absl::ZeroDuration());
  constexpr double kBearable = 3000;
  int push_backs = 0;
  double deleted = 0;
  for (int i = 0; i < 6000; ++i) {  // a minute
    now += absl::Milliseconds(10);
    const double wanted = rate.Get(now).value_or(10'000);
    const double done = std::min(wanted, kBearable) / 100;
    rate.NoteSent(static_cast<int64_t>(wanted / 100), now);
    rate.NoteDeleted(static_cast<int64_t>(done), now);
    deleted += done;
    if (wanted <= kBearable) continue;
    rate.PushBack(now);
    ++push_backs;
  }
  EXPECT_LE(push_backs, 100);
  EXPECT_GE(deleted, 0.6 * 60 * kBearable);
}

TEST(AdaptiveRateTest, UnderLastingPushBackTheBacklogStillMoves) {
  AdaptiveRate rate;
  absl::Duration now = DeleteFor(rate, 100'000, 3, absl::ZeroDuration());
  for (int i = 0; i < 600; ++i) {
    rate.PushBack(now);
    EXPECT_GE(*rate.Get(now), AdaptiveRate::kFloor);
    now += absl::Milliseconds(100);
  }
  EXPECT_LE(*rate.Get(now - absl::Milliseconds(100)), 5);
}

RC_GTEST_PROP(AdaptiveRatePropertyTest, NeverBelowTheFloorAndNeverMoreThanGrowthAllows, ()) {
  AdaptiveRate rate;
  absl::Duration now;
  std::optional<double> last;
  const auto steps = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 4));
  for (const int step : steps) {
    if (step == 0) rate.NoteSent(*rc::gen::inRange<int64_t>(1, 100'000), now);
    if (step == 1) rate.PushBack(now);
    if (step == 3) rate.NoteDeleted(*rc::gen::inRange<int64_t>(1, 100'000), now);
    if (step == 2) now += absl::Milliseconds(*rc::gen::inRange(1, 5000));
    const std::optional<double> next = rate.Get(now);
    if (next.has_value()) RC_ASSERT(*next >= AdaptiveRate::kFloor);
    if (step == 1 && last.has_value()) RC_ASSERT(next.has_value() && *next <= *last);
    last = next;
  }
}

}  // namespace
}  // namespace ttl
