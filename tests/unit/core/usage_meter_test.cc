#include "service/core/state/usage_meter.h"

#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace ttl {
namespace {

constexpr uint64_t kOrders = 1;
constexpr uint64_t kCarts = 2;
constexpr absl::Duration kSecond = absl::Seconds(1);

TEST(UsageMeterTest, NobodyReportedIsUnknownNotZero) {
  const UsageMeter meter;
  EXPECT_EQ(meter.RequestRate(kOrders, absl::Seconds(5)), std::nullopt);
}

TEST(UsageMeterTest, ZeroReportedIsZeroNotUnknown) {
  UsageMeter meter;
  meter.Report(kOrders, "a", 0, kSecond, absl::Seconds(5));
  EXPECT_EQ(meter.RequestRate(kOrders, absl::Seconds(5)), 0);
}

TEST(UsageMeterTest, RateIsUnitsPerSecondOfThePeriod) {
  UsageMeter meter;
  meter.Report(kOrders, "a", 300, absl::Seconds(60), absl::Seconds(5));
  EXPECT_EQ(meter.RequestRate(kOrders, absl::Seconds(5)), 5);
  meter.Report(kOrders, "a", 50, absl::Milliseconds(500), absl::Seconds(6));
  EXPECT_EQ(meter.RequestRate(kOrders, absl::Seconds(6)), 100);
}

TEST(UsageMeterTest, NextReportOfTheSameReporterReplacesTheLast) {
  UsageMeter meter;
  meter.Report(kOrders, "a", 100, kSecond, absl::Seconds(5));
  meter.Report(kOrders, "a", 30, kSecond, absl::Seconds(6));
  EXPECT_EQ(meter.RequestRate(kOrders, absl::Seconds(6)), 30);
}

TEST(UsageMeterTest, ReportersAddUp) {
  UsageMeter meter;
  meter.Report(kOrders, "a", 100, kSecond, absl::Seconds(5));
  meter.Report(kOrders, "b", 30, kSecond, absl::Seconds(5));
  meter.Report(kOrders, "", 7, kSecond, absl::Seconds(5));
  EXPECT_EQ(meter.RequestRate(kOrders, absl::Seconds(5)), 137);
}

TEST(UsageMeterTest, ContainersAreApart) {
  UsageMeter meter;
  meter.Report(kOrders, "a", 100, kSecond, absl::Seconds(5));
  EXPECT_EQ(meter.RequestRate(kCarts, absl::Seconds(5)), std::nullopt);
}

TEST(UsageMeterTest, SilenceOfTenSecondsIsUnknown) {
  UsageMeter meter;
  meter.Report(kOrders, "a", 100, kSecond, absl::Seconds(5));
  EXPECT_EQ(meter.RequestRate(kOrders, absl::Seconds(15)), 100);
  EXPECT_EQ(meter.RequestRate(kOrders, absl::Seconds(15) + absl::Milliseconds(1)), std::nullopt);
}

TEST(UsageMeterTest, SilentReporterNoLongerCountsBesideOthers) {
  UsageMeter meter;
  meter.Report(kOrders, "gone", 100, kSecond, absl::Seconds(5));
  meter.Report(kOrders, "alive", 30, kSecond, absl::Seconds(14));
  EXPECT_EQ(meter.RequestRate(kOrders, absl::Seconds(14)), 130);
  EXPECT_EQ(meter.RequestRate(kOrders, absl::Seconds(16)), 30);
}

TEST(UsageMeterTest, TooManyReportersCountAsTooMuchNotTooLittle) {
  UsageMeter meter;
  constexpr int kReporters = 3 * UsageMeter::kMaxReporters;
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < kReporters; ++i) {
      meter.Report(kOrders, absl::StrCat("r", i), 1, kSecond, absl::Seconds(5 + round));
    }
    EXPECT_GE(meter.RequestRate(kOrders, absl::Seconds(5 + round)), kReporters);
  }
}

TEST(UsageMeterTest, ForgottenContainerIsUnknownAgain) {
  UsageMeter meter;
  meter.Report(kOrders, "a", 100, kSecond, absl::Seconds(5));
  meter.Forget(kOrders);
  EXPECT_EQ(meter.RequestRate(kOrders, absl::Seconds(5)), std::nullopt);
}

}  // namespace
}  // namespace ttl
