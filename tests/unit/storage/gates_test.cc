// Gated subscriptions as storage keeps them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "service/base/done.h"
#include "service/base/error_details.h"
#include "service/storage/feed/feed_log.h"
#include "tests/testing/feed_for_test.h"

namespace ttl {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class GatesTest : public testing::Test {
 protected:
  GatesTest() {
    FeedSettings settings;
    settings.max_age_seconds = 100;
    settings.max_bytes = FeedSettings::kMinMaxBytes;
    feeds_.Create("c", 60, settings);
  }

  SubscriptionView CreateGate(const std::string& name, int64_t give_up_after_seconds = 0) {
    Subscription gate;
    gate.name = name;
    gate.gate = true;
    gate.give_up_after_seconds = give_up_after_seconds;
    return feeds_.Subscribe("c", gate).value();
  }
  absl::Status RemoveGate(const std::string& name) {
    return Await<absl::Status>(
        [&](auto done) { feeds_.feed().Unsubscribe("c", name, std::move(done)); });
  }
  SubscriptionView View(const std::string& name) { return feeds_.feed().Find("c", name).value(); }
  GateView Gates() { return feeds_.feed().Gates(*feeds_.Find("c")); }
  FeedFigures Figures() { return feeds_.feed().Figures(*feeds_.Find("c")); }
  // The items whose EXPIRED is kept.
  std::vector<std::string> Announced() {
    std::vector<std::string> announced;
    for (const FeedEvent& event : feeds_.Events("c", Figures().dropped_sequence)) {
      if (event.kind == EventKind::kExpired) announced.push_back(event.key.id);
    }
    return announced;
  }
  void Track(const std::string& key) { feeds_.storage().TrackOne("c", key, kT, std::nullopt); }
  // Tracks an item that is expired, and tells it. Returns the sequence of its EXPIRED.
  uint64_t Tell(const std::string& key) {
    feeds_.storage().TrackOne("c", key, feeds_.now - 60, std::nullopt);
    return feeds_.storage().FindItem("c", key)->expired_sequence;
  }
  // More than `bytes` of events.
  void FillLog(int64_t bytes) {
    constexpr int64_t kKeyBytes = 1000;
    std::vector<ItemReport> reports;
    for (int64_t i = 0; i <= bytes / kKeyBytes; ++i) {
      const std::string key = absl::StrCat(i, std::string(kKeyBytes, 'k'));
      reports.push_back({KeyOf(key), {{feeds_.now - 60, {}}, "", {}, 0}});
    }
    ASSERT_TRUE(feeds_.storage().Track("c", reports).ok());
  }
  int64_t SetAside(const std::vector<std::string>& keys) {
    std::vector<GatedItem> items;
    for (const std::string& key : keys) {
      items.push_back({KeyOf(key), feeds_.storage().FindItem("c", key)->generation, false});
    }
    return Await<absl::StatusOr<int64_t>>([&](auto done) {
             feeds_.feed().SetAside(feeds_.Find("c")->number, items, std::move(done));
           })
        .value();
  }
  void KeepHouse() { feeds_.storage().FinishHousekeeping(); }
  // Lets serving time pass.
  void Serve(int64_t seconds) {
    for (; seconds > 0; seconds -= 10) {
      feeds_.now += std::min<int64_t>(seconds, 10);
      KeepHouse();
    }
  }

