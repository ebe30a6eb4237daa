#include "service/expiry/feed/announcer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "service/base/background_loop.h"
#include "service/base/done.h"
#include "service/core/system_clock.h"
#include "tests/testing/sweep_harness.h"
#include "tests/testing/wait.h"

namespace ttl {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

void Update(SweepHarness& h, const ContainerSettings& settings) {
  const auto updated = Await<absl::StatusOr<ContainerPtr>>([&](auto done) {
    h.storage->containers().Update(
        "c", [settings](const Container&) { return settings; }, absl::FromUnixSeconds(h.Now()),
        absl::ZeroDuration(), /*force=*/false, std::move(done));
  });
  ASSERT_TRUE(updated.ok()) << updated.status();
}

void SetDefaultTtl(SweepHarness& h, std::optional<int64_t> default_ttl) {
  ContainerSettings settings = h.storage.Find("c")->settings;
  settings.policy.default_ttl = default_ttl;
  Update(h, settings);
}

void SwitchFeed(SweepHarness& h, std::optional<FeedSettings> feed) {
  ContainerSettings settings = h.storage.Find("c")->settings;
  settings.feed = feed;
  Update(h, settings);
}

int64_t CountOf(const std::vector<std::string>& events, const std::string& prefix) {
  return std::count_if(events.begin(), events.end(),
                       [&](const std::string& event) { return absl::StartsWith(event, prefix); });
}

std::string StallOf(SweepHarness& h) { return h.feed_progress.Of(*h.storage.Find("c")).stall; }

ItemReport ReportOf(const std::string& id, int64_t ts, std::optional<int64_t> ttl) {
  ItemReport report;
  report.key = KeyOf(id);
  report.version.times = {ts, ttl};
  return report;
}

// What the announcer reads of the index and of items.
int64_t ReadsOf(SweepHarness& h) {
  const OperationCounts before = h.storage->Counts();
  h.AnnounceNow();
  const OperationCounts after = h.storage->Counts();
  return (after.gets - before.gets) + (after.seeks - before.seeks) + (after.steps - before.steps);
}

TEST(AnnouncerTest, AnItemIsAnnouncedInItsSecondAndNotBefore) {
  SweepHarness h;
  h.CreateWithFeed("c", 20);
  h.Write("c", "own", kStart, 10);
  h.Write("c", "inherits", kStart);
  h.Write("c", "never", kStart, -1);
  EXPECT_EQ(h.AnnounceNow().announced, 0);
  h.clock.Advance(absl::Milliseconds(9700));
  Announcer::StepResult step = h.AnnounceNow();
  EXPECT_EQ(step.announced, 0);
  EXPECT_EQ(step.wait, absl::Milliseconds(300)) << "until the exact second";
  h.clock.Advance(step.wait);
  EXPECT_EQ(h.AnnounceNow().announced, 1);
  EXPECT_THAT(h.Events("c"), ElementsAre("EXPIRED own"));
  h.clock.Advance(absl::Seconds(9.999));
  EXPECT_EQ(h.AnnounceNow().announced, 0);
  h.clock.Advance(absl::Milliseconds(1));
  EXPECT_EQ(h.AnnounceNow().announced, 1);
  h.clock.Advance(absl::Hours(100));
  EXPECT_EQ(h.AnnounceNow().announced, 0);
  EXPECT_THAT(h.Events("c"), ElementsAre("EXPIRED own", "EXPIRED inherits"));
}

TEST(AnnouncerTest, AnItemThatIsWrittenAgainIsAnnouncedAtItsNewEnd) {
  SweepHarness h;
  h.CreateWithFeed("c", -1);
  h.Write("c", "a", kStart, 10);
  h.AnnounceNow();
  h.clock.Advance(absl::Seconds(9));
  h.Write("c", "a", kStart + 9, 10);
  h.clock.Advance(absl::Seconds(9));
  EXPECT_EQ(h.AnnounceNow().announced, 0);
  h.clock.Advance(absl::Seconds(1));
  EXPECT_EQ(h.AnnounceNow().announced, 1);
  // Its index entry stays where it is, before what the announcer has passed.
  h.Write("c", "a", kStart + 19, 10);
  h.clock.Advance(absl::Seconds(9));
  EXPECT_EQ(h.AnnounceNow().announced, 0);
  h.clock.Advance(absl::Seconds(1));
  EXPECT_EQ(h.AnnounceNow().announced, 1);
  EXPECT_THAT(h.Events("c"), ElementsAre("EXPIRED a", "REPLACED a", "EXPIRED a"));
}

// As a cache writes an item when it finds that it has expired. The index entry stays where it is.
TEST(AnnouncerTest, AnItemThatIsWrittenInTheCommitThatTellsItIsAnnouncedAtItsNewEnd) {
  SweepHarness h;
  const uint64_t number = h.CreateWithFeed("c", -1)->number;
  h.Write("c", "a", kStart, 10);
  h.AnnounceNow();
  h.clock.Advance(absl::Seconds(10));
  const auto report = [&](const std::string& id, int64_t ts) {
    h.storage->items().Track(number, {ReportOf(id, ts, 10)}, AdoptionTerms(),
                             [](auto outcomes) { EXPECT_TRUE(outcomes.ok()); });
  };
  h.storage.env().HoldSyncs(true);
  report("first", kStart + 10);
  h.storage.env().AwaitHeldSync();
  std::thread announcer([&] { h.AnnounceNow(); });
  EXPECT_TRUE(WaitUntil([&] { return h.storage->Figures().commits.queued_changes == 1; }));
  report("a", kStart + 10);
  h.storage.env().HoldSyncs(false);
  announcer.join();
  EXPECT_THAT(h.Events("c"), ElementsAre("EXPIRED a", "REPLACED a"));
  h.clock.Advance(absl::Seconds(10));
  EXPECT_EQ(h.AnnounceNow().announced, 2);
}

TEST(AnnouncerTest, NothingIsAnnouncedWhileItsTimeOrItsDataCannotBeTrusted) {
  struct Case {
    std::string name;
    void (*begin)(SweepHarness&);
    void (*end)(SweepHarness&);
  };
  const Case cases[] = {
      {"clock",
       [](SweepHarness& h) {
         h.clock.StepWall(absl::Hours(1));
         h.guarded_clock->Tick();
       },
       [](SweepHarness& h) {
         h.clock.StepWall(-absl::Hours(1));
         h.guarded_clock->Tick();
       }},
      {"data", [](SweepHarness& h) { h.storage->data_trust().Doubt("it was empty"); },
       [](SweepHarness& h) { h.storage->data_trust().Confirm("it was empty"); }},
      {"store",
       [](SweepHarness& h) {
         ASSERT_TRUE(h.levers->TakeFirstStore("right").ok());
         ASSERT_TRUE(h.levers->MeetStore("wrong").ok());
       },
       [](SweepHarness& h) { ASSERT_TRUE(h.levers->MeetStore("right").ok()); }},
  };
  for (const Case& test : cases) {
    SweepHarness h;
    h.CreateWithFeed("c", -1);
    h.Write("c", "a", kStart, 10);
    h.AnnounceNow();
    test.begin(h);
    h.clock.Advance(absl::Seconds(30));
    EXPECT_EQ(h.AnnounceNow().announced, 0);
    EXPECT_THAT(h.Events("c"), IsEmpty()) << test.name;
    EXPECT_TRUE(absl::StrContains(StallOf(h), test.name)) << StallOf(h);
    EXPECT_EQ(h.Watermark("c"), 0) << "it stands still";
    test.end(h);
    EXPECT_EQ(h.AnnounceNow().announced, 1) << test.name;
    EXPECT_THAT(h.Events("c"), ElementsAre("EXPIRED a"));
    EXPECT_EQ(StallOf(h), "");
    EXPECT_EQ(h.Watermark("c"), 30);
  }
}

TEST(AnnouncerTest, AfterAStepOfTheClockItemsAreAnnouncedAtOnce) {
  SweepHarness h;
  h.CreateWithFeed("c", -1);
  h.Write("c", "a", kStart, 3600);
  h.AnnounceNow();
  h.clock.StepWall(absl::Hours(2));
  h.guarded_clock->Tick();
  EXPECT_EQ(h.AnnounceNow().announced, 0);
  ASSERT_TRUE(h.guarded_clock->AcceptWall().ok());
  EXPECT_EQ(h.AnnounceNow().announced, 1);
}

TEST(AnnouncerTest, AChangeOfPolicyIsOneEventAndItsItemsFollowInBoundedSteps) {
  SweepHarness h;
  h.CreateWithFeed("c", 1000);
  h.WriteMany("c", "i", 10'000, kStart);
  h.AnnounceNow();
  h.clock.Advance(absl::Seconds(100));
  h.AnnounceNow();
  const OperationCounts before = h.storage->Counts();
  SetDefaultTtl(h, 50);
  EXPECT_LE(h.storage->Counts().puts - before.puts, 10);
  EXPECT_THAT(h.Events("c"), ElementsAre("POLICY_CHANGED"));
  EXPECT_EQ(h.Watermark("c"), std::nullopt)
      << "what expired by the new policy is not announced yet";
  const Announcer::StepResult first = h.announcer().RunOnce();
  EXPECT_GT(first.announced, 0);
  EXPECT_LT(first.announced, 10'000) << "a step is bounded";
  EXPECT_EQ(first.announced + h.AnnounceNow().announced, 10'000);
  const std::vector<std::string> events = h.Events("c");
  EXPECT_EQ(CountOf(events, "POLICY_CHANGED"), 1);
  EXPECT_EQ(CountOf(events, "EXPIRED"), 10'000);
  EXPECT_EQ(h.Watermark("c"), 100);
}

// The watermark goes on until the commit of the change, whose time was read before.
TEST(AnnouncerTest, WhatAWatermarkOfTheOldPolicyCoversIsLate) {
  SweepHarness h;
  h.CreateWithFeed("c", 1000);
  h.Write("c", "covered", kStart);
  h.Write("c", "later", kStart + 10);
  h.clock.Advance(absl::Seconds(10));
  h.AnnounceNow();
  ASSERT_EQ(h.Watermark("c"), 10);
  h.storage.SetDefaultTtl("c", 5);  // by a time of kStart
  h.AnnounceNow();
  h.clock.Advance(absl::Seconds(5));
  h.AnnounceNow();
  EXPECT_THAT(h.Events("c"),
              ElementsAre("POLICY_CHANGED", "EXPIRED covered late", "EXPIRED later"));
}

TEST(AnnouncerTest, WhatLivesAgainIsRevivedAndItsNextExpiryAnnouncedAnew) {
  SweepHarness h;
  h.CreateWithFeed("c", 10);
  h.WriteMany("c", "i", 5000, kStart);
  h.Write("c", "own", kStart, 15);
  h.clock.Advance(absl::Seconds(20));
  EXPECT_EQ(h.AnnounceNow().announced, 5001);
  SetDefaultTtl(h, 100);
  EXPECT_EQ(h.AnnounceNow().revived, 5000) << "the one with a ttl of its own has not come back";
  EXPECT_EQ(h.AnnounceNow().revived, 0);
  EXPECT_EQ(CountOf(h.Events("c"), "REVIVED"), 5000);
  h.clock.Advance(absl::Seconds(79));
  EXPECT_EQ(h.AnnounceNow().announced, 0);
  h.clock.Advance(absl::Seconds(1));
  EXPECT_EQ(h.AnnounceNow().announced, 5000);
  SetDefaultTtl(h, std::nullopt);
  EXPECT_EQ(h.AnnounceNow().revived, 5001);
  SetDefaultTtl(h, 10);
  EXPECT_EQ(h.AnnounceNow().announced, 5001);
}

TEST(AnnouncerTest, AWalkForRevivedItemsBeginsAgainAfterARestart) {
  SweepHarness h;
  h.CreateWithFeed("c", 10);
  h.WriteMany("c", "i", 20'000, kStart);
  h.clock.Advance(absl::Seconds(20));
  EXPECT_EQ(h.AnnounceNow().announced, 20'000);
  SetDefaultTtl(h, 100);
  int64_t revived = h.announcer().RunOnce().revived;
  EXPECT_GT(revived, 0);
  EXPECT_LT(revived, 20'000);
  h.Restart();
  revived += h.AnnounceNow().revived;
  EXPECT_EQ(revived, 20'000);
  EXPECT_EQ(CountOf(h.Events("c"), "REVIVED"), 20'000);
}

TEST(AnnouncerTest, NothingIsAnnouncedTwiceAfterARestart) {
  SweepHarness h;
  h.CreateWithFeed("c", 10);
  h.WriteMany("c", "i", 1000, kStart);
  h.clock.Advance(absl::Seconds(20));
  EXPECT_EQ(h.AnnounceNow().announced, 1000);
  h.Restart();
  h.Write("c", "z", kStart, 30);
  EXPECT_EQ(h.AnnounceNow().announced, 0);
  h.clock.Advance(absl::Seconds(10));
  EXPECT_EQ(h.AnnounceNow().announced, 1);
}

// Items that wait for another try, under a hold, or because they were adopted.
TEST(AnnouncerTest, ItemsThatWaitOutOfTheOrderOfTheirExpiryAreAnnounced) {
  SweepHarness h;
  h.storage.Create("c", -1);
  h.Write("c", "stuck", kStart, 10);
  h.Write("c", "held", kStart, 10);
  ASSERT_TRUE(Await<absl::StatusOr<std::vector<TrackOutcome>>>([&](auto done) {
                h.storage->items().Track(
                    h.storage.Find("c")->number, {ReportOf("adopted", kStart - 100, 10)},
                    {kTestNow, kTestNow, absl::Hours(1), /*adopted=*/true}, std::move(done));
              }).ok());
  HoldRequest hold;
  hold.hold_id = "h";
  hold.reason = "audit";
  hold.scope = ItemsByKey{{KeyOf("held")}};
  ASSERT_TRUE(Await<absl::StatusOr<PlacedHold>>([&](auto done) {
                h.storage->holds().Place("c", hold, kTestNow, std::move(done));
              }).ok());
  h.store.Poison("c", KeyOf("stuck"), "no");
  h.SweepFor(absl::Seconds(11));
  EXPECT_EQ(h.storage->holds().Counts(h.storage.Find("c")->number).items_set_aside, 1);
  SwitchFeed(h, FeedSettings());
  EXPECT_EQ(h.AnnounceNow().announced, 3);
  EXPECT_THAT(h.Events("c"), UnorderedElementsAre("EXPIRED stuck late", "EXPIRED held late",
                                                  "EXPIRED adopted late"));
  h.SweepFor(absl::Seconds(30));
  EXPECT_EQ(h.AnnounceNow().announced, 0);
}

TEST(AnnouncerTest, AnAdoptedItemThatIsRevivedGoesOnWaiting) {
  SweepHarness h;
  const uint64_t number = h.CreateWithFeed("c", 10)->number;
  const auto tracked = Await<absl::StatusOr<std::vector<TrackOutcome>>>([&](auto done) {
    h.storage->items().Track(number, {ReportOf("a", kStart - 100, std::nullopt)},
                             {kTestNow, kTestNow, absl::Hours(1), /*adopted=*/true},
                             std::move(done));
  });
  ASSERT_TRUE(tracked.ok());
  h.AnnounceNow();
  SetDefaultTtl(h, 1000);
  h.AnnounceNow();
  SetDefaultTtl(h, 10);
  h.AnnounceNow();
  EXPECT_EQ(CountOf(h.Events("c"), "EXPIRED"), 2);
  EXPECT_EQ(h.SweepNow(), 0) << "its hour has not passed";
  h.clock.Advance(absl::Hours(1));
  EXPECT_EQ(h.SweepNow(), 1);
}

TEST(AnnouncerTest, AnItemUnderAHoldThatLivesAgainIsAnnouncedAtItsNewSecond) {
  SweepHarness h;
  h.CreateWithFeed("c", 10);
  h.Write("c", "a", kStart);
  HoldRequest hold;
  hold.hold_id = "h";
  hold.reason = "audit";
  hold.scope = ItemsByKey{{KeyOf("a")}};
  ASSERT_TRUE(Await<absl::StatusOr<PlacedHold>>([&](auto done) {
                h.storage->holds().Place("c", hold, kTestNow, std::move(done));
              }).ok());
  h.SweepFor(absl::Seconds(20));
  EXPECT_EQ(h.storage->holds().Counts(h.storage.Find("c")->number).items_set_aside, 1);
  SetDefaultTtl(h, 60);
  EXPECT_EQ(h.AnnounceNow().revived, 1);
  h.clock.Advance(absl::Seconds(39));
  EXPECT_EQ(h.AnnounceNow().announced, 0);
  h.clock.Advance(absl::Seconds(1));
  EXPECT_EQ(h.AnnounceNow().announced, 1);
  EXPECT_THAT(h.Events("c"), ElementsAre("EXPIRED a", "POLICY_CHANGED", "REVIVED a", "EXPIRED a"));
}

TEST(AnnouncerTest, ToldItemsAreNotReadAgainHoweverManyAreStored) {
  std::vector<int64_t> reads;
  for (const int64_t stored : {10, 10'000}) {
    SweepHarness h;
    h.CreateWithFeed("c", -1);
    h.WriteMany("c", "i", stored, kStart, 10);
    h.Write("c", "z", kStart, 20);
    h.clock.Advance(absl::Seconds(10));
    EXPECT_EQ(h.AnnounceNow().announced, stored);
    h.clock.Advance(absl::Seconds(10));
    reads.push_back(ReadsOf(h));
    EXPECT_EQ(CountOf(h.Events("c"), "EXPIRED z"), 1);
    EXPECT_EQ(ReadsOf(h), 0) << "there is nothing to tell";
  }
  EXPECT_EQ(reads[0], reads[1]);
  EXPECT_LE(reads[1], 30);
}

TEST(AnnouncerTest, WithoutAFeedNothingIsRead) {
  SweepHarness h;
  h.storage.Create("c", 10);
  h.WriteMany("c", "i", 1000, kStart);
  h.clock.Advance(absl::Seconds(20));
  EXPECT_EQ(ReadsOf(h), 0);
  EXPECT_GE(h.AnnounceNow().wait, absl::Minutes(1));
}

TEST(AnnouncerTest, AFeedThatIsSwitchedOnAgainTellsWhatTheOldOneAnnounced) {
  SweepHarness h;
  h.CreateWithFeed("c", 10);
  h.Write("c", "a", kStart);
  h.clock.Advance(absl::Seconds(20));
  EXPECT_EQ(h.AnnounceNow().announced, 1);
  SwitchFeed(h, std::nullopt);
  EXPECT_EQ(h.AnnounceNow().announced, 0);
  SwitchFeed(h, FeedSettings());
  EXPECT_EQ(h.AnnounceNow().announced, 1);
  EXPECT_THAT(h.Events("c"), ElementsAre("EXPIRED a late"));
}

TEST(AnnouncerTest, AnItemIsNoticedOncePerVersionAheadOfItsEnd) {
  FeedSettings feed;
  feed.notice_seconds = 5;
  SweepHarness h;
  h.CreateWithFeed("c", -1, feed);
  h.Write("c", "a", kStart, 10);
  h.AnnounceNow();
  h.clock.Advance(absl::Milliseconds(4900));
  Announcer::StepResult step = h.AnnounceNow();
  EXPECT_EQ(step.noticed, 0);
  EXPECT_EQ(step.wait, absl::Milliseconds(100));
  h.clock.Advance(absl::Milliseconds(100));
  EXPECT_EQ(h.AnnounceNow().noticed, 1);
  h.clock.Advance(absl::Seconds(1));
  EXPECT_EQ(h.AnnounceNow().noticed, 0);
  // Another version starts anew.
  h.Write("c", "a", kStart + 6, 10);
  EXPECT_EQ(h.AnnounceNow().noticed, 0);
  h.clock.Advance(absl::Seconds(5));
  EXPECT_EQ(h.AnnounceNow().noticed, 1);
  h.clock.Advance(absl::Seconds(5));
  EXPECT_EQ(h.AnnounceNow().announced, 1);
  EXPECT_THAT(h.Events("c"), ElementsAre("EXPIRING a", "EXPIRING a", "EXPIRED a"));
}

TEST(AnnouncerTest, AnItemIsNoticedAgainIfAPolicyMovesItsEndByMoreThanTheNotice) {
  FeedSettings feed;
  feed.notice_seconds = 5;
  SweepHarness h;
  h.CreateWithFeed("c", 10, feed);
  h.Write("c", "a", kStart);
  h.clock.Advance(absl::Seconds(6));
  EXPECT_EQ(h.AnnounceNow().noticed, 1);
  SetDefaultTtl(h, 14);
  h.clock.Advance(absl::Seconds(4));
  EXPECT_EQ(h.AnnounceNow().noticed, 0) << "moved by less than the notice";
  SetDefaultTtl(h, 30);
  EXPECT_EQ(h.AnnounceNow().noticed, 0);
  h.clock.Advance(absl::Seconds(15));
  EXPECT_EQ(h.AnnounceNow().noticed, 1);
  h.clock.Advance(absl::Seconds(5));
  EXPECT_EQ(h.AnnounceNow().announced, 1);
}

TEST(AnnouncerTest, ATouchedItemIsNoticedAndAnnouncedAtItsNewEnd) {
  FeedSettings feed;
  feed.notice_seconds = 5;
  SweepHarness h;
  h.CreateWithFeed("c", 20, feed);
  h.storage.AllowTouch("c");
  h.Write("c", "a", kStart);
  h.AnnounceNow();
  h.clock.Advance(absl::Seconds(16));
  EXPECT_EQ(h.AnnounceNow().noticed, 1);
  h.storage.TouchOne("c", "a", h.Now());
  h.clock.Advance(absl::Seconds(10));  // past its first end
  Announcer::StepResult step = h.AnnounceNow();
  EXPECT_EQ(step.announced + step.noticed, 0);
  h.clock.Advance(absl::Seconds(5));
  EXPECT_EQ(h.AnnounceNow().noticed, 1);
  h.clock.Advance(absl::Seconds(5));
  EXPECT_EQ(h.AnnounceNow().announced, 1);
  EXPECT_THAT(h.Events("c"), ElementsAre("EXPIRING a", "EXPIRING a", "EXPIRED a"));
}

// The touch was judged a second before. The index entry stays where it is.
TEST(AnnouncerTest, AnItemThatIsTouchedInTheCommitThatTellsItIsAnnouncedAtItsNewEnd) {
  SweepHarness h;
  const uint64_t number = h.CreateWithFeed("c", -1)->number;
  h.storage.AllowTouch("c");
  h.Write("c", "a", kStart, 10);
  h.AnnounceNow();
  h.clock.Advance(absl::Seconds(10));
  h.storage.env().HoldSyncs(true);
  h.storage->items().Track(number, {ReportOf("first", kStart + 10, 10)}, AdoptionTerms(),
                           [](auto outcomes) { EXPECT_TRUE(outcomes.ok()); });
  h.storage.env().AwaitHeldSync();
  std::thread announcer([&] { h.AnnounceNow(); });
  EXPECT_TRUE(WaitUntil([&] { return h.storage->Figures().commits.queued_changes == 1; }));
  h.storage->touches().Touch(
      number, {{KeyOf("a")}}, [] { return SoundTime(kStart + 9); },
      [](const auto& touched) { EXPECT_EQ(touched->items.at(0).outcome, TouchOutcome::kTouched); });
  h.storage.env().HoldSyncs(false);
  announcer.join();
  h.Write("c", "last", kStart + 10, -1);  // committed after the touch
  EXPECT_THAT(h.Events("c"), ElementsAre("EXPIRED a", "REVIVED a"));
  h.clock.Advance(absl::Seconds(9));
  EXPECT_EQ(h.AnnounceNow().announced, 1);
}

// The clock is put back by less than would make it suspect.
TEST(AnnouncerTest, ATouchOfAToldItemThatLivesAgainRevivesIt) {
  SweepHarness h;
  h.CreateWithFeed("c", 20);
  h.storage.AllowTouch("c");
  h.Write("c", "a", kStart);
  h.clock.Advance(absl::Seconds(20));
  h.AnnounceNow();
  h.clock.StepWall(-absl::Seconds(2));
  EXPECT_EQ(h.storage.TouchOne("c", "a", h.Now()).outcome, TouchOutcome::kTouched);
  EXPECT_THAT(h.Events("c"), ElementsAre("EXPIRED a", "REVIVED a"));
  h.clock.Advance(absl::Seconds(20));
  EXPECT_EQ(h.AnnounceNow().announced, 1);
  EXPECT_THAT(h.Events("c"), ElementsAre("EXPIRED a", "REVIVED a", "EXPIRED a"));
}

TEST(AnnouncerTest, TheWatermarkIsTheTimeUpToWhichEverythingIsAnnounced) {
  SweepHarness h;
  h.CreateWithFeed("c", 10);
  h.WriteMany("c", "i", 20'000, kStart);
  EXPECT_EQ(h.Watermark("c"), std::nullopt) << "before the first look";
  h.AnnounceNow();
  EXPECT_EQ(h.Watermark("c"), 0);
  h.clock.Advance(absl::Seconds(7.5));
  h.AnnounceNow();
  EXPECT_EQ(h.Watermark("c"), 7.5);
  h.clock.Advance(absl::Seconds(7.5));
  h.announcer().RunOnce();
  EXPECT_EQ(h.Watermark("c"), 9) << "of the tenth second only some are announced";
  h.AnnounceNow();
  EXPECT_EQ(h.Watermark("c"), 15);
}

TEST(AnnouncerTest, ABusyContainerDoesNotKeepTheOthersBack) {
  SweepHarness h;
  h.CreateWithFeed("busy", 10);
  h.CreateWithFeed("quiet", 10);
  h.WriteMany("busy", "i", 20'000, kStart);
  h.Write("quiet", "a", kStart);
  h.clock.Advance(absl::Seconds(10));
  h.announcer().RunOnce();
  EXPECT_THAT(h.Events("quiet"), ElementsAre("EXPIRED a"));
  EXPECT_LT(CountOf(h.Events("busy"), "EXPIRED"), 20'000);
}

TEST(AnnouncerTest, AContainerThatIsGoneIsForgotten) {
  SweepHarness h;
  const ContainerPtr container = h.CreateWithFeed("c", 10);
  h.Write("c", "a", kStart);
  h.AnnounceNow();
  EXPECT_TRUE(h.feed_progress.Of(*container).watermark.has_value());
  ASSERT_TRUE(h.storage.Delete("c").ok());
  h.clock.Advance(absl::Seconds(20));
  EXPECT_EQ(h.AnnounceNow().announced, 0);
  EXPECT_FALSE(h.feed_progress.Of(*container).watermark.has_value());
}

TEST(AnnouncerTest, WhatCannotBeCommittedIsAnnouncedLater) {
  SweepHarness h;
  h.CreateWithFeed("c", 10);
  h.Write("c", "a", kStart);
  h.AnnounceNow();
  h.clock.Advance(absl::Seconds(12));
  h.storage.env().FailWrites(true);
  EXPECT_EQ(h.AnnounceNow().announced, 0);
  EXPECT_NE(StallOf(h), "");
  EXPECT_EQ(h.Watermark("c"), 9);
  h.storage.env().FailWrites(false);
  h.storage.FinishHousekeeping();
  h.clock.Advance(absl::Seconds(2));
  EXPECT_EQ(h.AnnounceNow().announced, 1);
  EXPECT_EQ(StallOf(h), "");
  EXPECT_THAT(h.Events("c"), ElementsAre("EXPIRED a"));
}

// With the real clock and the loop that a sidecar runs.
TEST(AnnouncerTest, TheLoopTellsEachItemInItsSecond) {
  WakeSignal wake;
  StorageOptions options;
  options.unannounced_signal = &wake;
  const SystemClock clock;
  GuardedClock guarded_clock(clock, std::nullopt);
  guarded_clock.Tick();
  StorageForTest storage(options);
  const std::unique_ptr<Levers> levers = Levers::Load(*storage, {}).value();
  const FeedJudge judge(guarded_clock, clock, storage->data_trust(), levers->store_trust());
  storage->feed().SetClock([&judge] { return judge.Read(); });
  ContainerSettings settings;
  settings.policy.default_ttl = -1;
  settings.feed = FeedSettings();
  const absl::Time start = guarded_clock.Read().now;
  const ContainerPtr container =
      Await<absl::StatusOr<ContainerPtr>>([&](auto done) {
        storage->containers().Create("c", settings, start, std::move(done));
      }).value();
  MomentReader moments(clock, guarded_clock);
  FeedProgress progress;
  Announcer announcer({*storage, judge, moments, progress});
  BackgroundLoop loop(wake, [&announcer] { return announcer.RunOnce().wait; });
  constexpr int kItems = 3;
  for (int ttl = 1; ttl <= kItems; ++ttl) {
    storage.TrackOne("c", absl::StrCat(ttl), absl::ToUnixSeconds(start) + 1, ttl);
  }
  FeedPage page;
  FeedQuery query;
  query.containers = {container};
  const auto all_told = [&] {
    page = storage->feed().Read(query).value();
    return page.entries.size() == kItems;
  };
  ASSERT_TRUE(WaitUntil(all_told));
  for (const FeedPage::Entry& entry : page.entries) {
    const absl::Duration after = entry.event.time - absl::FromUnixSeconds(*entry.event.expire_time);
    EXPECT_GE(after, absl::ZeroDuration());
  }
  loop.Stop();
  storage->feed().SetClock(nullptr);
}

}  // namespace
}  // namespace ttl
