#include "service/expiry/sweep/previous_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>

#include "tests/testing/fake_clock.h"
#include "tests/testing/storage_for_test.h"

namespace ttl {
namespace {

class PreviousRunTest : public testing::Test {
 protected:
  // Switches TTL off, as an operator does right after a restart.
  std::future<absl::Status> SwitchOff() {
    auto promise = std::make_shared<std::promise<absl::Status>>();
    storage_->containers().Update(
        "c", [](const Container&) { return ContainerSettings(); }, kTestNow, absl::ZeroDuration(),
        /*force=*/false,
        [promise](const absl::StatusOr<ContainerPtr>& c) { promise->set_value(c.status()); });
    return promise->get_future();
  }

  PreviousRun Begin(absl::Duration delete_deadline) {
    absl::StatusOr<PreviousRun> begun = PreviousRun::Begin(*storage_, clock_, delete_deadline);
    EXPECT_TRUE(begun.ok()) << begun.status();
    return *std::move(begun);
  }

  // Makes a run that sends deletes, and kills it.
  void RunAndKill(absl::Duration delete_deadline) {
    { const PreviousRun killed = Begin(delete_deadline); }
    storage_.Reopen();
  }

  // How long a pause, a DeleteContainer and a loosening have to wait from now on, in whole
  // seconds. The clock goes on with them.
  int64_t SecondsUntilChanged(PreviousRun& previous_run) {
    int changed = 0;
    const auto count = [&changed](const absl::Status& status) { changed += status.ok() ? 1 : 0; };
    Containers& containers = storage_->containers();
    containers.SetPauseOfAll(Pause{"test", kTestNow}, count);
    containers.SetPause("c", Pause{"test", kTestNow},
                        [&](const absl::StatusOr<ContainerPtr>& c) { count(c.status()); });
    std::future<absl::Status> switched_off = SwitchOff();
    int64_t waited = 0;
    while (previous_run.Settle() != absl::InfiniteDuration()) {
      EXPECT_FALSE(IsOff());
      EXPECT_FALSE(storage_->containers().PauseOfAll().has_value());
      EXPECT_FALSE(storage_.Find("c")->pause.has_value());
      clock_.Advance(absl::Seconds(1));
      ++waited;
    }
    EXPECT_TRUE(switched_off.get().ok());
    EXPECT_TRUE(storage_.Delete("c").ok());  // what was submitted before is committed
    EXPECT_EQ(changed, 2);
    return waited;
  }

  bool IsOff() { return !storage_.Find("c")->settings.policy.default_ttl.has_value(); }

