#include "service/expiry/pace/token_bucket.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "absl/time/time.h"

namespace ttl {
namespace {

constexpr absl::Duration kStart = absl::Hours(1);

TEST(TokenBucketTest, StartsWithOneBatchAndEarnsAtTheRate) {
  struct Case {
    double rate;
    int64_t batch;
    absl::Duration after;
    int64_t available_after;  // having taken the first batch
  };
  const Case cases[] = {
      {0.01, 1, absl::Seconds(99), 0},
      {0.01, 1, absl::Seconds(100), 1},
      {0.5, 1, absl::Seconds(2), 1},
      {1, 1, absl::Milliseconds(999), 0},
      {1, 1, absl::Hours(9), 1},  // no more than a batch is saved up
      {10, 1, absl::Milliseconds(100), 1},
      {15, 1, absl::Milliseconds(100), 1},
      {1000, 100, absl::Milliseconds(5), 5},
      {1000, 100, absl::Seconds(1), 100},
      {5e6, 500'000, absl::Microseconds(2), 10},
  };
  for (const Case& c : cases) {
    TokenBucket bucket(c.rate, kStart);
    EXPECT_EQ(bucket.BatchSize(), c.batch) << c.rate;
    EXPECT_EQ(bucket.Available(kStart), c.batch) << c.rate;
    bucket.Take(c.batch, kStart);
    EXPECT_EQ(bucket.Available(kStart + c.after), c.available_after) << c.rate << " " << c.after;
  }
}

TEST(TokenBucketTest, WhatIsChargedAfterwardsIsEarnedFirst) {
  TokenBucket bucket(10, absl::ZeroDuration());
  bucket.Take(1, absl::ZeroDuration());
  bucket.Charge(4, absl::ZeroDuration());
  EXPECT_NEAR(absl::ToDoubleSeconds(bucket.TimeUntil(1, absl::ZeroDuration())), 0.5, 1e-6);
  EXPECT_EQ(bucket.Available(absl::Milliseconds(501)), 1);
}

TEST(TokenBucketTest, ADebtHasABoundAndNonsenseMakesNone) {
  TokenBucket bucket(10, absl::ZeroDuration());
  for (const double nonsense : {-5.0, 0.0, std::numeric_limits<double>::quiet_NaN()}) {
    bucket.Charge(nonsense, absl::ZeroDuration());
    EXPECT_EQ(bucket.Available(absl::ZeroDuration()), 1);
  }
  bucket.Charge(std::numeric_limits<double>::infinity(), absl::ZeroDuration());
  EXPECT_EQ(bucket.Available(TokenBucket::kMaxDebt), 0);
  EXPECT_EQ(bucket.Available(TokenBucket::kMaxDebt + absl::Milliseconds(101)), 1);
}

TEST(TokenBucketTest, ZeroAndNonsenseMeanNone) {
  for (const double rate : {0.0, -1.0, std::nan(""), -std::numeric_limits<double>::infinity()}) {
    TokenBucket bucket(rate, kStart);
    EXPECT_EQ(bucket.BatchSize(), 0);
    EXPECT_EQ(bucket.Available(kStart + absl::Hours(1000)), 0);
    EXPECT_EQ(bucket.TimeUntil(1, kStart), absl::InfiniteDuration());
  }
}

TEST(TokenBucketTest, WithoutALimitThereIsAlwaysEnough) {
  TokenBucket bucket(std::nullopt, kStart);
  for (int i = 0; i < 10; ++i) {
    EXPECT_GE(bucket.Available(kStart), 1'000'000);
    EXPECT_EQ(bucket.TimeUntil(1'000'000, kStart), absl::ZeroDuration());
    bucket.Take(1'000'000, kStart);
  }
}

TEST(TokenBucketTest, HugeRatesStayWithinRange) {
  TokenBucket bucket(std::numeric_limits<double>::max(), kStart);
  const int64_t batch = bucket.BatchSize();
  EXPECT_GT(batch, int64_t{1} << 40);
  bucket.Take(batch, kStart);
  EXPECT_EQ(bucket.Available(kStart + absl::Nanoseconds(1)), batch);
}

TEST(TokenBucketTest, ALimitSetLaterActsAtOnce) {
  TokenBucket bucket(std::nullopt, kStart);
  bucket.SetRate(20, kStart);
  EXPECT_EQ(bucket.Available(kStart), 2);
  bucket.SetRate(1, kStart);
  EXPECT_EQ(bucket.Available(kStart), 1);
  bucket.SetRate(0, kStart);
  EXPECT_EQ(bucket.Available(kStart + absl::Hours(1)), 0);
}

TEST(TokenBucketTest, SwitchingARateOffAndOnGivesNothingAway) {
  TokenBucket bucket(1000, kStart);
  bucket.Take(100, kStart);
  for (int i = 0; i < 100; ++i) {
    bucket.SetRate(0, kStart);
    bucket.SetRate(1000, kStart);
  }
  EXPECT_EQ(bucket.Available(kStart), 0);
  EXPECT_EQ(bucket.Available(kStart + absl::Milliseconds(10)), 10);
}

TEST(TokenBucketTest, TimeThatGoesBackEarnsNothingTwice) {
  TokenBucket bucket(10, kStart);
  bucket.Take(1, kStart);
  EXPECT_EQ(bucket.Available(kStart - absl::Hours(1)), 0);
  EXPECT_EQ(bucket.Available(kStart), 0);
  EXPECT_EQ(bucket.Available(kStart + absl::Milliseconds(100)), 1);
}

TEST(TokenBucketTest, TokensAreThereWhenTheTimeHasCome) {
  rc::check("TimeUntil is exact", [] {
    const double rate = std::pow(10.0, *rc::gen::inRange(-3, 8)) * *rc::gen::inRange(1, 10);
    TokenBucket bucket(rate, kStart);
    const int64_t count = std::max<int64_t>(bucket.BatchSize() / *rc::gen::inRange(1, 20), 1);
    bucket.Take(bucket.BatchSize(), kStart);
    const absl::Duration wait = bucket.TimeUntil(count, kStart);
    RC_ASSERT(wait > absl::ZeroDuration());
    TokenBucket early = bucket;
    RC_ASSERT(early.Available(kStart + wait * 0.999 - absl::Nanoseconds(5)) < count);
    RC_ASSERT(bucket.Available(kStart + wait) >= count);
  });
}

// What was sent, when, and the rate in force until then.
struct SentAt {
  absl::Duration at;
  double count;
};

// The largest amount by which any window of `sent` exceeds what `rates` allow: summed
// step by step, over every pair of sends.
double WorstExcessOverRates(const std::vector<SentAt>& sent,
                            const std::vector<double>& earned_before) {
  double worst = 0;
  for (size_t i = 0; i < sent.size(); ++i) {
    double sum = 0;
    for (size_t j = i; j < sent.size(); ++j) {
      sum += sent[j].count;
      worst = std::max(worst, sum - (earned_before[j] - earned_before[i]));
    }
  }
  return worst;
}

RC_GTEST_PROP(TokenBucketProperty, NoWindowGetsMoreThanRateTimesWindowPlusOneBatch, ()) {
  const auto any_rate = [] {
    return *rc::gen::element(0.0, 0.05, 0.7, 1.0, 3.0, 10.0, 99.5, 1000.0, 25'000.0, 3e6);
  };
  double rate = any_rate();
  const bool rates_change = *rc::gen::arbitrary<bool>();
  double largest_batch = std::max(1.0, rate * 0.1);
  TokenBucket bucket(rate, kStart);
  absl::Duration now = kStart;
  double earned = 0;  // the naive model: rate x time, summed
  std::vector<SentAt> sent;
  std::vector<double> earned_before;
  const int steps = *rc::gen::inRange(1, 60);
  for (int i = 0; i < steps; ++i) {
    const absl::Duration pause = absl::Microseconds(
        *rc::gen::element<int64_t>(0, 1, 10, 900, 20'000, 100'000, 1'000'000, 7'300'000));
    now += pause;
    earned += rate * absl::ToDoubleSeconds(pause);
    if (*rc::gen::inRange(0, 10) == 0) bucket.Available(now - absl::Seconds(3));  // back for once
    if (rates_change && *rc::gen::inRange(0, 4) == 0) {
      rate = any_rate();
      bucket.SetRate(rate, now);
      largest_batch = std::max({largest_batch, 1.0, rate * 0.1});
    }
    const int64_t available = bucket.Available(now);
    RC_ASSERT(static_cast<double>(available) <= std::max(1.0, rate * 0.1));
    RC_ASSERT(rate > 0 || available == 0);
    const int64_t take =
        *rc::gen::elementOf(std::vector<int64_t>{available, available, available / 2, 0});
    bucket.Take(take, now);
    sent.push_back({now, static_cast<double>(take)});
    earned_before.push_back(earned);
  }
  const double excess = WorstExcessOverRates(sent, earned_before);
  RC_ASSERT(excess <= largest_batch * (1 + 1e-9) + 1e-6);
}

RC_GTEST_PROP(TokenBucketProperty, AllOfTheRateIsGivenToWhoTakesIt, ()) {
  const double rate = *rc::gen::element(0.05, 0.7, 3.0, 99.5, 1000.0, 3e6);
  TokenBucket bucket(rate, kStart);
  absl::Duration now = kStart;
  double taken = 0;
  const int steps = *rc::gen::inRange(1, 200);
  for (int i = 0; i < steps; ++i) {
    now += bucket.TimeUntil(std::max<int64_t>(bucket.BatchSize(), 1), now);
    const int64_t available = bucket.Available(now);
    bucket.Take(available, now);
    taken += static_cast<double>(available);
  }
  RC_ASSERT(taken >= rate * absl::ToDoubleSeconds(now - kStart) * (1 - 1e-6) - 1);
}

// Idle time must not save up more than one batch, or the next second would see
// several of them at once.
TEST(TokenBucketTest, NoMoreIsSavedUpThanIsEverTakenAtOnce) {
  TokenBucket bucket(20'000, absl::ZeroDuration(), 500);
  EXPECT_EQ(bucket.BatchSize(), 500);
  EXPECT_EQ(bucket.Available(absl::Seconds(60)), 500);
  bucket.Take(500, absl::Seconds(60));
  EXPECT_EQ(bucket.Available(absl::Seconds(60)), 0);
  EXPECT_EQ(bucket.TimeUntil(500, absl::Seconds(60)),
            absl::Milliseconds(25) + absl::Nanoseconds(1));
  EXPECT_EQ(TokenBucket(0.5, absl::ZeroDuration(), 500).BatchSize(), 1);
}

}  // namespace
}  // namespace ttl
