#include "client/postgres/load/load_judge.h"

#include <gtest/gtest.h>

#include <initializer_list>

#include "client/postgres/load/usage_meter.h"

namespace ttl::postgres {
namespace {

constexpr absl::Duration kStart = absl::Hours(5);
constexpr absl::Duration kSecond = absl::Seconds(1);

// A judge that is given a sample every second.
class Judged {
 public:
  explicit Judged(const LoadLimits& limits) : judge_(limits, kStart) {}

  Judged& Latencies(std::initializer_list<int> milliseconds) {
    for (const int one : milliseconds) Add({absl::Milliseconds(one), 0});
    return *this;
  }
  Judged& Backends(std::initializer_list<int> counts) {
    for (const int one : counts) Add({absl::Milliseconds(1), one});
    return *this;
  }
  bool yields(absl::Duration later = absl::ZeroDuration()) const {
    return judge_.ShouldYield(now_ + later);
  }
  LoadSample median() const { return judge_.Median(); }

 private:
  void Add(const LoadSample& sample) { judge_.Add(sample, now_ += absl::Seconds(1)); }

  LoadJudge judge_;
  absl::Duration now_ = kStart;
};

constexpr LoadLimits kLatency = {absl::Milliseconds(50), 0};
constexpr LoadLimits kBackends = {absl::ZeroDuration(), 8};

TEST(LoadJudgeTest, OneOrTwoSlowSamplesStopNothing) {
  Judged judged(kLatency);
  EXPECT_FALSE(judged.Latencies({500}).yields());
  EXPECT_FALSE(judged.Latencies({1, 1, 1, 1}).yields());
  EXPECT_FALSE(judged.Latencies({900, 900}).yields());
  EXPECT_FALSE(judged.Latencies({1, 1, 1, 1, 1}).yields());
}

TEST(LoadJudgeTest, YieldsWhileMostSamplesAreSlow) {
  Judged judged(kLatency);
  EXPECT_FALSE(judged.Latencies({1, 1, 1, 60, 60}).yields());
  EXPECT_TRUE(judged.Latencies({60}).yields());
  EXPECT_TRUE(judged.Latencies({60, 1, 1}).yields());
  EXPECT_FALSE(judged.Latencies({1}).yields());
}

TEST(LoadJudgeTest, ExactlyAtTheLimitIsNotBusy) {
  EXPECT_FALSE(Judged(kLatency).Latencies({50, 50, 50, 50, 50}).yields());
  EXPECT_FALSE(Judged(kBackends).Backends({8, 8, 8, 8, 8}).yields());
  EXPECT_TRUE(Judged(kBackends).Backends({9, 9, 9, 9, 9}).yields());
}

TEST(LoadJudgeTest, GoesOnOnlyOnceItIsClearlyCalmer) {
  Judged judged(kLatency);
  judged.Latencies({60, 60, 60, 60, 60});
  EXPECT_TRUE(judged.Latencies({45, 45, 45, 45, 45}).yields());
  EXPECT_FALSE(judged.Latencies({37, 37, 37}).yields());
  EXPECT_FALSE(judged.Latencies({45, 45, 45, 45, 45}).yields());
}

TEST(LoadJudgeTest, FewSamplesAreNoEvidence) {
  EXPECT_FALSE(Judged(kLatency).Latencies({90, 90, 90, 90}).yields());
  EXPECT_TRUE(Judged(kLatency).Latencies({90, 90, 90, 90, 90}).yields());
}

TEST(LoadJudgeTest, SilenceIsBusy) {
  Judged judged(kLatency);
  EXPECT_FALSE(judged.yields(LoadJudge::kSilence));
  EXPECT_TRUE(judged.yields(LoadJudge::kSilence + absl::Milliseconds(1)));
  judged.Latencies({1});
  EXPECT_FALSE(judged.yields(LoadJudge::kSilence));
  EXPECT_TRUE(judged.yields(LoadJudge::kSilence + absl::Milliseconds(1)));
}

TEST(LoadJudgeTest, WithoutLimitsNeverYields) {
  Judged judged({});
  judged.Latencies({9000, 9000, 9000, 9000, 9000}).Backends({900, 900, 900, 900, 900});
  EXPECT_FALSE(judged.yields());
  EXPECT_FALSE(judged.yields(absl::Hours(1)));
}

TEST(LoadJudgeTest, TellsTheMedian) {
  EXPECT_EQ(Judged(kLatency).median().latency, absl::ZeroDuration());
  EXPECT_EQ(Judged(kLatency).Latencies({1, 9, 2, 8, 3, 7, 4}).median().latency,
            absl::Milliseconds(4));
  EXPECT_EQ(Judged(kBackends).Backends({1, 5}).median().active_backends, 1);
}

TEST(UsageMeterTest, TellsWhatOthersUsed) {
  UsageMeter meter;
  EXPECT_EQ(meter.Read(1000, 200, kSecond), 0);  // all of the past
  EXPECT_EQ(meter.Read(1500, 200, kSecond), 500);
  EXPECT_EQ(meter.Read(1500, 200, kSecond), 0);
  EXPECT_EQ(meter.Read(1800, 300, kSecond), 200);
}

TEST(UsageMeterTest, OursMayShowLater) {
  UsageMeter meter;
  meter.Read(1000, 0, kSecond);
  EXPECT_EQ(meter.Read(1500, 900, kSecond), 0);  // 400 of ours are still to come
  EXPECT_EQ(meter.Read(1950, 900, kSecond), 450 - 380);
  EXPECT_EQ(meter.Read(1960, 900, kSecond), 10);
}

TEST(UsageMeterTest, WhatOfOursNeverShowsIsForgiven) {
  UsageMeter meter;
  meter.Read(0, 0, kSecond);
  EXPECT_EQ(meter.Read(0, 1000, kSecond), 0);
  for (int reading = 0; reading < 60; ++reading) meter.Read(0, 1000, kSecond);
  EXPECT_GT(meter.Read(1000, 1000, kSecond), 950);
}

TEST(UsageMeterTest, StartsAgainAfterTheStatisticsWereReset) {
  UsageMeter meter;
  meter.Read(1000, 10, kSecond);
  EXPECT_EQ(meter.Read(7, 900, kSecond), 0);
  EXPECT_EQ(meter.Read(27, 905, kSecond), 15);
}

}  // namespace
}  // namespace ttl::postgres
