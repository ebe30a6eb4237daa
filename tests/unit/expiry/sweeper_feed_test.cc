// The sweep of containers with a feed.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "service/base/done.h"
#include "tests/testing/sweep_harness.h"

namespace ttl {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// The last event of the feed of "c".
FeedEvent LastEvent(SweepHarness& h) {
  FeedQuery query;
  query.containers = {h.storage.Find("c")};
  query.after = query.containers[0]->feed.first_sequence;
  return h.storage->feed().Read(query).value().entries.back().event;
}

TEST(SweeperFeedTest, AnItemIsSentOnlyOnceItsExpiryIsCommitted) {
  SweepHarness h;
  h.CreateWithFeed("c", -1);
  h.WriteMany("c", "i", 1000, kStart, 10);
  h.store.SetBeforeDelete([&](const auto& request, auto&) -> std::optional<grpc::Status> {
    const std::vector<std::string> events = h.Events("c");
    for (const auto& item : request.items()) {
      EXPECT_THAT(events, testing::Contains(absl::StrCat("EXPIRED ", item.id())));
    }
    return std::nullopt;
  });
  h.SweepFor(absl::Seconds(9));
  EXPECT_THAT(h.Events("c"), IsEmpty());
  h.SweepFor(absl::Seconds(1));
  EXPECT_EQ(h.store.Count("c"), 0) << "in its second, though nobody had announced it";
  EXPECT_EQ(h.Events("c").size(), 2000);
}

TEST(SweeperFeedTest, WhatTheAnnouncerHasAnnouncedIsSentAtOnce) {
  SweepHarness h;
  h.CreateWithFeed("c", -1);
  h.Write("c", "a", kStart, 10);
  h.clock.Advance(absl::Seconds(10));
  h.AnnounceNow();
  EXPECT_EQ(h.SweepNow(), 1);
  EXPECT_THAT(h.Events("c"), ElementsAre("EXPIRED a", "PURGED a"));
}

TEST(SweeperFeedTest, APurgeNamesItsExpiryAndSaysHowLateItWas) {
  SweepHarness h;
  h.CreateWithFeed("c", -1);
  h.Write("c", "a", kStart, 10);
  h.clock.Advance(absl::Seconds(10));
  h.AnnounceNow();
  const uint64_t expired = LastEvent(h).sequence;
  h.clock.Advance(absl::Seconds(7));
  h.SweepNow();
  const FeedEvent purged = LastEvent(h);
  EXPECT_EQ(purged.kind, EventKind::kPurged);
  EXPECT_EQ(purged.expired_sequence, expired);
  EXPECT_EQ(purged.lateness_seconds, 7);
  EXPECT_EQ(purged.ts, kStart);
  EXPECT_EQ(purged.expire_time, kStart + 10);
  EXPECT_FALSE(purged.superseded);
}

TEST(SweeperFeedTest, AnItemThatTheStoreDoesNotHaveIsGone) {
  SweepHarness h;
  h.CreateWithFeed("c", -1);
  h.Write("c", "a", kStart, 10);
  h.store.Erase("c", KeyOf("a"));
  h.SweepFor(absl::Seconds(10));
  EXPECT_THAT(h.Events("c"), ElementsAre("EXPIRED a", "GONE a"));
}

TEST(SweeperFeedTest, AReportDuringTheDeleteEndsTheExpiryAndThePurgeEndsNothing) {
  SweepHarness h;
  h.CreateWithFeed("c", -1);
  h.Write("c", "a", kStart, 10);
  h.store.SetAfterDelete([&](const auto&, auto&) {
    h.Write("c", "a", kStart + 10, 1000);
    return grpc::Status::OK;
  });
  h.SweepFor(absl::Seconds(10));
  EXPECT_THAT(h.Events("c"), ElementsAre("EXPIRED a", "REPLACED a", "PURGED a superseded"));
  EXPECT_TRUE(h.storage.FindItem("c", "a").has_value());
}

TEST(SweeperFeedTest, AnItemThatTheStoreHasChangedIsReplaced) {
  SweepHarness h;
  h.CreateWithFeed("c", -1);
  h.Write("c", "a", kStart, 10);
  ItemVersion newer;
  newer.times = {kStart + 5, 1000};
  h.store.Put("c", KeyOf("a"), newer);
  h.SweepFor(absl::Seconds(10));
  EXPECT_THAT(h.Events("c"), ElementsAre("EXPIRED a", "REPLACED a"));
}

TEST(SweeperFeedTest, AnItemThatIsTriedAgainIsAnnouncedOnce) {
  SweepHarness h;
  h.CreateWithFeed("c", -1);
  h.Write("c", "a", kStart, 10);
  h.store.Poison("c", KeyOf("a"), "no");
  for (int i = 0; i < 60; ++i) {
    h.SweepFor(absl::Seconds(10));
    h.AnnounceNow();
  }
  EXPECT_GT(h.TallyOf("c").failed, 3);
  EXPECT_THAT(h.Events("c"), ElementsAre("EXPIRED a"));
}

TEST(SweeperFeedTest, AHeldItemIsAnnouncedBeforeItIsSetAside) {
  SweepHarness h;
  h.CreateWithFeed("c", -1);
  h.Write("c", "a", kStart, 10);
  HoldRequest hold;
  hold.hold_id = "h";
  hold.reason = "audit";
  hold.scope = ItemsOfPartition{"p"};
  ASSERT_TRUE(Await<absl::StatusOr<PlacedHold>>([&](auto done) {
                h.storage->holds().Place("c", hold, kTestNow, std::move(done));
              }).ok());
  h.SweepFor(absl::Seconds(15));
  EXPECT_THAT(h.Events("c"), ElementsAre("EXPIRED a"));
  EXPECT_EQ(h.storage->holds().Counts(h.storage.Find("c")->number).items_set_aside, 1);
  EXPECT_EQ(h.store.Count("c"), 1);
}

TEST(SweeperFeedTest, WhileDeletesAreHeldTheSweepTellsNothing) {
  SweepHarness h;
  h.CreateWithFeed("c", -1);
  h.WriteMany("c", "i", 10, kStart, 10);
  h.storage.Pause("c", true);
  h.SweepFor(absl::Minutes(6));
  EXPECT_THAT(h.Events("c"), IsEmpty()) << "that is the announcer's";
  EXPECT_EQ(h.AnnounceNow().announced, 10);
  h.storage.Pause("c", false);
  h.SweepNow();
  EXPECT_EQ(h.store.Count("c"), 0);
}

// Its present state is not known, so nothing is announced, but it must not stay for ever.
TEST(SweeperFeedTest, AnItemOfUnknownStateIsSentUnannounced) {
  SweepHarness h;
  h.storage.Create("c", -1);
  h.Write("c", "a", kStart, 10);
  h.store.SetBeforeDelete([](const auto& request, auto& response) {
    for (int i = 0; i < request.items_size(); ++i) {
      response.add_results()->set_outcome(v1::DELETE_OUTCOME_MODIFIED);
    }
    return std::optional<grpc::Status>(grpc::Status::OK);
  });
  h.SweepFor(absl::Seconds(11));
  ASSERT_TRUE(h.storage.FindItem("c", "a")->state_unknown);
  ContainerSettings settings = h.storage.Find("c")->settings;
  settings.feed = FeedSettings();
  ASSERT_TRUE(h.storage.Update("c", settings).ok());
  h.store.SetBeforeDelete(nullptr);
  EXPECT_EQ(h.AnnounceNow().announced, 0);
  h.SweepFor(absl::Hours(2));
  EXPECT_EQ(h.store.Count("c"), 0);
}

TEST(SweeperFeedTest, WhatIsWrittenExpiredInATryIsAnnouncedAndTriedAgain) {
  SweepHarness h;
  h.CreateWithFeed("c", -1);
  h.Write("c", "a", kStart, 10);
  ItemVersion other;
  other.times = {kStart - 5, 10};
  h.store.Put("c", KeyOf("a"), other);
  h.SweepFor(absl::Seconds(10));
  h.AnnounceNow();
  h.SweepFor(absl::Minutes(1));
  EXPECT_THAT(h.Events("c"), ElementsAre("EXPIRED a", "REPLACED a", "EXPIRED a late", "PURGED a"));
}

// Only what may be announced is sent: if the announcing finds nothing to tell twice, the sweep
// waits.
TEST(SweeperFeedTest, TheSweepDoesNotSpinWhileNothingMayBeAnnounced) {
  SweepHarness h;
  h.CreateWithFeed("c", -1);
  h.Write("c", "a", kStart, 10);
  h.storage->feed().SetClock(nullptr);
  h.SweepFor(absl::Seconds(12));
  EXPECT_EQ(h.store.Count("c"), 1);
  EXPECT_GE(h.Step().wait, absl::Milliseconds(100));
}

}  // namespace
}  // namespace ttl
