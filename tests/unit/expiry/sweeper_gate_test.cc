// The sweep of containers with gated subscriptions.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "service/base/done.h"
#include "tests/testing/gate_harness.h"

namespace ttl {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr absl::Duration kLong = absl::Minutes(2);

FeedEvent LastEventOf(GateHarness& h) {
  FeedQuery query;
  query.containers = {h.Container()};
  query.after = h.Figures().dropped_sequence;
  if (query.after == 0) query.after = h.Container()->feed.first_sequence;
  const FeedPage page = h.feed().Read(query).value();
  return page.entries.empty() ? FeedEvent() : page.entries.back().event;
}

OperationCounts CostOf(GateHarness& h, absl::Duration duration) {
  const OperationCounts before = h.storage->Counts();
  h.SweepFor(duration);
  const OperationCounts after = h.storage->Counts();
  OperationCounts cost;
  cost.gets = after.gets - before.gets;
  cost.puts = after.puts - before.puts;
  cost.seeks = after.seeks - before.seeks;
  cost.steps = after.steps - before.steps;
  return cost;
}

TEST(SweeperGateTest, AnItemIsDeletedOnlyWhenItsExpiryIsAcknowledged) {
  GateHarness h;
  ASSERT_TRUE(h.CreateGate("archive").ok());
  h.Write("c", "a", kStart, 10);
  h.SweepFor(kLong);
  EXPECT_EQ(h.store.Count("c"), 1);
  EXPECT_THAT(h.Events("c"), ElementsAre("EXPIRED a"));
  EXPECT_EQ(h.Figures().gated_items, 1);
  EXPECT_THAT(h.feed().GatesThatWait(*h.Container()), ElementsAre("archive"));
  h.Consume("archive");
  EXPECT_EQ(h.SweepNow(), 1);
  EXPECT_THAT(h.Events("c"), ElementsAre("EXPIRED a", "PURGED a"));
  EXPECT_EQ(h.Figures().gated_items, 0);
  EXPECT_TRUE(h.storage->CheckInvariants().ok());
}

TEST(SweeperGateTest, WhatWasAcknowledgedBeforeItIsDueIsNotSetAside) {
  GateHarness h;
  ASSERT_TRUE(h.CreateGate("archive").ok());
  h.Write("c", "a", kStart, 10);
  h.clock.Advance(absl::Seconds(10));
  h.AnnounceNow();
  h.Consume("archive");
  EXPECT_EQ(h.Step().tidied, 0);
  EXPECT_EQ(h.store.Count("c"), 0);
}

TEST(SweeperGateTest, ItemsThatWaitCostTheSweepNothing) {
  GateHarness h;
  ASSERT_TRUE(h.CreateGate("archive").ok());
  h.WriteMany("c", "i", 2000, kStart, 10);
  h.SweepFor(kLong);
  EXPECT_EQ(h.Figures().gated_items, 2000);
  const OperationCounts cost = CostOf(h, kLong);
  EXPECT_EQ(cost.gets, 0);
  EXPECT_EQ(cost.puts, 0);
  EXPECT_EQ(cost.steps, 0);
  h.Consume("archive", 100);
  h.SweepFor(absl::Seconds(5));
  EXPECT_EQ(h.store.Count("c"), 1900);
  EXPECT_EQ(h.Figures().gated_items, 1900);
}

TEST(SweeperGateTest, AllGatesMustHaveAcknowledged) {
  GateHarness h;
  ASSERT_TRUE(h.CreateGate("archive").ok());
  ASSERT_TRUE(h.CreateGate("mail").ok());
  h.Write("c", "a", kStart, 10);
  h.SweepFor(kLong);
  h.Consume("archive");
  EXPECT_EQ(h.SweepFor(kLong), 0);
  EXPECT_THAT(h.feed().WaitingFor(*h.Container(), h.ExpiredSequenceOf("a")), ElementsAre("mail"));
  h.Consume("mail");
  EXPECT_EQ(h.SweepNow(), 1);
}

TEST(SweeperGateTest, AnItemNoLongerWaitsForAGateThatIsDeleted) {
  GateHarness h;
  ASSERT_TRUE(h.CreateGate("archive").ok());
  h.Write("c", "a", kStart, 10);
  h.SweepFor(kLong);
  EXPECT_EQ(h.store.Count("c"), 1);
  ASSERT_TRUE(h.DeleteGate("archive").ok());
  EXPECT_EQ(h.SweepNow(), 1);
}

TEST(SweeperGateTest, WithoutItsFeedAnItemWaitsForNothing) {
  for (const bool restarts : {false, true}) {
    GateHarness h;
    ASSERT_TRUE(h.CreateGate("archive").ok());
    h.Write("c", "a", kStart, 10);
    h.SweepFor(kLong);
    const auto without_feed = [](const Container& present) {
      ContainerSettings next = present.settings;
      next.feed.reset();
      return next;
    };
    ASSERT_TRUE(Await<absl::StatusOr<ContainerPtr>>([&](auto done) {
                  h.storage->containers().Update("c", without_feed, kTestNow, absl::ZeroDuration(),
                                                 /*force=*/true, std::move(done));
                }).ok());
    if (restarts) h.Restart();
    h.SweepFor(kLong);
    EXPECT_EQ(h.store.Count("c"), 0);
  }
}

TEST(SweeperGateTest, AnItemSetAsideWaitsForAGateThatIsCreatedLater) {
  GateHarness h;
  ASSERT_TRUE(h.CreateGate("archive").ok());
  h.Write("c", "a", kStart, 10);
  h.SweepFor(kLong);
  ASSERT_TRUE(h.CreateGate("mail").ok());
  h.Consume("archive");
  EXPECT_EQ(h.SweepFor(kLong), 0);
  h.Consume("mail");
  EXPECT_EQ(h.SweepNow(), 1);
  EXPECT_THAT(h.Events("c"), ElementsAre("EXPIRED a", "PURGED a"));
}

TEST(SweeperGateTest, AnItemWhoseExpiryWasDroppedIsAnnouncedAgainToANewGate) {
  FeedSettings settings;
  settings.max_age_seconds = 60;
  GateHarness h(settings);
  h.Write("c", "a", kStart, 10);
  h.SetLimit(0);
  h.SweepFor(absl::Seconds(10));
  h.AnnounceNow();
  h.clock.Advance(absl::Seconds(100));
  h.KeepHouse();
  ASSERT_GT(h.Figures().dropped_sequence, 0);
  ASSERT_TRUE(h.CreateGate("archive").ok());
  h.SetLimit(std::nullopt);
  h.Consume("archive");
  h.SweepFor(kLong);
  EXPECT_EQ(h.store.Count("c"), 1);
  EXPECT_EQ(LastEventOf(h).kind, EventKind::kExpired);
  EXPECT_TRUE(LastEventOf(h).late);
  h.Consume("archive");
  h.SweepFor(kLong);
  EXPECT_EQ(LastEventOf(h).kind, EventKind::kPurged);
  EXPECT_TRUE(h.storage->CheckInvariants().ok());
}

TEST(SweeperGateTest, ANewGateIsAnsweredOnlyWhenTheDeletesInFlightHaveEnded) {
  GateHarness h;
  h.Write("c", "a", kStart, 10);
  bool answered = false;
  h.store.SetBeforeDelete([&](const auto&, auto&) -> std::optional<grpc::Status> {
    h.feed().Subscribe("c", GateHarness::GateOf("archive"), kTestNow,
                       [&](const absl::StatusOr<SubscriptionView>& view) {
                         EXPECT_TRUE(view.ok());
                         EXPECT_THAT(h.Events("c"), Contains("PURGED a"));
                         answered = true;
                       });
    // The subscription is published, and still not answered.
    while (!h.feed().Gates(*h.Container()).has_gates) {
    }
    EXPECT_FALSE(answered);
    return std::nullopt;
  });
  h.SweepFor(absl::Seconds(10));
  EXPECT_TRUE(answered);
}

TEST(SweeperGateTest, AGateThatIsCreatedWhileABatchIsReadKeepsIt) {
  GateHarness h;
  h.Write("c", "a", kStart, 10);
  h.clock.Advance(absl::Seconds(10));
  h.AnnounceNow();
  h.RunOnceWith([&] {
    h.feed().Subscribe("c", GateHarness::GateOf("archive"), kTestNow, [](const auto&) {});
    while (!h.feed().Gates(*h.Container()).has_gates) {
    }
  });
  EXPECT_EQ(h.SweepFor(kLong), 0);
  EXPECT_EQ(h.store.Count("c"), 1);
}

TEST(SweeperGateTest, LatenessCountsFromTheAcknowledgement) {
  GateHarness h;
  ASSERT_TRUE(h.CreateGate("archive").ok());
  h.Write("c", "a", kStart, 10);
  h.SweepFor(kLong);
  h.Consume("archive");
  h.clock.Advance(absl::Seconds(7));
  const DueRule rule = ComputeDueRule(h.Container()->settings.policy, {}, kTestNow);
  const int64_t acknowledged_at = h.Now() - 7;
  EXPECT_EQ(h.storage->expiry_index().OldestDueTime(*h.Container(), rule, h.Now()).value(),
            acknowledged_at);
  h.SweepNow();
  EXPECT_EQ(LastEventOf(h).kind, EventKind::kPurged);
  EXPECT_EQ(LastEventOf(h).lateness_seconds, 7);
}

TEST(SweeperGateTest, ItemsThatWaitAreNoBacklog) {
  GateHarness h;
  ASSERT_TRUE(h.CreateGate("archive").ok());
  h.WriteMany("c", "i", 3, kStart, 10);
  h.SweepFor(kLong);
  const DueRule rule = ComputeDueRule(h.Container()->settings.policy, {}, kTestNow);
  const ExpiryIndex& index = h.storage->expiry_index();
  EXPECT_EQ(index.CountDue(*h.Container(), rule, h.Now(), 10).value().count, 0);
  EXPECT_EQ(index.OldestDueTime(*h.Container(), rule, h.Now()).value(), std::nullopt);
  EXPECT_TRUE(h.storage->FactsForDeletes(h.Container()->number).has_gated_items);
  h.Consume("archive", 2);
  EXPECT_EQ(index.CountDue(*h.Container(), rule, h.Now(), 10).value().count, 2);
}

TEST(SweeperGateTest, AGateIsGivenUpAfterItsTimeAndThePurgeNamesIt) {
  GateHarness h;
  ASSERT_TRUE(h.CreateGate("archive", absl::Minutes(10)).ok());
  ASSERT_TRUE(h.CreateGate("mail").ok());
  h.Write("c", "a", kStart, 10);
  h.SweepFor(absl::Seconds(10));
  h.Consume("mail");
  for (int i = 0; i < 60; ++i) {
    h.SweepFor(absl::Seconds(10));
    h.KeepHouse();
  }
  EXPECT_EQ(h.store.Count("c"), 1) << "10 minutes in whole seconds, rounded up";
  h.SweepFor(absl::Seconds(2));
  h.KeepHouse();
  EXPECT_EQ(h.SweepNow(), 1);
  EXPECT_THAT(LastEventOf(h).given_up_subscriptions, ElementsAre("archive"));
}

TEST(SweeperGateTest, TimeInWhichNothingRunsDoesNotCountForGivingUp) {
  GateHarness h;
  ASSERT_TRUE(h.CreateGate("archive", absl::Minutes(10)).ok());
  h.Write("c", "a", kStart, 10);
  h.SweepFor(absl::Seconds(10));
  h.clock.Advance(absl::Hours(5));
  h.KeepHouse();
  EXPECT_EQ(h.SweepNow(), 0);
  h.clock.Advance(absl::Hours(5));
  h.Restart();
  h.KeepHouse();
  EXPECT_EQ(h.SweepFor(absl::Minutes(5)), 0);
}

TEST(SweeperGateTest, ServingTimeGoesOnAfterARestart) {
  GateHarness h;
  ASSERT_TRUE(h.CreateGate("archive", absl::Minutes(10)).ok());
  h.Write("c", "a", kStart, 10);
  for (int i = 0; i < 70 && h.store.Count("c") > 0; ++i) {
    h.SweepFor(absl::Seconds(10));
    h.KeepHouse();
    if (i % 20 == 10) h.Restart();
  }
  EXPECT_EQ(h.store.Count("c"), 0);
  EXPECT_THAT(LastEventOf(h).given_up_subscriptions, ElementsAre("archive"));
}

TEST(SweeperGateTest, ARestartChangesNothingForWhatWaits) {
  GateHarness h;
  ASSERT_TRUE(h.CreateGate("archive").ok());
  h.WriteMany("c", "i", 10, kStart, 10);
  h.SweepFor(kLong);
  h.Consume("archive", 4);
  h.Restart();
  h.SweepFor(kLong);
  EXPECT_EQ(h.store.Count("c"), 6);
  h.Consume("archive");
  h.SweepFor(kLong);
  EXPECT_EQ(h.store.Count("c"), 0);
}

TEST(SweeperGateTest, AnItemThatIsRewrittenWhileItWaitsIsSeenAnew) {
  GateHarness h;
  ASSERT_TRUE(h.CreateGate("archive").ok());
  h.Write("c", "a", kStart, 10);
  h.SweepFor(absl::Seconds(20));
  h.Write("c", "a", h.Now(), 30);
  h.Consume("archive");
  EXPECT_EQ(h.SweepFor(kLong), 0);
  EXPECT_THAT(h.Events("c"), ElementsAre("EXPIRED a", "REPLACED a", "EXPIRED a"));
  h.Consume("archive");
  EXPECT_EQ(h.SweepNow(), 1);
}

TEST(SweeperGateTest, AnItemThatLivesAgainWaitsAnewWhenItExpiresAgain) {
  GateHarness h({}, 60);
  ASSERT_TRUE(h.CreateGate("archive").ok());
  h.Write("c", "a", kStart);
  h.SweepFor(absl::Seconds(70));
  h.SetTtl(1000);
  h.AnnounceNow();
  EXPECT_EQ(h.Figures().gated_items, 0);
  h.Consume("archive");
  EXPECT_EQ(h.SweepFor(absl::Seconds(1000)), 0);
  EXPECT_THAT(h.Events("c"), ElementsAre("EXPIRED a", "POLICY_CHANGED", "REVIVED a", "EXPIRED a"));
  EXPECT_TRUE(h.storage->CheckInvariants().ok());
  h.Consume("archive");
  EXPECT_EQ(h.SweepNow(), 1);
}

TEST(SweeperGateTest, AnItemThatIsTouchedWhileItWaitsLeavesTheItemsSetAside) {
  GateHarness h({}, 60);
  ASSERT_TRUE(Await<absl::StatusOr<ContainerPtr>>([&](auto done) {
                const auto allow = [](const Container& present) {
                  ContainerSettings next = present.settings;
                  next.allow_touch = true;
                  return next;
                };
                h.storage->containers().Update("c", allow, kTestNow, absl::ZeroDuration(), false,
                                               std::move(done));
              }).ok());
  ASSERT_TRUE(h.CreateGate("archive").ok());
  h.Write("c", "a", kStart);
  h.SweepFor(absl::Seconds(70));
  ASSERT_EQ(h.Figures().gated_items, 1);
  h.SetTtl(1000);
  const auto touched = Await<absl::StatusOr<TouchedItems>>([&](auto done) {
    h.storage->touches().Touch(
        h.Container()->number, {{KeyOf("a")}, 0}, [&h] { return h.guarded_clock->Read(); },
        std::move(done));
  });
  ASSERT_EQ(touched->items[0].outcome, TouchOutcome::kTouched);
  EXPECT_EQ(h.Figures().gated_items, 0);
  EXPECT_TRUE(h.storage->CheckInvariants().ok());
}

TEST(SweeperGateTest, InANewFeedItemsThatWereSetAsideAreAnnouncedThoughDeletesArePaused) {
  GateHarness h;
  ASSERT_TRUE(h.CreateGate("archive").ok());
  h.Write("c", "a", kStart, 10);
  h.SweepFor(absl::Seconds(20));
  ASSERT_EQ(h.Figures().gated_items, 1);
  h.SetLimit(0);
  ASSERT_TRUE(h.DeleteGate("archive").ok());
  for (const auto& feed : {std::optional<FeedSettings>(), std::optional(FeedSettings())}) {
    ASSERT_TRUE(Await<absl::StatusOr<ContainerPtr>>([&](auto done) {
                  const auto change = [&feed](const Container& present) {
                    ContainerSettings next = present.settings;
                    next.feed = feed;
                    return next;
                  };
                  h.storage->containers().Update("c", change, kTestNow, absl::ZeroDuration(), false,
                                                 std::move(done));
                }).ok());
  }
  h.AnnounceNow();
  EXPECT_THAT(h.Events("c"), ElementsAre("EXPIRED a"));
}

TEST(SweeperGateTest, AHeldItemIsSetAsideForItsHoldFirst) {
  GateHarness h;
  ASSERT_TRUE(h.CreateGate("archive").ok());
  h.Write("c", "a", kStart, 10);
  HoldRequest hold;
  hold.hold_id = "h";
  hold.reason = "audit";
  hold.scope = ItemsOfPartition{"p"};
  ASSERT_TRUE(Await<absl::StatusOr<PlacedHold>>([&](auto done) {
                h.storage->holds().Place("c", hold, kTestNow, std::move(done));
              }).ok());
  h.SweepFor(absl::Seconds(15));
  EXPECT_EQ(h.Figures().gated_items, 0);
  EXPECT_EQ(h.storage->holds().Counts(h.Container()->number).items_set_aside, 1);
  h.AnnounceNow();
  ASSERT_TRUE(Await<absl::Status>([&](auto done) {
                h.storage->holds().Release("c", "h", absl::FromUnixSeconds(h.Now()),
                                           std::move(done));
              }).ok());
  h.KeepHouse();
  h.SweepFor(kLong);
  EXPECT_EQ(h.Figures().gated_items, 1);
  EXPECT_EQ(h.store.Count("c"), 1);
  h.Consume("archive");
  EXPECT_EQ(h.SweepNow(), 1);
}

TEST(SweeperGateTest, AnItemOfUnknownStateIsAnnouncedBeforeItIsSent) {
  GateHarness h;
  h.Write("c", "a", kStart, 10);
  h.store.SetAfterDelete([&](const auto&, auto& response) {
    response.mutable_results(0)->Clear();
    response.mutable_results(0)->set_outcome(v1::DELETE_OUTCOME_MODIFIED);
    return grpc::Status::OK;
  });
  ItemVersion newer;
  newer.times = {kStart + 5, 10};
  h.store.Put("c", KeyOf("a"), newer);
  h.SweepFor(absl::Seconds(11));
  ASSERT_TRUE(h.storage.FindItem("c", "a")->state_unknown);
  ASSERT_TRUE(h.CreateGate("archive").ok());
  const int64_t sent = h.TallyOf("c").sent;
  h.SweepFor(absl::Hours(1));
  EXPECT_EQ(h.TallyOf("c").sent, sent);
  h.Consume("archive");
  h.SweepFor(absl::Hours(1));
  EXPECT_GT(h.TallyOf("c").sent, sent);
}

TEST(SweeperGateTest, WhileNothingMayBeJudgedTheSweepDoesNotSpin) {
  GateHarness h;
  ASSERT_TRUE(h.CreateGate("archive").ok());
  h.Write("c", "a", kStart, 10);
  h.SweepFor(absl::Seconds(9));
  h.storage->feed().SetClock([] { return FeedMoment{kTestNow, std::nullopt}; });
  h.SweepFor(kLong);
  EXPECT_THAT(h.Events("c"), IsEmpty());
  EXPECT_EQ(h.store.Count("c"), 1);
}

TEST(SweeperGateTest, AFullLogStopsAnnouncementsUntilTheGateAcknowledges) {
  FeedSettings settings;
  settings.max_bytes = FeedSettings::kMinMaxBytes;
  GateHarness h(settings);
  ASSERT_TRUE(h.CreateGate("archive").ok());
  constexpr int64_t kItems = 30'000;  // more than fit in the log
  h.WriteMany("c", "i", kItems, kStart, 10);
  h.clock.Advance(absl::Seconds(10));
  for (int i = 0; i < 20; ++i) {
    h.AnnounceNow();
    h.SweepFor(absl::Seconds(1));
    h.KeepHouse();
  }
  EXPECT_TRUE(h.Figures().is_full);
  EXPECT_LE(h.Figures().bytes, settings.max_bytes + (100 << 10)) << "one page more";
  EXPECT_EQ(h.store.Count("c"), kItems);
  EXPECT_EQ(h.feed_progress.Of(*h.Container()).stall,
            "the log is full and subscription \"archive\" has not acknowledged");
  EXPECT_LT(h.Watermark("c").value_or(0), 10);
  for (int i = 0; i < 20; ++i) {
    h.Consume("archive");
    h.KeepHouse();
    h.SweepFor(absl::Seconds(10));
    h.AnnounceNow();
  }
  EXPECT_EQ(h.store.Count("c"), 0);
  EXPECT_FALSE(h.Figures().is_full);
}

}  // namespace
}  // namespace ttl
