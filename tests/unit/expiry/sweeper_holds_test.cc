// Items and containers under holds (storage/holds.h).

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "service/base/done.h"
#include "service/storage/format/key_codec.h"
#include "tests/testing/sweep_harness.h"

namespace ttl {
namespace {

using Scope = std::variant<ItemsByKey, ItemsOfPartition, AllItems>;

HoldRequest Request(const std::string& hold_id, Scope scope) {
  HoldRequest request;
  request.hold_id = hold_id;
  request.reason = "audit";
  request.scope = std::move(scope);
  return request;
}

// Begins to place a hold.
std::future<absl::StatusOr<PlacedHold>> BeginPlace(SweepHarness& h, HoldRequest request) {
  auto promise = std::make_shared<std::promise<absl::StatusOr<PlacedHold>>>();
  h.storage->holds().Place("c", std::move(request), kTestNow,
                           [promise](auto placed) { promise->set_value(std::move(placed)); });
  return promise->get_future();
}

PlacedHold Place(SweepHarness& h, const std::string& hold_id, Scope scope) {
  return BeginPlace(h, Request(hold_id, std::move(scope))).get().value();
}

void Release(SweepHarness& h, const std::string& hold_id) {
  ASSERT_TRUE(Await<absl::Status>([&](auto done) {
                h.storage->holds().Release("c", hold_id, absl::FromUnixSeconds(h.Now()),
                                           std::move(done));
              }).ok());
  h.storage.FinishHousekeeping();
}

HoldCounts Counts(SweepHarness& h) {
  return h.storage->holds().Counts(h.storage.Find("c")->number);
}

TEST(SweeperHoldsTest, WhatIsHeldIsNotSentAndTheRestIs) {
  struct Case {
    Scope scope;
    int64_t held;
    int64_t set_aside;
  };
  for (const Case& test : {Case{ItemsByKey{{KeyOf("i00003"), KeyOf("i00007")}}, 2, 2},
                           Case{ItemsOfPartition{"p"}, 10, 10}, Case{ItemsOfPartition{"q"}, 0, 0},
                           Case{AllItems(), 10, 0}}) {
    SweepHarness h;
    h.storage.Create("c", -1);
    h.WriteMany("c", "i", 10, kStart - 100, 10);
    Place(h, "h", test.scope);
    h.SweepFor(absl::Minutes(11));  // beyond a full scan
    EXPECT_EQ(h.store.Count("c"), test.held);
    EXPECT_EQ(Counts(h).items_set_aside, test.set_aside);
    Release(h, "h");
    h.SweepNow();
    EXPECT_EQ(h.store.Count("c"), 0);
    EXPECT_EQ(h.TallyOf("c").not_found, 0);
  }
}

TEST(SweeperHoldsTest, ALowRateDoesNotSlowDownTheSettingAside) {
  SweepHarness h;
  h.storage.Create("c", -1);
  ContainerSettings settings = h.storage.Find("c")->settings;
  settings.max_deletes_per_second = 1;
  ASSERT_TRUE(h.storage.Update("c", settings).ok());
  h.WriteMany("c", "i", 2000, kStart - 100, 10);
  h.Write("c", "z", kStart - 100, 10);
  ItemVersion version;
  version.times = {kStart - 50, 10};
  h.Write("c", {"q", "free"}, version);
  Place(h, "h", ItemsOfPartition{"p"});
  h.SweepFor(absl::Seconds(2));
  EXPECT_EQ(Counts(h).items_set_aside, 2001);
  EXPECT_EQ(h.store.Count("c"), 2001);
}

TEST(SweeperHoldsTest, APausedContainerSetsAsideToo) {
  SweepHarness h;
  h.storage.Create("c", -1);
  h.WriteMany("c", "i", 10, kStart - 100, 10);
  h.storage.Pause("c", true);
  Place(h, "h", ItemsOfPartition{"p"});
  h.SweepFor(absl::Minutes(6));
  EXPECT_EQ(Counts(h).items_set_aside, 10);
  EXPECT_EQ(h.store.Count("c"), 10);
}

// The sweep meets each of them once, however long they stay and however often it runs.
TEST(SweeperHoldsTest, HeldItemsCostTheSweepNothingOnceTheyAreSetAside) {
  constexpr int64_t kItems = 100'000;
  SweepHarness h;
  h.storage.Create("c", -1);
  h.WriteMany("c", "i", kItems, kStart - 100, 10);
  Place(h, "h", ItemsOfPartition{"p"});
  const OperationCounts before = h.storage->Counts();
  h.SweepNow();
  const OperationCounts set_aside = h.storage->Counts();
  EXPECT_EQ(Counts(h).items_set_aside, kItems);
  // An item is written, its entry erased and another one written.
  EXPECT_LE(set_aside.puts - before.puts, 2 * kItems + 1000);
  EXPECT_LE(set_aside.steps - before.steps, 2 * kItems);
  // More come, and go, for an hour, with full scans.
  for (int i = 0; i < 60; ++i) {
    ItemVersion version;
    version.times = {h.Now(), 1};
    h.Write("c", {"q", absl::StrFormat("%d", i)}, version);
    h.SweepFor(absl::Minutes(1));
  }
  EXPECT_EQ(h.store.Count("c"), kItems);
  const OperationCounts after = h.storage->Counts();
  EXPECT_LE(after.steps - set_aside.steps, 10'000);
}

// --- Deletes in flight ---

TEST(SweeperHoldsTest, AHoldIsAcknowledgedWhenNoDeleteInFlightCanRemoveTheItem) {
  SweepHarness h;
  h.storage.Create("c", -1);
  h.Write("c", "a", kStart - 100, 10);
  h.store.Hang();
  h.RunOnce();  // asks the store who it is
  h.sweeper().AwaitCall();
  h.RunOnce();
  auto placed = BeginPlace(h, Request("h", ItemsByKey{{KeyOf("a"), KeyOf("b")}}));
  EXPECT_EQ(placed.wait_for(std::chrono::milliseconds(50)), std::future_status::timeout);
  h.store.Release();
  while (h.sweeper().AwaitCall()) h.RunOnce();
  const PlacedHold result = placed.get().value();
  EXPECT_EQ(result.results, (std::vector<PlaceHoldResult>{PlaceHoldResult::kAlreadyDeleted,
                                                          PlaceHoldResult::kNotTracked}));
  h.Write("c", "b", kStart - 100, 10);
  h.SweepNow();
  EXPECT_EQ(h.store.Count("c"), 1) << "an item that is tracked later is held";
}

// Between the scan and the sending of a batch.
TEST(SweeperHoldsTest, ABatchThatWasFoundBeforeAHoldOnAllIsNotSent) {
  SweepHarness h;
  h.storage.Create("c", -1);
  h.Write("c", "a", kStart - 100, 10);
  h.store.FailInfo(grpc::Status::OK);
  h.Step();  // knows the store, and has deleted the item
  h.Write("c", "b", kStart - 100, 10);
  std::future<absl::StatusOr<PlacedHold>> placed;
  h.RunOnceWith([&] {
    placed = BeginPlace(h, Request("h", AllItems()));
    while (!h.storage->holds().HoldsAll(h.storage.Find("c")->number)) std::this_thread::yield();
  });
  EXPECT_TRUE(placed.get().ok());
  h.SweepNow();
  EXPECT_TRUE(h.store.Find("c", KeyOf("b")).has_value());
}

TEST(SweeperHoldsTest, NothingIsDeletedPastAnAcknowledgedHold) {
  SweepHarness h;
  h.storage.Create("c", -1);
  for (int round = 0; round < 200; ++round) {
    const std::string id = absl::StrFormat("r%d", round);
    h.Write("c", id, kStart - 100, 10);
    auto placed = BeginPlace(h, Request("h", ItemsByKey{{KeyOf(id)}}));
    h.RunOnce();
    while (placed.wait_for(std::chrono::seconds(0)) != std::future_status::ready) {
      h.sweeper().AwaitCall();
      h.RunOnce();
    }
    const bool deleted = placed.get()->results[0] == PlaceHoldResult::kAlreadyDeleted;
    EXPECT_EQ(h.store.Find("c", KeyOf(id)).has_value(), !deleted);
    h.SweepNow();
    EXPECT_EQ(h.store.Find("c", KeyOf(id)).has_value(), !deleted);
  }
}

// --- Ends ---

TEST(SweeperHoldsTest, AHoldEndsAtItsTimeByBothClocks) {
  SweepHarness h;
  h.storage.Create("c", -1);
  h.Write("c", "a", kStart - 100, 10);
  HoldRequest request = Request("h", AllItems());
  request.until = absl::FromUnixSeconds(kStart + 100);
  ASSERT_TRUE(BeginPlace(h, request).get().ok());
  h.SweepFor(absl::Seconds(99));
  EXPECT_EQ(h.store.Count("c"), 1);
  h.SweepFor(absl::Seconds(2));
  EXPECT_EQ(h.store.Count("c"), 0);
}

TEST(SweeperHoldsTest, NoHoldEndsWhileTheClockIsNotSound) {
  using Change = std::function<void(FakeClock&)>;
  const std::pair<Change, Change> cases[] = {
      {[](FakeClock& clock) { clock.FailWall(); }, [](FakeClock& clock) { clock.FailWall(false); }},
      {[](FakeClock& clock) { clock.FailBoot(); }, [](FakeClock& clock) { clock.FailBoot(false); }},
      {[](FakeClock& clock) { clock.StepWall(absl::Hours(1)); },
       [](FakeClock& clock) { clock.StepWall(-absl::Hours(1)); }}};
  for (const auto& [upset, mend] : cases) {
    SweepHarness h;
    h.storage.Create("c", -1);
    h.Write("c", "a", kStart - 100, 10);
    HoldRequest request = Request("h", AllItems());
    request.until = absl::FromUnixSeconds(kStart + 100);
    ASSERT_TRUE(BeginPlace(h, request).get().ok());
    upset(h.clock);
    h.clock.Advance(absl::Seconds(200));
    h.RunOnce();
    EXPECT_EQ(Counts(h).holds, 1);
    mend(h.clock);
    h.SweepFor(absl::Seconds(20));
    EXPECT_EQ(Counts(h).holds, 0);
    EXPECT_EQ(h.store.Count("c"), 0);
  }
}

// There are more of them than one scan reads.
TEST(SweeperHoldsTest, ItemsWhoseHoldsCannotBeReadAreTriedLaterAndDoNotDelayOthers) {
  constexpr int kUnreadable = 600;
  SweepHarness h;
  h.storage.Create("c", -1);
  h.WriteMany("c", "i", kUnreadable, kStart - 100, 10);
  h.Write("c", "z", kStart - 50, 10);
  ItemsByKey keys;
  std::vector<std::string> records;
  for (int i = 0; i < kUnreadable; ++i) {
    keys.keys.push_back(KeyOf(absl::StrFormat("i%05d", i)));
    records.push_back(KeyHoldsKey(h.storage.Find("c")->number, keys.keys.back()));
  }
  Place(h, "h", keys);
  h.storage.DamageAtReopen(records);
  h.Restart();
  for (int i = 0; i < 50; ++i) h.Step();
  EXPECT_FALSE(h.store.Find("c", KeyOf("z")).has_value());
  EXPECT_EQ(h.store.Count("c"), kUnreadable);
  const TrackedItem item = *h.storage.FindItem("c", "i00007");
  EXPECT_THAT(item.last_error, testing::HasSubstr("its holds cannot be read"));
  EXPECT_GT(item.retry_time, h.Now());
  EXPECT_EQ(h.SweepNow(), 0) << "and the sweep rests";
}

TEST(SweeperHoldsTest, NothingIsSentWhileHoldsAreInDoubt) {
  SweepHarness h;
  ContainerSettings settings;
  settings.policy.default_ttl = -1;
  settings.requires_holds = true;
  ASSERT_TRUE(Await<absl::StatusOr<ContainerPtr>>([&](auto done) {
                h.storage->containers().Create("c", settings, kTestNow, std::move(done));
              }).ok());
  h.Write("c", "a", kStart - 100, 10);
  h.SweepFor(absl::Minutes(1));
  EXPECT_EQ(h.store.Count("c"), 1);
  ASSERT_TRUE(Await<absl::Status>([&](auto done) {
                h.storage->holds().Accept("c", kTestNow, std::move(done));
              }).ok());
  h.SweepNow();
  EXPECT_EQ(h.store.Count("c"), 0);
}

}  // namespace
}  // namespace ttl
