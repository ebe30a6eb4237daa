#include "service/rpc/status/container_status.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/rpc/test_now.h"

namespace ttl {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// Whatever a status is made of; nothing of it at first.
struct Situation {
  v1::ContainerExpiryStatus Status() const {
    return MakeContainerStatus({.container = container,
                                .tally = tally,
                                .backlog = backlog,
                                .sweep = sweep,
                                .holds = holds,
                                .rates = rates,
                                .now = now,
                                .hold_counts = hold_counts});
  }

  void Replace(absl::Duration until, std::optional<int64_t> braked_items) {
    container.replaced_policies.push_back({Policy(), kNow + until, braked_items});
  }

  Container container;
  TallyView tally;
  Backlog backlog;
  ContainerSweepView sweep;
  std::vector<DeleteHold> holds;
  DeleteRates rates;
  absl::Time now = kNow;
  HoldCounts hold_counts;
};

TEST(ContainerStatusTest, WhatIsNotThereIsAbsent) {
  const v1::ContainerExpiryStatus status = Situation().Status();
  EXPECT_FALSE(status.has_oldest_due_age());
  EXPECT_FALSE(status.has_pause());
  EXPECT_FALSE(status.has_grace_until());
  EXPECT_FALSE(status.has_brake());
  EXPECT_FALSE(status.has_budget());
  EXPECT_FALSE(status.has_held_until());
  EXPECT_FALSE(status.has_push_back_deletes_per_second());
  EXPECT_FALSE(status.has_allowed_deletes_per_second());
  EXPECT_FALSE(status.has_last_complete_pass_time());
  EXPECT_FALSE(status.has_hold_counts());
  EXPECT_THAT(status.failures(), IsEmpty());
}

TEST(ContainerStatusTest, HoldsAreCounted) {
  Situation situation;
  situation.hold_counts = {.holds = 4, .on_all_items = 1, .items_set_aside = 30, .ending = 2};
  const v1::HoldCounts counts = situation.Status().hold_counts();
  EXPECT_EQ(counts.holds(), 4);
  EXPECT_EQ(counts.on_all_items(), 1);
  EXPECT_EQ(counts.items_set_aside(), 30);
  EXPECT_EQ(counts.ending(), 2);
  situation.hold_counts = {.ending = 1};
  EXPECT_TRUE(situation.Status().has_hold_counts()) << "its items are not put back yet";
}

TEST(ContainerStatusTest, BacklogHoldsPauseAndIndex) {
  Situation situation;
  situation.container.id = "c";
  situation.container.index_number = 1;
  situation.container.pause = Pause{"restore", kNow};
  situation.backlog = {10000, true, kNowSeconds - 40};
  situation.holds = {DeleteHold::kContainerPaused, DeleteHold::kNoStore};
  situation.now = kNow + absl::Milliseconds(500);
  const v1::ContainerExpiryStatus status = situation.Status();
  EXPECT_EQ(status.container(), "c");
  EXPECT_EQ(status.backlog(), 10000);
  EXPECT_TRUE(status.backlog_is_lower_bound());
  EXPECT_EQ(status.oldest_due_age().seconds(), 40);
  EXPECT_EQ(status.oldest_due_age().nanos(), 500'000'000);
  EXPECT_THAT(status.holds(),
              ElementsAre(v1::DELETE_HOLD_CONTAINER_PAUSED, v1::DELETE_HOLD_NO_STORE));
  EXPECT_EQ(status.pause().reason(), "restore");
  EXPECT_EQ(status.index_progress().state(), v1::INDEX_STATE_READY);
}

TEST(ContainerStatusTest, DeletesByWhatBecameOfThem) {
  Situation situation;
  situation.sweep.deletes.tally = {1, 2, 3, 4, 5, 6, 9, 7, 8};
  situation.sweep.early_entries = 9;
  situation.sweep.last_complete_pass_time = kNow - absl::Seconds(3);
  const v1::ContainerExpiryStatus status = situation.Status();
  EXPECT_EQ(status.deletes().sent(), 1);
  EXPECT_EQ(status.deletes().deleted(), 2);
  EXPECT_EQ(status.deletes().not_found(), 3);
  EXPECT_EQ(status.deletes().modified(), 4);
  EXPECT_EQ(status.deletes().not_expired(), 5);
  EXPECT_EQ(status.deletes().throttled(), 6 + 9);
  EXPECT_EQ(status.deletes().out_of_time(), 9);
  EXPECT_EQ(status.deletes().failed(), 7);
  EXPECT_EQ(status.deletes().unanswered(), 8);
  EXPECT_EQ(status.early_entries(), 9);
  EXPECT_EQ(status.last_complete_pass_time().seconds(), kNowSeconds - 3);
}

TEST(ContainerStatusTest, FailuresMostFrequentFirst) {
  Situation situation;
  situation.sweep.deletes.failures = {{"locked", 5}, {"disk", 70}, {"", 5}};
  std::vector<std::string> reasons;
  std::vector<int64_t> counts;
  const v1::ContainerExpiryStatus status = situation.Status();
  for (const v1::FailureCount& failure : status.failures()) {
    reasons.push_back(failure.reason());
    counts.push_back(failure.count());
  }
  EXPECT_THAT(reasons, ElementsAre("disk", "", "locked"));
  EXPECT_THAT(counts, ElementsAre(70, 5, 5));
}

TEST(ContainerStatusTest, GraceAndBrakeAreApartAndTheLastToEndCounts) {
  Situation situation;
  situation.Replace(absl::Seconds(-1), std::nullopt);
  situation.Replace(absl::Seconds(30), std::nullopt);
  situation.Replace(absl::Seconds(20), std::nullopt);
  situation.Replace(absl::Seconds(-1), 1);
  situation.Replace(absl::Hours(3), 500);
  situation.Replace(absl::Hours(2), 70);
  const v1::ContainerExpiryStatus status = situation.Status();
  EXPECT_EQ(status.grace_until().seconds(), kNowSeconds + 30);
  EXPECT_EQ(status.brake().until().seconds(), kNowSeconds + 3 * 3600);
  EXPECT_EQ(status.brake().newly_due_items(), 500);
}

TEST(ContainerStatusTest, AllowedIsTheLeastOfLimitBudgetAndPushBack) {
  using Rate = std::optional<double>;
  const struct {
    Rate limit, budget, bearable, allowed;
  } kCases[] = {
      {{}, {}, {}, {}},     {7.0, {}, {}, 7.0},   {{}, 7.0, {}, 7.0},
      {{}, {}, 7.0, 7.0},   {5.0, 7.0, 9.0, 5.0}, {9.0, 5.0, 7.0, 5.0},
      {9.0, 7.0, 5.0, 5.0}, {5.0, 0.0, 9.0, 0.0}, {0.0, 7.0, 9.0, 0.0},
  };
  for (const auto& c : kCases) {
    Situation situation;
    situation.rates.limit = c.limit;
    if (c.budget.has_value()) situation.rates.budget.emplace().deletes_per_second = *c.budget;
    situation.sweep.pace.bearable_per_second = c.bearable;
    const v1::ContainerExpiryStatus status = situation.Status();
    EXPECT_EQ(status.has_allowed_deletes_per_second(), c.allowed.has_value());
    EXPECT_EQ(status.allowed_deletes_per_second(), c.allowed.value_or(0));
    EXPECT_EQ(status.has_push_back_deletes_per_second(), c.bearable.has_value());
  }
}

TEST(ContainerStatusTest, BudgetShowsUnknownUseAsAbsent) {
  Situation situation;
  situation.rates.budget.emplace();
  situation.rates.budget->request_units_per_second = 400;
  situation.rates.budget->request_units_per_delete = 2.5;
  EXPECT_EQ(situation.Status().budget().request_units_per_second(), 400);
  EXPECT_EQ(situation.Status().budget().request_units_per_delete(), 2.5);
  EXPECT_FALSE(situation.Status().budget().has_used_by_requests());
  situation.rates.budget->used_by_requests = 0;
  EXPECT_TRUE(situation.Status().budget().has_used_by_requests());
}

TEST(ContainerStatusTest, AHoldThatIsOverIsNotShown) {
  Situation situation;
  situation.sweep.pace.held_until = kNow;
  EXPECT_FALSE(situation.Status().has_held_until());
  situation.sweep.pace.held_until = kNow + absl::Seconds(1);
  EXPECT_EQ(situation.Status().held_until().seconds(), kNowSeconds + 1);
}

TEST(LatenessToProtoTest, TheLastBucketHasNoBound) {
  LatenessHistogram histogram;
  histogram.Add(absl::Seconds(3));
  histogram.Add(absl::Hours(100));
  const v1::LatenessHistogram proto = ToProto(histogram);
  ASSERT_THAT(proto.buckets(), SizeIs(12));
  EXPECT_EQ(proto.buckets(0).at_most().seconds(), 1);
  EXPECT_EQ(proto.buckets(2).at_most().seconds(), 5);
  EXPECT_EQ(proto.buckets(2).count(), 1);
  EXPECT_EQ(proto.buckets(10).at_most().seconds(), 24 * 3600);
  EXPECT_FALSE(proto.buckets(11).has_at_most());
  EXPECT_EQ(proto.buckets(11).count(), 1);
  EXPECT_EQ(proto.sum().seconds(), 100 * 3600 + 3);
}

TEST(ItemCountsTest, LiveAndExpiredMakeUpWhatIsCounted) {
  TallyView tally;
  tally.tracked = {10, 1000};
  tally.histogram.Add({kNowSeconds - 100, std::nullopt}, 7);  // inherits, expired
  tally.histogram.Add({kNowSeconds - 5, std::nullopt}, 11);   // inherits, live for 55 s
  tally.histogram.Add({kNowSeconds - 100, 100}, 13);          // expired this second
  tally.histogram.Add({kNowSeconds - 100, -1}, 17);           // never
  const v1::ItemCounts counts = MakeItemCounts(tally, {.default_ttl = 60}, kNow);
  EXPECT_EQ(counts.tracked_items(), 10);
  EXPECT_EQ(counts.tracked_bytes(), 1000);
  EXPECT_EQ(counts.expired_items(), 2);
  EXPECT_EQ(counts.expired_bytes(), 20);
  EXPECT_EQ(counts.live_items(), 2);
  EXPECT_EQ(counts.live_bytes(), 28);
  EXPECT_EQ(counts.error_bound_items(), 0);
  EXPECT_FALSE(counts.complete());
  ASSERT_THAT(counts.expiring_per_hour(), SizeIs(24));
  EXPECT_EQ(counts.expiring_per_hour(0), 1);
}

}  // namespace
}  // namespace ttl
