#include "service/core/state/usage_ledger.h"

#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace ttl {
namespace {

constexpr uint64_t kOrders = 1;
constexpr uint64_t kCarts = 2;
constexpr absl::Duration kSecond = absl::Seconds(1);

TEST(UsageLedgerTest, NobodyReportedIsUnknownNotZero) {
  const UsageLedger ledger;
  EXPECT_EQ(ledger.RequestRate(kOrders, absl::Seconds(5)), std::nullopt);
}

TEST(UsageLedgerTest, ZeroReportedIsZeroNotUnknown) {
  UsageLedger ledger;
  ledger.Report(kOrders, "a", 0, kSecond, absl::Seconds(5));
  EXPECT_EQ(ledger.RequestRate(kOrders, absl::Seconds(5)), 0);
}

TEST(UsageLedgerTest, RateIsUnitsPerSecondOfThePeriod) {
  UsageLedger ledger;
  ledger.Report(kOrders, "a", 300, absl::Seconds(60), absl::Seconds(5));
  EXPECT_EQ(ledger.RequestRate(kOrders, absl::Seconds(5)), 5);
  ledger.Report(kOrders, "a", 50, absl::Milliseconds(500), absl::Seconds(6));
  EXPECT_EQ(ledger.RequestRate(kOrders, absl::Seconds(6)), 100);
}

TEST(UsageLedgerTest, NextReportOfTheSameReporterReplacesTheLast) {
  UsageLedger ledger;
  ledger.Report(kOrders, "a", 100, kSecond, absl::Seconds(5));
  ledger.Report(kOrders, "a", 30, kSecond, absl::Seconds(6));
  EXPECT_EQ(ledger.RequestRate(kOrders, absl::Seconds(6)), 30);
}

TEST(UsageLedgerTest, ReportersAddUp) {
  UsageLedger ledger;
  ledger.Report(kOrders, "a", 100, kSecond, absl::Seconds(5));
  ledger.Report(kOrders, "b", 30, kSecond, absl::Seconds(5));
  ledger.Report(kOrders, "", 7, kSecond, absl::Seconds(5));
  EXPECT_EQ(ledger.RequestRate(kOrders, absl::Seconds(5)), 137);
}

TEST(UsageLedgerTest, ContainersAreApart) {
  UsageLedger ledger;
  ledger.Report(kOrders, "a", 100, kSecond, absl::Seconds(5));
  EXPECT_EQ(ledger.RequestRate(kCarts, absl::Seconds(5)), std::nullopt);
}

TEST(UsageLedgerTest, SilenceOfTenSecondsIsUnknown) {
  UsageLedger ledger;
  ledger.Report(kOrders, "a", 100, kSecond, absl::Seconds(5));
  EXPECT_EQ(ledger.RequestRate(kOrders, absl::Seconds(15)), 100);
  EXPECT_EQ(ledger.RequestRate(kOrders, absl::Seconds(15) + absl::Milliseconds(1)), std::nullopt);
}

TEST(UsageLedgerTest, SilentReporterNoLongerCountsBesideOthers) {
  UsageLedger ledger;
  ledger.Report(kOrders, "gone", 100, kSecond, absl::Seconds(5));
  ledger.Report(kOrders, "alive", 30, kSecond, absl::Seconds(14));
  EXPECT_EQ(ledger.RequestRate(kOrders, absl::Seconds(14)), 130);
  EXPECT_EQ(ledger.RequestRate(kOrders, absl::Seconds(16)), 30);
}

TEST(UsageLedgerTest, TooManyReportersCountAsTooMuchNotTooLittle) {
  UsageLedger ledger;
  constexpr int kReporters = 3 * UsageLedger::kMaxReporters;
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < kReporters; ++i) {
      ledger.Report(kOrders, absl::StrCat("r", i), 1, kSecond, absl::Seconds(5 + round));
    }
    EXPECT_GE(ledger.RequestRate(kOrders, absl::Seconds(5 + round)), kReporters);
  }
}

TEST(UsageLedgerTest, ForgottenContainerIsUnknownAgain) {
  UsageLedger ledger;
  ledger.Report(kOrders, "a", 100, kSecond, absl::Seconds(5));
  ledger.Forget(kOrders);
  EXPECT_EQ(ledger.RequestRate(kOrders, absl::Seconds(5)), std::nullopt);
}

}  // namespace
}  // namespace ttl
