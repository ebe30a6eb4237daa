#include "service/expiry/sweep/sweeper.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "tests/testing/sweep_harness.h"

namespace ttl {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> DeletedIds(const FakePrimaryStore& store) {
  std::vector<std::string> ids;
  for (const auto& [container, key] : store.Deleted()) ids.push_back(key.id);
  return ids;
}

TEST(SweeperTest, AnExpiredItemIsDeletedInItsSecondAndNotBefore) {
  SweepHarness h;
  h.storage.Create("c", -1);
  h.Write("c", "a", kStart, 10);
  h.SweepFor(absl::Milliseconds(9999));
  EXPECT_EQ(h.store.Count("c"), 1);
  h.SweepFor(absl::Milliseconds(1));
  EXPECT_EQ(h.store.Count("c"), 0);
  EXPECT_FALSE(h.storage.FindItem("c", "a").has_value());
  EXPECT_EQ(h.TallyOf("c").sent, 1);
  EXPECT_EQ(h.TallyOf("c").deleted, 1);
}

TEST(SweeperTest, OnlyWhatThePolicyCallsExpiredIsSent) {
  SweepHarness h;
  h.storage.Create("off", std::nullopt);
  h.storage.Create("own", -1);
  h.storage.Create("default", 100);
  for (const std::string container : {"off", "own", "default"}) {
    h.Write(container, "plain", kStart);
    h.Write(container, "never", kStart, -1);
    h.Write(container, "short", kStart, 5);
  }
  h.SweepFor(absl::Seconds(99));
  EXPECT_EQ(h.store.Count("off"), 3);
  EXPECT_EQ(h.store.Count("own"), 2);
  EXPECT_EQ(h.store.Count("default"), 2);
  h.SweepFor(absl::Seconds(1));
  EXPECT_EQ(h.store.Count("default"), 1);
  EXPECT_TRUE(h.store.Find("default", KeyOf("never")).has_value());
  EXPECT_EQ(h.store.Count("off") + h.store.Count("own"), 5);
}

TEST(SweeperTest, TheOldestGoFirst) {
  SweeperOptions options;
  options.batch_items = 2;
  SweepHarness h(options);
  h.storage.Create("c", 60);
  h.Write("c", "third", kStart - 70);
  h.Write("c", "first", kStart - 100, 30);
  h.Write("c", "second", kStart - 80);
  h.Write("c", "fourth", kStart - 20, 15);
  h.SweepNow();
  EXPECT_THAT(DeletedIds(h.store), ElementsAre("first", "second", "third", "fourth"));
}

TEST(SweeperTest, NothingIsDoneWhileNothingIsDue) {
  SweepHarness h;
  h.storage.Create("c", 3600);
  h.WriteMany("c", "live", 1000, kStart);
  h.SweepNow();
  const OperationCounts before = h.storage->Counts();
  for (int i = 0; i < 20; ++i) {
    h.clock.Advance(absl::Seconds(1));
    const Sweeper::StepResult step = h.Step();
    EXPECT_EQ(step.wait, absl::Seconds(1));
  }
  const OperationCounts after = h.storage->Counts();
  EXPECT_EQ(after.seeks, before.seeks);
  EXPECT_EQ(after.steps, before.steps);
}

TEST(SweeperTest, TheStepSaysWhenTheNextItemIsDue) {
  SweepHarness h;
  h.storage.Create("c", -1);
  h.Write("c", "a", kStart, 1);
  h.SweepNow();
  h.clock.Advance(absl::Milliseconds(700));
  Sweeper::StepResult step = h.Step();
  EXPECT_EQ(step.wait, absl::Milliseconds(300));
}

TEST(SweeperTest, WithoutAStoreIndexesAreKeptUpAndNothingIsDeleted) {
  SweepHarness h;
  WakeSignal wake;
  MomentReader moments(h.clock, *h.guarded_clock);
  Sweeper sweeper({}, {*h.storage, nullptr, h.published, h.usage, *h.levers, wake, moments});
  h.storage.Create("c", -1);
  h.Write("c", "a", kStart - 100, 10);
  h.Write("c", "rewritten", kStart - 100, 10);
  h.Write("c", "rewritten", kStart, 10);
  const Sweeper::StepResult step = sweeper.RunOnce();
  EXPECT_EQ(step.sent, 0);
  EXPECT_EQ(step.tidied, 1);
  EXPECT_EQ(sweeper.RunOnce().wait, absl::Seconds(1));
  EXPECT_FALSE(h.published.Store().configured);
  EXPECT_EQ(h.store.InfoCalls(), 0);
}

// B62: stale entries use no delete budget.
TEST(SweeperTest, EarlyEntriesInFrontDelayNothing) {
  SweeperOptions options;
  options.container_max_deletes_per_second = 10;
  SweepHarness h(options);
  h.storage.Create("c", -1);
  h.WriteMany("c", "stale", 10'000, kStart - 1000, 10);
  h.WriteMany("c", "stale", 10'000, kStart - 900, 3000);
  h.WriteMany("c", "due", 10, kStart - 500, 10);
  h.SweepFor(absl::Seconds(2));
  EXPECT_EQ(h.store.Count("c"), 10'000);
  EXPECT_EQ(h.TallyOf("c").sent, 10);
  EXPECT_EQ(h.published.View(h.storage.Find("c")->number).early_entries, 10'000);
}

// B62, while deletes are paused.
TEST(SweeperTest, EarlyEntriesAreMovedWhileDeletesArePaused) {
  SweepHarness h;
  h.storage.Create("c", -1);
  h.WriteMany("c", "stale", 6000, kStart - 100, 10);
  h.WriteMany("c", "stale", 6000, kStart - 50, 1000);
  h.storage.Pause("c", true);
  h.SweepNow();
  EXPECT_EQ(h.published.View(h.storage.Find("c")->number).early_entries, 6000);
  EXPECT_TRUE(h.storage.Scan("c", kStart).early.empty());
}

// B70: keys of all kinds, in pages of one.
TEST(SweeperTest, UnusualKeysAreDeletedOnceEach) {
  SweeperOptions options;
  options.batch_items = 1;
  SweepHarness h(options);
  h.storage.Create("c", -1);
  const std::vector<std::string> odd = {"",
                                        std::string(1, '\0'),
                                        std::string("a\0b", 3),
                                        "\xff",
                                        "\xff\xff",
                                        "/",
                                        "|",
                                        "a",
                                        "ab",
                                        "abc",
                                        "..",
                                        "007",
                                        "7",
                                        "\xc3\xa9",
                                        "e\xcc\x81",
                                        std::string(1000, 'k'),
                                        std::string(1023, '\xff')};
  for (const std::string& partition_key : odd) {
    for (const std::string& id : odd) {
      ItemVersion version;
      version.times = {kStart - 100, 10};
      h.Write("c", {partition_key, id}, version);
      version.times.ttl = 1000;
      h.Write("c", {partition_key, absl::StrCat(id.substr(0, 1000), "-live")}, version);
    }
  }
  const int64_t live = h.store.Count("c") - static_cast<int64_t>(odd.size() * odd.size());
  h.SweepNow();
  EXPECT_EQ(h.store.Count("c"), live);
  EXPECT_EQ(h.TallyOf("c").deleted, static_cast<int64_t>(odd.size() * odd.size()));
  EXPECT_EQ(h.TallyOf("c").sent, h.TallyOf("c").deleted);
}

// B72: the sidecar dies at each step of a delete.
TEST(SweeperTest, NoExpiryIsLostWhereverTheSidecarCrashes) {
  enum Crash { kBeforeSending, kAfterSending, kAfterApplying };
  for (const Crash crash : {kBeforeSending, kAfterSending, kAfterApplying}) {
    SweepHarness h;
    h.storage.Create("c", -1);
    h.WriteMany("c", "due", 20, kStart - 100, 10);
    h.Write("c", "now", kStart - 10, 10);  // exactly at the bound of time
    h.Write("c", "next", kStart - 10, 11);
    // A call whose answer never comes is all that a restarted process knows of it.
    const grpc::Status lost(grpc::StatusCode::UNAVAILABLE, "connection lost");
    if (crash == kBeforeSending) h.storage.Scan("c", kStart);
    if (crash == kAfterSending) h.store.SetBeforeDelete([&](auto&, auto&) { return lost; });
    if (crash == kAfterApplying) h.store.SetAfterDelete([&](auto&, auto&) { return lost; });
    if (crash != kBeforeSending) {
      EXPECT_EQ(h.Step().sent, 21);
    }
    h.store.SetBeforeDelete(nullptr);
    h.store.SetAfterDelete(nullptr);
    h.Restart();
    h.SweepNow();
    EXPECT_EQ(h.store.Count("c"), 1) << crash;
    EXPECT_TRUE(h.store.Find("c", KeyOf("next")).has_value());
    h.SweepFor(absl::Seconds(1));
    EXPECT_EQ(h.store.Count("c"), 0) << crash;
    EXPECT_EQ(h.store.Deleted().size(), 22u);  // each once
    EXPECT_TRUE(h.storage.DueIds("c", kStart + 1000).empty());
  }
}

// B74: no last row that stays.
TEST(SweeperTest, ContainersEndUpEmptyWhateverTheirSize) {
  for (const int64_t count : {1, 6, 7, 8, 14}) {
    SweeperOptions options;
    options.batch_items = 7;
    SweepHarness h(options);
    h.storage.Create("c", -1);
    h.WriteMany("c", "due", count - 1, kStart - 100, 10);
    ItemVersion version;
    version.times = {kStart - 100, 10};
    h.Write("c", {std::string(2048, '\xff'), std::string(1023, '\xff')}, version);
    h.SweepNow();
    EXPECT_EQ(h.store.Count("c"), 0) << count;
  }
}

TEST(SweeperTest, ManyItemsOfOneSecondGoWhateverThePage) {
  for (const int64_t page : {1, 7, 50, 51}) {
    SweeperOptions options;
    options.batch_items = page;
    SweepHarness h(options);
    h.storage.Create("c", 10);
    h.WriteMany("c", "same", 50, kStart - 100);
    h.SweepNow();
    EXPECT_EQ(h.store.Count("c"), 0) << page;
    EXPECT_EQ(h.TallyOf("c").sent, 50);
  }
}

// B79: missed ticks fold into one.
TEST(SweeperTest, MissedStepsAreNotRepeated) {
  SweepHarness h;
  h.storage.Create("c", -1);
  h.WriteMany("c", "due", 100, kStart, 10);
  h.SweepNow();
  h.clock.Advance(absl::Minutes(5));
  EXPECT_EQ(h.SweepNow(), 100);
  EXPECT_EQ(h.store.ReceivedDeletes().size(), 1u);
  EXPECT_GT(h.Step().wait, absl::ZeroDuration());
}

TEST(SweeperTest, ItemsWrittenAgainLiveOnUntilTheirNewDeadline) {
  SweepHarness h;
  h.storage.Create("c", -1);
  h.Write("c", "a", kStart, 10);
  h.SweepFor(absl::Seconds(9));
  h.Write("c", "a", h.Now(), 10);
  h.SweepFor(absl::Seconds(9));
  EXPECT_EQ(h.store.Count("c"), 1);
  h.SweepFor(absl::Seconds(1));
  EXPECT_EQ(h.store.Count("c"), 0);
}

// Also the wire side of B95: the store can tell our deletes from its users'.
TEST(SweeperTest, EveryDeleteCarriesWhatItWasDecidedBy) {
  SweepHarness h;
  const ContainerPtr container = h.storage.Create("salesdb/orders", 30);
  h.Write("salesdb/orders", "own", kStart - 100, 10);
  h.Write("salesdb/orders", "inherits", kStart - 90);
  h.SweepNow();
  const auto received = h.store.ReceivedDeletes();
  ASSERT_EQ(received.size(), 1u);
  const v1::DeleteItemsRequest& request = received[0].request;
  EXPECT_EQ(request.container(), "salesdb/orders");
  EXPECT_EQ(request.container_incarnation(), container->number);
  EXPECT_EQ(request.policy_revision(), container->revision);
  ASSERT_EQ(request.items_size(), 2);
  EXPECT_EQ(request.items(0).ttl_source(), v1::TTL_SOURCE_ITEM);
  EXPECT_EQ(request.items(0).ts(), kStart - 100);
  EXPECT_EQ(request.items(0).effective_ttl(), 10);
  EXPECT_EQ(request.items(1).ttl_source(), v1::TTL_SOURCE_CONTAINER);
  EXPECT_EQ(request.items(1).effective_ttl(), 30);
}

TEST(SweeperTest, AContainerThatIsGoneIsForgotten) {
  SweepHarness h;
  const uint64_t number = h.storage.Create("c", -1)->number;
  h.Write("c", "a", kStart - 100, 10);
  h.SweepNow();
  EXPECT_EQ(h.published.View(number).deletes.tally.deleted, 1);
  ASSERT_TRUE(h.storage.Delete("c").ok());
  h.SweepFor(absl::Seconds(2));
  EXPECT_EQ(h.published.View(number).deletes.tally.deleted, 0);
}

TEST(SweeperTest, ARecreatedContainerDeletesNothingOfItsDeadNamesake) {
  SweepHarness h;
  h.storage.Create("c", -1);
  h.WriteMany("c", "old", 10, kStart - 100, 10);
  ASSERT_TRUE(h.storage.Delete("c").ok());
  h.storage.Create("c", -1);
  h.SweepFor(absl::Seconds(5));
  h.storage.FinishHousekeeping();
  EXPECT_EQ(h.store.ReceivedDeletes().size(), 0u);
  EXPECT_EQ(h.store.Count("c"), 10);
}

}  // namespace
}  // namespace ttl
