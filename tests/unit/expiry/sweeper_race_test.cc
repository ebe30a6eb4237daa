// Items that change between the judgement and the delete.

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "tests/testing/sweep_harness.h"
#include "tests/testing/wait.h"

namespace ttl {
namespace {

// Runs `change` once, when the next delete has been received.
void OnNextDelete(SweepHarness& h, std::function<void()> change) {
  const auto done = std::make_shared<bool>(false);
  h.store.SetBeforeDelete([change = std::move(change), done](auto&, auto&) {
    if (!std::exchange(*done, true)) change();
    return std::optional<grpc::Status>();
  });
}

// B38: written again between decision and delete.
TEST(SweeperRaceTest, ARewrittenItemIsNotDeleted) {
  for (const bool reported : {true, false}) {
    SweepHarness h;
    h.storage.Create("c", -1);
    h.Write("c", "a", kStart - 100, 10, "E1");
    OnNextDelete(h, [&] {
      ItemVersion version;
      version.times = {kStart, 60};
      version.etag = "E2";
      h.store.Put("c", KeyOf("a"), version);
      if (!reported) return;
      EXPECT_TRUE(h.storage.Track("c", {{KeyOf("a"), version}}).ok());
    });
    h.SweepFor(absl::Seconds(59));
    EXPECT_EQ(h.store.Find("c", KeyOf("a"))->etag, "E2");
    EXPECT_EQ(h.TallyOf("c").modified, 1);
    EXPECT_EQ(h.TallyOf("c").failed, 0);
    EXPECT_EQ(h.storage.FindItem("c", "a")->version.etag, "E2");
    EXPECT_EQ(h.TallyOf("c").sent, 1);
    h.SweepFor(absl::Seconds(1));
    EXPECT_EQ(h.store.Count("c"), 0);
  }
}

// B39: three of a batch change.
TEST(SweeperRaceTest, TheRestOfTheBatchIsDeleted) {
  SweepHarness h;
  h.storage.Create("c", -1);
  h.WriteMany("c", "i", 100, kStart - 100, 10);
  OnNextDelete(h, [&] {
    h.Write("c", "i00057", kStart, -1);
    h.Write("c", "i00058", kStart, 1000);
    h.store.Erase("c", KeyOf("i00059"));
    h.storage.UntrackOne("c", "i00059", kStart - 100);
    h.Write("c", "i00059", kStart, 1000);
  });
  h.SweepNow();
  EXPECT_EQ(h.TallyOf("c").deleted, 97);
  EXPECT_EQ(h.TallyOf("c").modified, 3);
  for (const std::string id : {"i00057", "i00058", "i00059"}) {
    EXPECT_TRUE(h.store.Find("c", KeyOf(id)).has_value()) << id;
    EXPECT_EQ(h.storage.FindItem("c", id)->version.times.ts, kStart) << id;
  }
  EXPECT_EQ(h.store.Count("c"), 3);
}

// The store does not find the item, because a user has deleted it; its namesake, made
// while the answer is on its way, is another item.
TEST(SweeperRaceTest, ANamesakeMadeBeforeTheAnswerIsTakenInStaysTracked) {
  SweepHarness h;
  h.storage.Create("c", -1);
  h.Write("c", "a", kStart - 100, 10, "E1");
  OnNextDelete(h, [&] {
    h.store.Erase("c", KeyOf("a"));
    h.storage.UntrackOne("c", "a", kStart - 100);
  });
  h.store.SetAfterDelete([&](auto&, auto&) {
    if (h.store.Count("c") == 0 && h.Now() == kStart) h.Write("c", "a", kStart, 60, "E2");
    return grpc::Status::OK;
  });
  h.Step();
  EXPECT_EQ(h.TallyOf("c").not_found, 1);
  const auto tracked = h.storage.FindItem("c", "a");
  ASSERT_TRUE(tracked.has_value());
  EXPECT_EQ(tracked->version.etag, "E2");
  h.SweepFor(absl::Seconds(61));
  EXPECT_EQ(h.store.Count("c"), 0);
}

// B43: the sidecar was stopped between judgement and delete; by the time the store
// sees it, not_after has passed.
TEST(SweeperRaceTest, ALateDeleteIsNotCarriedOut) {
  SweepHarness h;
  h.storage.Create("c", -1);
  h.WriteMany("c", "i", 10, kStart - 100, 10);
  OnNextDelete(h, [&] {
    h.clock.Advance(absl::Minutes(2));
    h.Write("c", "i00003", h.Now(), 3600);
  });
  h.Step();
  EXPECT_EQ(h.store.Count("c"), 10);
  h.SweepFor(absl::Minutes(1));
  EXPECT_EQ(h.store.Count("c"), 1);
  EXPECT_TRUE(h.store.Find("c", KeyOf("i00003")).has_value());
}

// An item written again within the second it expired in by our clock, but not by the
// store's: it has the same _ts and ttl, and only the store's clock tells.
TEST(SweeperRaceTest, ARewriteInTheSameSecondLivesByTheStoresClock) {
  SweepHarness h;
  h.store.SetComparesEtags(false);
  h.storage.Create("c", -1);
  h.SweepNow();
  h.SetStoreClockOffset(-absl::Seconds(2));  // not known to the sidecar yet
  h.Write("c", "a", kStart, 1);
  h.clock.Advance(absl::Seconds(1));
  OnNextDelete(h, [&] { h.Write("c", "a", kStart, 1); });
  h.Step();
  EXPECT_EQ(h.store.ReceivedDeletes().size(), 1u);
  EXPECT_EQ(h.store.Count("c"), 1);
  EXPECT_EQ(h.TallyOf("c").not_expired, 1);
  h.SweepFor(absl::Seconds(5));
  EXPECT_EQ(h.store.Count("c"), 0);
  const auto received = h.store.ReceivedDeletes();
  EXPECT_EQ(received.size(), 2u);
  EXPECT_GE(received[1].at, absl::FromUnixSeconds(kStart + 1));
}

// One who waits for the count and then asks for the item, many times.
TEST(SweeperRaceTest, WhoSeesAnOutcomeCountedFindsTheItemAsItLeftIt) {
  SweepHarness h;
  h.storage.Create("c", -1);
  h.SweepNow();
  for (int64_t i = 0; i < 200; ++i) {
    const std::string id = absl::StrCat(i);
    h.Write("c", id, kStart - 100, 10, "E1");
    ItemVersion unreported;
    unreported.times = {kStart, 60};
    unreported.etag = "E2";
    h.store.Put("c", KeyOf(id), unreported);
    std::thread sweeping([&] { h.SweepNow(); });
    EXPECT_TRUE(WaitUntil([&] { return h.TallyOf("c").modified == i + 1; }, absl::Seconds(10),
                          absl::ZeroDuration()));
    EXPECT_EQ(h.storage.FindItem("c", id)->version.etag, "E2");
    sweeping.join();
  }
}

TEST(SweeperRaceTest, ANewerReportBeatsTheOutcome) {
  SweepHarness h;
  h.storage.Create("c", -1);
  h.Write("c", "a", kStart - 100, 10);
  h.store.SetAfterDelete([&](auto&, auto&) {
    // Deleted, created anew and reported, all before the answer arrives.
    h.Write("c", "a", kStart, 60);
    return grpc::Status::OK;
  });
  h.Step();
  ASSERT_TRUE(h.storage.FindItem("c", "a").has_value());
  EXPECT_EQ(h.storage.FindItem("c", "a")->version.times.ts, kStart);
  h.store.SetAfterDelete(nullptr);
  h.SweepFor(absl::Seconds(60));
  EXPECT_EQ(h.store.Count("c"), 0);
}

TEST(SweeperRaceTest, AnOlderStateOfTheStoreIsAdopted) {
  SweepHarness h;
  h.storage.Create("c", -1);
  h.Write("c", "a", kStart - 100, 10, "E2");
  ItemVersion restored;  // an older version, as after a restore
  restored.times = {kStart - 200, -1};
  restored.etag = "E1";
  h.store.Put("c", KeyOf("a"), restored);
  h.SweepFor(absl::Minutes(1));
  EXPECT_EQ(h.storage.FindItem("c", "a")->version, restored);
  EXPECT_EQ(h.TallyOf("c").sent, 1);
  EXPECT_EQ(h.store.Count("c"), 1);
}

}  // namespace
}  // namespace ttl
