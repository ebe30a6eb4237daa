// Changes of policy, pauses and the clock, while deletes go on or are on their way.

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "tests/testing/sweep_harness.h"
#include "tests/testing/wait.h"

namespace ttl {
namespace {

// The ways to loosen: after each is acknowledged, nothing more may be deleted.
enum class Loosening { kRemoveTtl, kLengthenTtl, kPause, kPauseAll, kDeleteContainer };
constexpr Loosening kLoosenings[] = {Loosening::kRemoveTtl, Loosening::kLengthenTtl,
                                     Loosening::kPause, Loosening::kPauseAll,
                                     Loosening::kDeleteContainer};

// Starts the change; `acknowledged` turns true when it is.
void Start(Loosening loosening, SweepHarness& h, std::atomic<bool>& acknowledged) {
  Containers& containers = h.storage->containers();
  const auto done = [&acknowledged](const auto& result) { acknowledged = result.ok(); };
  const auto set_ttl = [&](std::optional<int64_t> default_ttl) {
    const auto change = [default_ttl](const Container& container) {
      ContainerSettings settings = container.settings;
      settings.policy.default_ttl = default_ttl;
      return absl::StatusOr<ContainerSettings>(settings);
    };
    containers.Update("c", change, kTestNow, absl::ZeroDuration(), /*force=*/false, done);
  };
  switch (loosening) {
    case Loosening::kRemoveTtl:
      return set_ttl(std::nullopt);
    case Loosening::kLengthenTtl:
      return set_ttl(1'000'000);
    case Loosening::kPause:
      return containers.SetPause("c", Pause{"test", kTestNow}, done);
    case Loosening::kPauseAll:
      return containers.SetPauseOfAll(Pause{"test", kTestNow}, done);
    case Loosening::kDeleteContainer:
      return containers.Delete("c", "", /*force=*/false, done);
  }
}

TEST(SweeperPolicyTest, ADeleteThatHangsDeletesNothingOnceALooseningIsAcknowledged) {
  for (const Loosening loosening : kLoosenings) {
    SCOPED_TRACE(static_cast<int>(loosening));
    SweeperOptions options;
    // Enough for the call to get there, whatever the machine does.
    options.delete_deadline = absl::Seconds(4);
    SweepHarness h(options);
    h.storage.Create("c", 60);
    h.WriteMany("c", "due", 10, kStart - 100);
    h.store.Hang();
    std::thread sweeping([&] { EXPECT_EQ(h.Step().sent, 10); });
    ASSERT_TRUE(WaitUntil([&] { return h.store.HangingCalls() == 1; }));
    std::atomic<bool> acknowledged = false;
    Start(loosening, h, acknowledged);
    sweeping.join();
    // The call was given up, but the store may still carry it out: not yet.
    EXPECT_FALSE(acknowledged);
    h.Step();
    EXPECT_FALSE(acknowledged);
    h.clock.Advance(options.delete_deadline + absl::Milliseconds(250));
    h.Step();
    EXPECT_TRUE(WaitUntil([&] { return acknowledged.load(); }));
    h.store.Release();
    EXPECT_TRUE(WaitUntil([&] { return h.store.HangingCalls() == 0; }));
    h.SweepFor(absl::Minutes(2));
    EXPECT_EQ(h.store.Count("c"), 10);
    EXPECT_EQ(h.store.ReceivedDeletes().size(), 1u);
  }
}

TEST(SweeperPolicyTest, ALooseningWaitsForDeletesThatAreAnswered) {
  for (const Loosening loosening : kLoosenings) {
    SCOPED_TRACE(static_cast<int>(loosening));
    SweeperOptions options;
    options.batch_items = 10;
    SweepHarness h(options);
    h.storage.Create("c", 60);
    h.WriteMany("c", "due", 50, kStart - 100);
    std::atomic<bool> acknowledged = false;
    h.store.SetBeforeDelete([&](auto&, auto&) -> std::optional<grpc::Status> {
      Start(loosening, h, acknowledged);
      EXPECT_FALSE(acknowledged);
      return std::nullopt;
    });
    h.Step();
    EXPECT_TRUE(WaitUntil([&] { return acknowledged.load(); }));
    EXPECT_EQ(h.store.Count("c"), 40);
    h.SweepFor(absl::Minutes(2));
    EXPECT_EQ(h.store.Count("c"), 40);
  }
}

// B44: a mistake, taken back within the grace.
TEST(SweeperPolicyTest, AChangeRevertedWithinTheGraceDeletesNothing) {
  SweepHarness h;
  h.storage.Create("c", std::nullopt);
  h.WriteMany("c", "item", 1000, kStart - 100);
  h.storage.SetDefaultTtl("c", 1, absl::Seconds(60));
  h.SweepFor(absl::Seconds(20));
  EXPECT_EQ(h.store.ReceivedDeletes().size(), 0u);
  h.storage.SetDefaultTtl("c", std::nullopt, absl::Seconds(60));
  h.SweepFor(absl::Minutes(5));
  EXPECT_EQ(h.store.Count("c"), 1000);
}

TEST(SweeperPolicyTest, WithinTheGraceOnlyWhatBothPoliciesCallExpiredGoes) {
  SweepHarness h;
  h.storage.Create("c", 100);
  h.Write("c", "both", kStart - 100);
  h.Write("c", "new-only", kStart - 50);
  h.storage.SetDefaultTtl("c", 10, absl::Seconds(20));
  h.SweepFor(absl::Milliseconds(19'999));
  EXPECT_FALSE(h.store.Find("c", KeyOf("both")).has_value());
  EXPECT_TRUE(h.store.Find("c", KeyOf("new-only")).has_value());
  h.SweepFor(absl::Milliseconds(1));
  EXPECT_EQ(h.store.Count("c"), 0);
}

// The grace is durable.
TEST(SweeperPolicyTest, ARestartDoesNotEndTheGrace) {
  SweepHarness h;
  h.storage.Create("c", std::nullopt);
  h.WriteMany("c", "item", 10, kStart - 100);
  h.storage.SetDefaultTtl("c", 1, absl::Seconds(60));
  h.Restart();
  h.SweepFor(absl::Seconds(59));
  EXPECT_EQ(h.store.Count("c"), 10);
  h.SweepFor(absl::Seconds(1));
  EXPECT_EQ(h.store.Count("c"), 0);
}

// B45: half of a purge is done when the default is removed.
TEST(SweeperPolicyTest, NothingIsDeletedAfterTheDefaultIsRemoved) {
  SweeperOptions options;
  options.batch_items = 50;
  SweepHarness h(options);
  h.storage.Create("c", 7200);
  h.WriteMany("c", "item", 100, kStart - 7200);
  EXPECT_EQ(h.Step().sent, 50);
  h.storage.SetDefaultTtl("c", std::nullopt);
  h.SweepFor(absl::Minutes(10));
  EXPECT_EQ(h.store.Count("c"), 50);
  h.storage.SetDefaultTtl("c", 7200);
  h.SweepNow();
  EXPECT_EQ(h.store.Count("c"), 0);
}

// B47: switched off, or dropped, while the sidecar was down or just before.
TEST(SweeperPolicyTest, TtlStaysOffAfterARestart) {
  for (const bool drop : {false, true}) {
    SweepHarness h;
    h.storage.Create("c", 60);
    h.WriteMany("c", "item", 1000, kStart - 100);
    if (drop) {
      ASSERT_TRUE(h.storage.Delete("c").ok());
    } else {
      h.storage.SetDefaultTtl("c", std::nullopt);
    }
    h.Restart();
    h.SweepFor(absl::Minutes(1));
    h.storage.FinishHousekeeping();
    EXPECT_EQ(h.store.ReceivedDeletes().size(), 0u);
    EXPECT_EQ(h.store.Count("c"), 1000);
  }
}

TEST(SweeperPolicyTest, APauseIsDurableAndResumingGoesOn) {
  SweepHarness h;
  h.storage.Create("c", 60);
  h.storage.Create("other", 60);
  h.storage.Pause("c", true);
  h.Restart();
  h.WriteMany("c", "item", 10, kStart - 100);
  h.WriteMany("other", "item", 10, kStart - 100);
  h.SweepFor(absl::Minutes(1));
  EXPECT_EQ(h.store.Count("c"), 10);
  EXPECT_EQ(h.store.Count("other"), 0);
  h.storage.Pause("c", false);
  h.SweepNow();
  EXPECT_EQ(h.store.Count("c"), 0);
}

TEST(SweeperPolicyTest, ExpiredItemsAreKeptForTheDelay) {
  SweepHarness h;
  ContainerSettings settings = h.storage.Create("c", 60)->settings;
  settings.policy.delay_seconds = 30;
  ASSERT_TRUE(h.storage.Update("c", settings).ok());
  h.Write("c", "a", kStart - 60);
  h.SweepFor(absl::Seconds(29));
  EXPECT_EQ(h.store.Count("c"), 1);
  h.SweepFor(absl::Seconds(1));
  EXPECT_EQ(h.store.Count("c"), 0);
}

// B19: the wall clock jumps ahead for a while.
TEST(SweeperPolicyTest, NothingIsDeletedWhileTheClocksDisagree) {
  SweepHarness h;
  h.storage.Create("c", 3600);
  h.WriteMany("c", "fresh", 1000, kStart);
  h.SweepNow();
  h.clock.StepWall(absl::Hours(48));
  h.SweepFor(absl::Seconds(30));
  h.clock.StepWall(-absl::Hours(48));
  h.SweepFor(absl::Seconds(30));
  EXPECT_EQ(h.store.Count("c"), 1000);
  EXPECT_EQ(h.store.ReceivedDeletes().size(), 0u);
}

// B22: readings that fail or make no sense.
TEST(SweeperPolicyTest, WithoutASoundReadingNothingIsDeleted) {
  for (const int64_t wall : {int64_t{-1}, int64_t{0}, int64_t{7'300'000'000}}) {
    SweepHarness h;
    h.storage.Create("c", 60);
    h.WriteMany("c", "due", 10, kStart - 100);
    h.clock.SetWall(absl::FromUnixSeconds(wall));
    h.SweepFor(absl::Seconds(5));
    EXPECT_EQ(h.store.Count("c"), 10) << wall;
    h.clock.SetWall(kTestNow + absl::Seconds(5));
    h.SweepFor(absl::Seconds(5));
    EXPECT_EQ(h.store.Count("c"), 0) << wall;
  }
}

}  // namespace
}  // namespace ttl
