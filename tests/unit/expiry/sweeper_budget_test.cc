// Left-over capacity (rule 7): deletes take what requests leave of the throughput.

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>

#include "absl/time/time.h"
#include "tests/testing/sweep_harness.h"

namespace ttl {
namespace {

// A container with a throughput of 1000 request units per second and a long backlog.
struct BudgetTest : testing::Test {
  BudgetTest() {
    number = h.storage.Create("c", -1)->number;
    settings.policy.default_ttl = -1;
    settings.request_units_per_second = 1000;
    Configure();
    h.WriteMany("c", "due", 8'000, kStart - 100, 10);
  }

  void Configure() { ASSERT_TRUE(h.storage.Update("c", settings).ok()); }

  // Deletes sent in so many seconds while requests use `units` each second, as reported
  // once a second; absent: nobody reports.
  int64_t SweepFor(int seconds, std::optional<double> units) {
    const int64_t before = h.TallyOf("c").sent;
    for (int i = 0; i < seconds; ++i) {
      if (units.has_value()) {
        h.usage.Report(number, "app", *units, absl::Seconds(1), *h.clock.Read().boot);
      }
      h.SweepFor(absl::Seconds(1));
    }
    return h.TallyOf("c").sent - before;
  }

  SweepHarness h;
  ContainerSettings settings;
  uint64_t number;
};

TEST_F(BudgetTest, AtSeventyPercentDeletesTakeTheRestAndNoMore) {
  for (int second = 0; second < 10; ++second) {
    const int64_t sent = SweepFor(1, 700);
    EXPECT_LE(sent, 300 + 30);
    EXPECT_GE(sent, 300 - 30);
  }
  EXPECT_LE(h.TallyOf("c").sent, 300 * 10 + 30);
}

TEST_F(BudgetTest, AtFullUseTheyStop) {
  EXPECT_EQ(SweepFor(10, 1000), 0);
  EXPECT_EQ(SweepFor(10, 1500), 0);
}

TEST_F(BudgetTest, AtFullUseOnlyTheFloorGoesOn) {
  settings.min_deletes_per_second = 5;
  Configure();
  EXPECT_NEAR(SweepFor(20, 1000), 100, 2);
}

TEST_F(BudgetTest, WhenRequestsGoQuietDeletesUseItAll) {
  SweepFor(3, 1000);
  EXPECT_NEAR(SweepFor(5, 0), 5000, 200);
}

TEST_F(BudgetTest, DeletesThatCostNothingWaitForOthersAllTheSame) {
  h.store.SetAfterDelete([](auto&, auto& response) {
    response.set_request_charge(0);
    return grpc::Status::OK;
  });
  SweepFor(2, 500);
  SweepFor(12, std::nullopt);
  h.WriteMany("c", "later", 100, kStart - 100, 10);
  EXPECT_EQ(SweepFor(5, std::nullopt), 0);
  EXPECT_EQ(SweepFor(1, 999), 100);
}

TEST_F(BudgetTest, SilenceForTenSecondsCountsAsFullUse) {
  EXPECT_EQ(SweepFor(5, std::nullopt), 0) << "nobody has ever reported";
  SweepFor(1, 500);
  EXPECT_NEAR(SweepFor(9, std::nullopt), 4500, 100);
  SweepFor(1, std::nullopt);
  EXPECT_EQ(SweepFor(20, std::nullopt), 0);
}

TEST_F(BudgetTest, TheUseOfSeveralReportersAddsUp) {
  h.usage.Report(number, "other", 400, absl::Seconds(1), *h.clock.Read().boot);
  EXPECT_NEAR(SweepFor(5, 400), 1000, 50);
}

TEST_F(BudgetTest, WhatADeleteReallyCostsIsLearnedAndPaid) {
  double charged = 0;
  h.store.SetAfterDelete([&](auto& request, auto& response) {
    response.set_request_charge(5.0 * request.items_size());
    charged += response.request_charge();
    return grpc::Status::OK;
  });
  SweepFor(20, 500);
  EXPECT_LE(charged, 500 * 20 + 250);
  EXPECT_GE(charged, 500 * 20 * 0.9);
  EXPECT_NEAR(*h.published.View(number).pace.learned_cost, 5, 0.01);
}

TEST_F(BudgetTest, TheConfiguredCostCountsUntilTheStoreSaysMore) {
  settings.request_units_per_delete = 10;
  Configure();
  EXPECT_NEAR(SweepFor(10, 500), 500, 20);
}

TEST_F(BudgetTest, TheLimitCountsAsWell) {
  settings.max_deletes_per_second = 50;
  Configure();
  EXPECT_NEAR(SweepFor(10, 500), 500, 10);
}

TEST_F(BudgetTest, OtherContainersDoNotShareIt) {
  h.storage.Create("free", -1);
  h.WriteMany("free", "due", 1000, kStart - 100, 10);
  SweepFor(2, 1000);
  EXPECT_EQ(h.store.Count("free"), 0);
  EXPECT_EQ(h.store.Count("c"), 8'000);
}

}  // namespace
}  // namespace ttl