  FakeClock clock_;
  StorageForTest storage_;
};

TEST_F(PreviousRunTest, ALooseningWaitsForWhatAKilledRunMayHaveSent) {
  storage_.Create("c", 60);
  PreviousRun previous_run = Begin(absl::Seconds(5));
  std::future<absl::Status> switched_off = SwitchOff();
  EXPECT_GT(previous_run.Settle(), absl::Seconds(5));
  clock_.Advance(absl::Seconds(5));
  EXPECT_GT(previous_run.Settle(), absl::ZeroDuration());
  EXPECT_FALSE(IsOff());
  clock_.Advance(absl::Seconds(1));
  EXPECT_EQ(previous_run.Settle(), absl::InfiniteDuration());
  EXPECT_TRUE(switched_off.get().ok());
  EXPECT_TRUE(IsOff());
}

TEST_F(PreviousRunTest, AHoldWaitsForWhatAKilledRunMayHaveSent) {
  storage_.Create("c", 60);
  PreviousRun previous_run = Begin(absl::Seconds(5));
  HoldRequest request;
  request.hold_id = "h";
  request.reason = "audit";
  request.scope = AllItems();
  bool placed = false;
  storage_->holds().Place("c", request, kTestNow,
                          [&](const absl::StatusOr<PlacedHold>& hold) { placed = hold.ok(); });
  storage_.TrackOne("c", "a", kT);  // what was submitted before is committed
  EXPECT_TRUE(storage_->holds().HoldsAll(storage_.Find("c")->number));
  EXPECT_FALSE(placed);
  clock_.Advance(absl::Seconds(6));
  EXPECT_EQ(previous_run.Settle(), absl::InfiniteDuration());
  EXPECT_TRUE(placed);
}

TEST_F(PreviousRunTest, ContainersCreatedSinceDoNotWait) {
  const PreviousRun previous_run = Begin(absl::Seconds(5));
  storage_.Create("c", 60);
  EXPECT_TRUE(SwitchOff().get().ok());
}

TEST_F(PreviousRunTest, WithoutAReadingNoTimeHasPassed) {
  storage_.Create("c", 60);
  PreviousRun previous_run = Begin(absl::Seconds(5));
  clock_.Advance(absl::Seconds(10));
  clock_.FailBoot();
  EXPECT_LE(previous_run.Settle(), absl::Seconds(1));
  EXPECT_TRUE(storage_->delete_gate().TryEnter(storage_.Find("c")->number).has_value());
  std::future<absl::Status> switched_off = SwitchOff();
  EXPECT_FALSE(IsOff());
  clock_.FailBoot(false);
  previous_run.Settle();
  EXPECT_TRUE(switched_off.get().ok());
}

TEST_F(PreviousRunTest, TheDeadlineOfTheRunBeforeCounts) {
  storage_.Create("c", 60);
  RunAndKill(absl::Seconds(20));
  PreviousRun previous_run = Begin(absl::Seconds(1));
  EXPECT_EQ(SecondsUntilChanged(previous_run), 21);
}

TEST_F(PreviousRunTest, ARunKilledWhileItWaitsLeavesTheWaitToTheNext) {
  storage_.Create("c", 60);
  RunAndKill(absl::Seconds(20));
  RunAndKill(absl::Seconds(1));
  PreviousRun previous_run = Begin(absl::Seconds(1));
  EXPECT_EQ(SecondsUntilChanged(previous_run), 21);
}

TEST_F(PreviousRunTest, AfterTheWaitOnlyTheLesserDeadlineCounts) {
  storage_.Create("c", 60);
  RunAndKill(absl::Seconds(20));
  {
    PreviousRun settled = Begin(absl::Seconds(1));
    clock_.Advance(absl::Seconds(21));
    EXPECT_EQ(settled.Settle(), absl::InfiniteDuration());
  }
  storage_.Reopen();
  PreviousRun previous_run = Begin(absl::Seconds(1));
  EXPECT_EQ(SecondsUntilChanged(previous_run), 2);
}

TEST_F(PreviousRunTest, NothingIsSentBeforeAGreaterDeadlineIsKept) {
  storage_.Create("c", 60);
  RunAndKill(absl::Seconds(1));
  storage_.env().FailWrites(true);
  PreviousRun previous_run = Begin(absl::Seconds(20));
  const uint64_t number = storage_.Find("c")->number;
  EXPECT_FALSE(storage_->delete_gate().TryEnter(number).has_value());
  EXPECT_LE(previous_run.Settle(), absl::Seconds(1));
  EXPECT_FALSE(storage_->delete_gate().TryEnter(number).has_value());
  storage_.env().FailWrites(false);
  storage_.FinishHousekeeping();
  EXPECT_GT(previous_run.Settle(), absl::ZeroDuration());
  EXPECT_TRUE(storage_->delete_gate().TryEnter(number).has_value());
  EXPECT_THAT(storage_->sidecar_state().LoadDeleteDeadline().value(),
              testing::Optional(absl::Seconds(20)));
}

TEST_F(PreviousRunTest, APauseWaitsForDeletesOfContainersThatAreLost) {
  storage_->data_trust().Doubt("it was damaged");
  PreviousRun previous_run = Begin(absl::Seconds(5));
  storage_.Create("c", 60);
  EXPECT_EQ(SecondsUntilChanged(previous_run), 6);
}

}  // namespace
}  // namespace ttl
