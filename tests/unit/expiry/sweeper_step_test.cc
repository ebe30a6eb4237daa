// What happens within a step: between the search for a batch and its sending, and at commits that
// take long.

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "service/base/done.h"
#include "service/expiry/store/store_state.h"
#include "tests/testing/sweep_harness.h"

namespace ttl {
namespace {

// The store is known, and "c" has three items that are due.
void Prepare(SweepHarness& h) {
  h.storage.Create("c", -1);
  h.SweepNow();
  h.WriteMany("c", "due", 3, kStart - 100, 10);
}

void FailACommit(SweepHarness& h) {
  h.storage.env().FailWrites(true);
  ItemVersion version;
  version.times = {kStart, 10};
  EXPECT_FALSE(h.storage.Track("c", {{KeyOf("x"), version}}).ok());
}

void SetOwnLimit(SweepHarness& h, double per_second) {
  h.storage->containers().Update(
      "c",
      [per_second](const Container& present) -> absl::StatusOr<ContainerSettings> {
        ContainerSettings settings = present.settings;
        settings.max_deletes_per_second = per_second;
        return settings;
      },
      kTestNow, absl::ZeroDuration(), /*force=*/false,
      [](const auto& updated) { EXPECT_TRUE(updated.ok()); });
}

// Those behind the delete gate are not acknowledged while a batch is found, and need not wait for
// its call either.
struct Change {
  std::string name;
  std::function<void(SweepHarness&)> make;
};

const std::vector<Change>& ChangesThatStopDeletes() {
  static const std::vector<Change> changes = {
      {"the wall clock jumps", [](auto& h) { h.clock.StepWall(absl::Hours(1)); }},
      {"the boot clock fails", [](auto& h) { h.clock.FailBoot(); }},
      {"a commit fails", FailACommit},
      {"the limit of all is 0", [](auto& h) { h.SetLimit(0); }},
      {"the container's limit becomes 0", [](auto& h) { SetOwnLimit(h, 0); }},
      {"the container is paused",
       [](auto& h) {
         h.storage->containers().SetPause("c", Pause{"test", kTestNow},
                                          [](const auto& set) { EXPECT_TRUE(set.ok()); });
       }},
      {"all are paused",
       [](auto& h) {
         h.storage->containers().SetPauseOfAll(
             Pause{"test", kTestNow}, [](const absl::Status& set) { EXPECT_TRUE(set.ok()); });
       }},
      {"the store is in doubt",
       [](auto& h) { EXPECT_TRUE(h.levers->DoubtStore("for a test").ok()); }},
      {"another store is confirmed",
       [](auto& h) {
         EXPECT_TRUE(Await<absl::Status>([&](auto done) {
                       h.levers->ConfirmStore("another store", std::move(done));
                     }).ok());
       }},
      {"the data is in doubt",
       [](auto& h) {
         EXPECT_TRUE(Await<absl::Status>([&](auto done) {
                       h.levers->ConfirmStore("fake-store", std::move(done));
                     }).ok());
       }},
  };
  return changes;
}

TEST(SweeperStepTest, WhatStopsDeletesStopsABatchThatIsFound) {
  for (const Change& change : ChangesThatStopDeletes()) {
    SweepHarness h;
    Prepare(h);
    const Sweeper::StepResult step = h.RunOnceWith([&] { change.make(h); });
    EXPECT_EQ(step.found, 3) << change.name;
    EXPECT_EQ(step.sent, 0) << change.name;
    h.SweepNow();
    EXPECT_TRUE(h.store.ReceivedDeletes().empty()) << change.name;
    h.storage.env().FailWrites(false);
  }
}

TEST(SweeperStepTest, ABatchThatIsFoundIsSentByTheSameStep) {
  SweepHarness h;
  Prepare(h);
  const Sweeper::StepResult step = h.RunOnceWith([] {});
  EXPECT_EQ(step.found, 3);
  EXPECT_EQ(step.sent, 3);
}

// The rate is that of the time of sending, not that of the search.
TEST(SweeperStepTest, ALowerLimitIsKeptByABatchThatIsFound) {
  SweepHarness h;
  h.SetLimit(1000);
  h.storage.Create("c", -1);
  h.SweepNow();
  h.WriteMany("c", "due", 50, kStart - 100, 10);
  const Sweeper::StepResult step = h.RunOnceWith([&] { h.SetLimit(20); });
  EXPECT_EQ(step.found, 50);
  EXPECT_EQ(step.sent, 2) << "what the limit earns in a batch interval";
}

TEST(SweeperStepTest, AnItemThatIsRewrittenAfterItIsFoundIsNotDeleted) {
  SweepHarness h;
  Prepare(h);
  const Sweeper::StepResult step =
      h.RunOnceWith([&] { h.Write("c", "due00001", kStart, 60, "E2"); });
  EXPECT_EQ(step.sent, 3);
  h.SweepNow();
  EXPECT_EQ(h.TallyOf("c").modified, 1);
  EXPECT_EQ(h.TallyOf("c").deleted, 2);
  EXPECT_EQ(h.store.Find("c", KeyOf("due00001"))->etag, "E2");
}

// Judged by the time of sending: by then a step of the clocks may make the item live again.
TEST(SweeperStepTest, AnItemThatIsNotExpiredAtTheTimeOfSendingIsNotSent) {
  SweepHarness h;
  Prepare(h);
  h.Write("c", "just", kStart - 10, 10);
  const Sweeper::StepResult step = h.RunOnceWith([&] { h.clock.StepWall(-absl::Seconds(1)); });
  EXPECT_EQ(step.found, 4);
  EXPECT_EQ(step.sent, 3);
}

// A commit that takes long, by the fake clock, in each step that commits.
void SlowCommits(SweepHarness& h, absl::Duration duration) {
  h.storage.env().BeforeEachSync([&h, duration] { h.clock.Advance(duration); });
}

// GetStoreInfo is due in a step that commits outcomes first.
TEST(SweeperStepTest, ASlowCommitIsNoSkewOfTheStoresClock) {
  SweeperOptions options;
  options.max_store_clock_skew = absl::Seconds(1);
  SweepHarness h(options);
  Prepare(h);
  h.clock.Advance(StoreState::kInfoInterval - absl::Milliseconds(100));
  EXPECT_EQ(h.RunOnce().sent, 3);
  EXPECT_TRUE(h.sweeper().AwaitCall());
  h.clock.Advance(absl::Milliseconds(200));
  SlowCommits(h, absl::Seconds(10));
  EXPECT_EQ(h.RunOnce().answered, 1);
  h.storage.env().BeforeEachSync(nullptr);
  EXPECT_TRUE(h.sweeper().AwaitCall());
  EXPECT_EQ(h.RunOnce().answered, 1);
  EXPECT_EQ(h.store.InfoCalls(), 2);
  EXPECT_EQ(h.published.Store().clock_skew, absl::ZeroDuration());
  EXPECT_FALSE(h.published.Store().skew_too_large);
}

// Else a sweeper on a slow disk would count as stalled though every step ends.
TEST(SweeperStepTest, TheLastStepIsAsOldAsItsEnd) {
  SweepHarness h;
  Prepare(h);
  h.Step();
  h.Write("c", "rewritten", kStart - 100, 10);
  h.Write("c", "rewritten", kStart + 600, 10);
  SlowCommits(h, absl::Seconds(16));
  const absl::Duration start = *h.clock.Read().boot;
  EXPECT_EQ(h.RunOnce().tidied, 1);
  h.storage.env().BeforeEachSync(nullptr);
  const absl::Duration end = *h.clock.Read().boot;
  EXPECT_GE(end - start, absl::Seconds(16));
  EXPECT_EQ(h.published.Sweeper().last_step, end);
}

TEST(SweeperStepTest, TheNextStepIsNotLateByWhatTheStepTook) {
  SweepHarness h;
  Prepare(h);
  h.Step();
  const absl::Duration wait = h.Step().wait;
  EXPECT_EQ(wait, absl::Seconds(1));
  h.Write("c", "rewritten", kStart - 100, 10);
  h.Write("c", "rewritten", kStart + 600, 10);
  SlowCommits(h, absl::Milliseconds(300));
  const absl::Duration start = *h.clock.Read().boot;
  const Sweeper::StepResult step = h.RunOnce();
  h.storage.env().BeforeEachSync(nullptr);
  EXPECT_EQ(step.tidied, 1);
  EXPECT_EQ(step.wait, wait - (*h.clock.Read().boot - start));
}

// Outcomes are committed while other calls are in flight, so that neither waits for the other.
TEST(SweeperStepTest, AStepThatCommitsOutcomesSendsABatchToo) {
  SweeperOptions options;
  options.batch_items = 10;
  SweepHarness h(options);
  for (int i = 0; i < 6; ++i) {
    h.storage.Create(absl::StrCat("c", i), -1);
    h.WriteMany(absl::StrCat("c", i), "due", 200, kStart - 100, 10);
  }
  h.RunOnce();
  EXPECT_TRUE(h.sweeper().AwaitCall());  // the store is known
  for (int64_t i = 0; i < options.max_calls_under_way; ++i) EXPECT_EQ(h.RunOnce().sent, 10);
  for (int i = 0; i < 40; ++i) {
    EXPECT_TRUE(h.sweeper().AwaitCall());
    const Sweeper::StepResult step = h.RunOnce();
    EXPECT_GE(step.answered, 1);
    EXPECT_EQ(step.sent, 10);
  }
  h.SweepNow();
  EXPECT_EQ(h.store.CountAll(), 0);
}

}  // namespace
}  // namespace ttl
