#include "service/core/forecast.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "gtest/gtest.h"
#include "rapidcheck/gtest.h"
#include "service/core/due_rules.h"

namespace ttl {
namespace {

constexpr int64_t kBegin = 1'800'000'000;

// With one rate from `begin` on.
std::optional<int64_t> FindBacklogEnd(const std::vector<int64_t>& times,
                                      const std::vector<int64_t>& due, double per_second,
                                      int64_t begin) {
  const RateStep rate = {begin, per_second};
  return ttl::FindBacklogEnd(times, due, {rate});
}

std::vector<int64_t> TimesEvery(int64_t seconds, int steps) {
  std::vector<int64_t> times;
  for (int i = 0; i <= steps; ++i) times.push_back(kBegin + i * seconds);
  return times;
}

TEST(ForecastTest, ItemsExpireWithoutDelayAndBecomeDueWithIt) {
  const Policy policy = {60, 10};
  const std::vector<int64_t> times = TimesEvery(100, 1);
  for (const DueMoment& moment : ExpiryMoments(policy, times)) {
    EXPECT_EQ(moment.rule, (DueRule{60, 0}));
  }
  for (const DueMoment& moment : DueMoments(policy, {}, times)) {
    EXPECT_EQ(moment.rule, (DueRule{70, 10}));
  }
}

TEST(ForecastTest, AReplacedPolicyIsRespectedUntilItsEnd) {
  const ReplacedPolicy replaced = {{1000, 0}, absl::FromUnixSeconds(kBegin + 100)};
  const std::vector<DueMoment> moments = DueMoments({60, 0}, {replaced}, TimesEvery(100, 2));
  EXPECT_EQ(moments[0].rule.inherited_wait, 1000);
  EXPECT_EQ(moments[1].rule.inherited_wait, 60);
  EXPECT_EQ(moments[2].rule.inherited_wait, 60);
  EXPECT_EQ(moments[2].time, kBegin + 200);
}

TEST(ForecastTest, WithoutABacklogItEndsNow) {
  EXPECT_EQ(FindBacklogEnd(TimesEvery(10, 2), {0, 100, 100}, 0, kBegin), kBegin);
}

TEST(ForecastTest, ABacklogEndsWhenItIsDeleted) {
  EXPECT_EQ(FindBacklogEnd(TimesEvery(10, 3), {25, 0, 0, 0}, 1, kBegin), kBegin + 25);
  EXPECT_EQ(FindBacklogEnd(TimesEvery(10, 3), {25, 0, 0, 0}, 10, kBegin), kBegin + 3);
  EXPECT_EQ(FindBacklogEnd(TimesEvery(10, 3), {30, 0, 0, 0}, 1, kBegin), kBegin + 30);
}

TEST(ForecastTest, WhatBecomesDueMeanwhileIsDeletedToo) {
  // 5 of the first 10 deletes per step are of new items.
  EXPECT_EQ(FindBacklogEnd(TimesEvery(10, 4), {10, 5, 5, 5, 5}, 1, kBegin), kBegin + 20);
}

TEST(ForecastTest, DeletesMayBeginLater) {
  const auto end_if_begun = [](int64_t seconds) {
    return FindBacklogEnd(TimesEvery(10, 4), {5, 0, 0, 0, 0}, 1, kBegin + seconds);
  };
  EXPECT_EQ(end_if_begun(-100), kBegin + 5);
  EXPECT_EQ(end_if_begun(3), kBegin + 8);
  EXPECT_EQ(end_if_begun(10), kBegin + 15);
  EXPECT_EQ(end_if_begun(17), kBegin + 22);
  EXPECT_EQ(end_if_begun(35), kBegin + 40);
  EXPECT_EQ(end_if_begun(36), std::nullopt);
  EXPECT_EQ(end_if_begun(1000), std::nullopt);
  // 4 items, and 4 more by then; 4 more arrive while 10 are deleted.
  EXPECT_EQ(FindBacklogEnd(TimesEvery(10, 2), {4, 8, 0}, 2, kBegin + 5), kBegin + 11);
}

TEST(ForecastTest, ABacklogThatGrowsDoesNotEnd) {
  EXPECT_EQ(FindBacklogEnd(TimesEvery(10, 3), {1, 10, 10, 10}, 1, kBegin), std::nullopt);
  EXPECT_EQ(FindBacklogEnd(TimesEvery(10, 3), {1, 0, 0, 0}, 0, kBegin), std::nullopt);
  EXPECT_EQ(FindBacklogEnd(TimesEvery(10, 3), {31, 0, 0, 0}, 1, kBegin), std::nullopt);
}

TEST(ForecastTest, TheRateMayChangeWithinAStep) {
  const std::vector<int64_t> times = TimesEvery(100, 2);
  const auto end_of = [&times](int64_t backlog, std::vector<RateStep> rates) {
    return ttl::FindBacklogEnd(times, std::vector<int64_t>{backlog, 0, 0}, rates);
  };
  EXPECT_EQ(end_of(50, {{kBegin + 10, 1}, {kBegin + 30, 0}, {kBegin + 110, 5}}), kBegin + 116);
  EXPECT_EQ(end_of(20, {{kBegin + 10, 1}, {kBegin + 30, 0}}), kBegin + 30);
  EXPECT_EQ(end_of(21, {{kBegin + 10, 1}, {kBegin + 30, 0}}), std::nullopt);
  EXPECT_EQ(end_of(5, {}), std::nullopt);
  constexpr double kUnlimited = std::numeric_limits<double>::infinity();
  EXPECT_EQ(end_of(1000, {{kBegin, 0}, {kBegin + 40, kUnlimited}}), kBegin + 40);
}

// Against a queue that is served second by second.
RC_GTEST_PROP(ForecastProperty, TheEndIsThatOfAQueueServedSecondBySecond, ()) {
  const int64_t step = *rc::gen::inRange<int64_t>(1, 20);
  const int64_t per_second = *rc::gen::inRange<int64_t>(0, 20);
  const int steps = *rc::gen::inRange(1, 20);
  const std::vector<int64_t> times = TimesEvery(step, steps);
  std::vector<int64_t> due = {*rc::gen::inRange<int64_t>(0, 500)};
  std::vector<int64_t> per_step_second = {0};
  for (int i = 0; i < steps; ++i) {
    per_step_second.push_back(*rc::gen::inRange<int64_t>(0, 20));
    due.push_back(per_step_second.back() * step);
  }
  std::optional<int64_t> end;
  int64_t left = due[0];
  for (int64_t second = 0; second <= step * steps; ++second) {
    if (second > 0) left += per_step_second[(second - 1) / step + 1] - per_second;
    if (left > 0) continue;
    end = kBegin + second;
    break;
  }
  RC_ASSERT(FindBacklogEnd(times, due, static_cast<double>(per_second), kBegin) == end);
}

}  // namespace
}  // namespace ttl