  FeedForTest feeds_;
};

TEST_F(GatesTest, AGateBeginsAtTheOldestEventThatIsKept) {
  const uint64_t first = feeds_.Find("c")->feed.first_sequence;
  Tell("a");
  const Subscription gate = CreateGate("g").subscription;
  EXPECT_EQ(gate.acknowledged_sequence, first);
  EXPECT_EQ(gate.gate_sequence, first);
  EXPECT_FALSE(View("g").has_lost_events);

  const uint64_t announced = Tell("b");
  ASSERT_TRUE(feeds_.Acknowledge("c", "g", announced).ok());
  feeds_.now += 1000;
  KeepHouse();
  const uint64_t dropped = Figures().dropped_sequence;
  EXPECT_EQ(dropped, announced);
  EXPECT_EQ(CreateGate("later").subscription.gate_sequence, dropped);
}

TEST_F(GatesTest, AnOrdinarySubscriptionIsNoGate) {
  Tell("a");
  ASSERT_TRUE(feeds_.Subscribe("c", "s").ok());
  EXPECT_EQ(Gates(), GateView());
  EXPECT_TRUE(Gates().LetsPass(0));
}

TEST_F(GatesTest, WhatGatesLetPassIsTheLeastOfTheirAcknowledgements) {
  CreateGate("g");
  CreateGate("h");
  const uint64_t a = Tell("a");
  const uint64_t b = Tell("b");
  const ContainerPtr c = feeds_.Find("c");
  EXPECT_FALSE(Gates().LetsPass(a));
  EXPECT_FALSE(Gates().LetsPass(0));
  ASSERT_TRUE(feeds_.Acknowledge("c", "g", b).ok());
  EXPECT_FALSE(Gates().LetsPass(a));
  EXPECT_THAT(feeds_.feed().WaitingFor(*c, a), ElementsAre("h"));
  EXPECT_THAT(feeds_.feed().WaitingFor(*c, 0), ElementsAre("g", "h"));
  ASSERT_TRUE(feeds_.Acknowledge("c", "h", a).ok());
  EXPECT_TRUE(Gates().LetsPass(a));
  EXPECT_FALSE(Gates().LetsPass(b));
  EXPECT_THAT(feeds_.feed().WaitingFor(*c, a), IsEmpty());
}

TEST_F(GatesTest, EventsThatAGateHasNotPassedAreKeptWhateverTheirAge) {
  CreateGate("g");
  const uint64_t a = Tell("a");
  Tell("b");
  feeds_.now += 100'000;
  KeepHouse();
  EXPECT_THAT(Announced(), ElementsAre("a", "b"));
  ASSERT_TRUE(feeds_.Acknowledge("c", "g", a).ok());
  KeepHouse();
  EXPECT_THAT(Announced(), ElementsAre("b"));
}

TEST_F(GatesTest, ALogIsFullUntilTheGateHasPassedItsFront) {
  CreateGate("g");
  const uint64_t front = Tell("a");
  FillLog(FeedSettings::kMinMaxBytes);
  KeepHouse();
  EXPECT_TRUE(Gates().is_full);
  EXPECT_TRUE(Figures().is_full);
  EXPECT_EQ(Figures().dropped_sequence, 0);
  EXPECT_THAT(feeds_.feed().GatesThatWait(*feeds_.Find("c")), ElementsAre("g"));
  ASSERT_TRUE(feeds_.Acknowledge("c", "g", front).ok());
  EXPECT_FALSE(Gates().is_full);
}

TEST_F(GatesTest, BeyondTwiceItsBytesALogDropsWhatAGateHasNotPassedAndSaysSo) {
  CreateGate("g");
  const uint64_t front = Tell("a");
  FillLog(2 * FeedSettings::kMinMaxBytes + 100'000);
  KeepHouse();
  const uint64_t dropped = Figures().dropped_sequence;
  EXPECT_GE(dropped, front);
  EXPECT_LE(Figures().bytes, 2 * FeedSettings::kMinMaxBytes);
  EXPECT_GT(Figures().bytes, 2 * FeedSettings::kMinMaxBytes - 10'000);
  EXPECT_TRUE(View("g").has_lost_events);
  EXPECT_EQ(View("g").subscription.gate_sequence, dropped);
  EXPECT_EQ(Gates().again_up_to, dropped);
  EXPECT_FALSE(Gates().LetsPass(front));
  feeds_.Reopen();
  EXPECT_EQ(Gates().again_up_to, dropped);
  EXPECT_FALSE(Gates().LetsPass(front));

  // It need not acknowledge what it cannot read.
  EXPECT_EQ(Gates().passed, dropped);
  EXPECT_EQ(SetAside({"a"}), 1);
  const uint64_t again = feeds_.storage().FindItem("c", "a")->expired_sequence;
  EXPECT_GT(again, dropped);
  ASSERT_TRUE(feeds_.Acknowledge("c", "g", again).ok());
  EXPECT_TRUE(Gates().LetsPass(again));
}

TEST_F(GatesTest, AFrontThatIsPassedDoesNotLetALogGrowOn) {
  CreateGate("g");
  const uint64_t front = Tell("a");
  FillLog(FeedSettings::kMinMaxBytes * 8 / 5);
  KeepHouse();
  ASSERT_TRUE(feeds_.Acknowledge("c", "g", front).ok());
  EXPECT_TRUE(Gates().is_full);
  ASSERT_TRUE(feeds_.Acknowledge("c", "g", feeds_.feed().LastSequence()).ok());
  EXPECT_FALSE(Gates().is_full);
}

TEST_F(GatesTest, EventsThatAreNoExpiredArePassedOverAndKept) {
  CreateGate("g", 1000);
  ASSERT_TRUE(feeds_.Acknowledge("c", "g", Tell("a")).ok());
  feeds_.storage().UntrackOne("c", "a", ItemRemoval::kNewerThanAnyTs);
  KeepHouse();
  EXPECT_EQ(Gates().passed, feeds_.feed().LastSequence());
  EXPECT_EQ(View("g").given_up_sequence, 0);
  feeds_.now += 500;
  KeepHouse();
  const std::vector<FeedEvent> kept = feeds_.Events("c", Figures().dropped_sequence);
  ASSERT_EQ(kept.size(), 1);
  EXPECT_EQ(kept[0].kind, EventKind::kGone);
}

TEST_F(GatesTest, AGateThatIsCreatedAnewIsNotGivenUp) {
  CreateGate("g", 20);
  const uint64_t a = Tell("a");
  Serve(30);
  ASSERT_TRUE(Gates().LetsPass(a));
  ASSERT_TRUE(RemoveGate("g").ok());
  CreateGate("g");
  EXPECT_EQ(View("g").given_up_sequence, 0);
  EXPECT_FALSE(Gates().LetsPass(a));
}

TEST_F(GatesTest, WithoutAGateNothingIsSetAsideAndNothingIsAnnounced) {
  Track("a");
  feeds_.now = kT + 60;
  EXPECT_EQ(SetAside({"a"}), 0);
  EXPECT_THAT(feeds_.Log("c"), IsEmpty());
}

// The log of feed 2 in memory, with a gate "g".
TEST(GatePlaceTest, BelongsToTheGateThatWasCreatedThen) {
  FeedLog log;
  auto container = std::make_shared<Container>();
  container->number = 1;
  container->id = "c";
  container->feed.number = 2;
  const auto gate_of = [](int64_t created) {
    Subscription gate;
    gate.name = "g";
    gate.gate = true;
    gate.create_time = absl::FromUnixSeconds(created);
    return FeedLog::Subscribed{2, "g", gate};
  };
  const auto place_of = [](int64_t created) {
    return FeedLog::Placed{2, "g", absl::FromUnixSeconds(created), {5, 0}};
  };
  FeedLog::Changes created;
  created.containers = {{1, container}};
  created.subscriptions = {gate_of(10)};
  created.placed = {place_of(10)};
  log.Publish(created);
  EXPECT_EQ(log.PlaceOf(2, "g").given_up, 5);
  FeedLog::Changes created_anew;  // deleted and created in one commit
  created_anew.subscriptions = {gate_of(20)};
  created_anew.placed = {place_of(10)};
  log.Publish(created_anew);
  EXPECT_EQ(log.PlaceOf(2, "g").given_up, 0);
}

TEST_F(GatesTest, AnItemThatIsToldIsSetAsideUnderItsExpiredAndOneThatIsNotIsAnnouncedFirst) {
  CreateGate("g");
  Tell("a");
  Track("b");
  feeds_.now = kT + 60;
  EXPECT_EQ(SetAside({"a", "b"}), 2);
  EXPECT_THAT(feeds_.Log("c"), ElementsAre("EXPIRED a late", "EXPIRED b"));
  EXPECT_EQ(Figures().gated_items, 2);
  EXPECT_EQ(SetAside({"a", "b"}), 0);
  EXPECT_EQ(feeds_.storage()->CheckInvariants(), absl::OkStatus());
  feeds_.Reopen();
  KeepHouse();
  EXPECT_EQ(Figures().gated_items, 2);
}

TEST_F(GatesTest, AnItemThatPassesOrLivesIsNotSetAside) {
  CreateGate("g");
  ASSERT_TRUE(feeds_.Acknowledge("c", "g", Tell("a")).ok());
  feeds_.storage().TrackOne("c", "live", feeds_.now, std::nullopt);
  EXPECT_EQ(SetAside({"a", "live"}), 0);
  feeds_.is_judging = false;
  feeds_.now += 1000;
  EXPECT_EQ(SetAside({"live"}), 0);
}

TEST_F(GatesTest, AGateIsGivenUpForWhatWasLoggedLongEnoughAgoInServingTime) {
  CreateGate("g", 100);
  const uint64_t a = Tell("a");
  Serve(60);
  const uint64_t b = Tell("b");
  Serve(39);
  EXPECT_EQ(View("g").given_up_sequence, 0);
  Serve(2);
  EXPECT_EQ(View("g").given_up_sequence, a);
  EXPECT_TRUE(Gates().LetsPass(a));
  EXPECT_FALSE(Gates().LetsPass(b));
  Serve(60);
  EXPECT_TRUE(Gates().LetsPass(b));
}

TEST_F(GatesTest, EventsBeforeTheGateCountFromItsCreation) {
  const uint64_t a = Tell("a");
  Serve(80);
  CreateGate("g", 50);
  Serve(49);
  EXPECT_FALSE(Gates().LetsPass(a));
  Serve(2);
  EXPECT_TRUE(Gates().LetsPass(a));
}

TEST_F(GatesTest, WhatAGateWasGivenUpForStaysPassedAfterItWasDropped) {
  CreateGate("g", 20);
  const uint64_t a = Tell("a");
  Serve(300);
  ASSERT_EQ(Figures().dropped_sequence, a);
  feeds_.Reopen();
  EXPECT_EQ(View("g").given_up_sequence, a);
  EXPECT_TRUE(Gates().LetsPass(a));
}

TEST_F(GatesTest, APurgeNamesTheGatesThatWereGivenUp) {
  CreateGate("g", 20);
  CreateGate("h", 20);
  Tell("a");
  ASSERT_TRUE(feeds_.Acknowledge("c", "h", Tell("b")).ok());
  Serve(30);
  feeds_.Apply("c", feeds_.Judge("c", "a"), DeleteReport::Kind::kGone, /*deleted=*/true);
  const FeedEvent purged = feeds_.Events("c").back();
  EXPECT_EQ(purged.kind, EventKind::kPurged);
  EXPECT_THAT(purged.given_up_subscriptions, ElementsAre("g"));
  feeds_.Apply("c", feeds_.Judge("c", "b"), DeleteReport::Kind::kGone, /*deleted=*/false);
  EXPECT_THAT(feeds_.Events("c").back().given_up_subscriptions, IsEmpty());
}

// Without an index nothing would be announced to the gate any more.
TEST_F(GatesTest, AContainerWithAGateKeepsItsIndex) {
  const auto take_index_away = [&] {
    ContainerSettings settings = feeds_.Find("c")->settings;
    settings.policy.default_ttl = std::nullopt;
    settings.indexing_mode = IndexingMode::kNone;
    return feeds_.storage().Update("c", settings).status();
  };
  CreateGate("g");
  EXPECT_EQ(ReasonOf(take_index_away()), "SUBSCRIPTIONS_EXIST");
  ASSERT_TRUE(RemoveGate("g").ok());
  EXPECT_TRUE(take_index_away().ok());
}

}  // namespace
}  // namespace ttl
