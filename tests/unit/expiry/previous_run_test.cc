#include "service/expiry/previous_run.h"

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
        [promise](const absl::StatusOr<ContainerPtr>& c) { promise->set_value(c.status()); });
    return promise->get_future();
  }

  bool IsOff() { return !storage_.Find("c")->settings.policy.default_ttl.has_value(); }

  FakeClock clock_;
  StorageForTest storage_;
};

TEST_F(PreviousRunTest, ALooseningWaitsForWhatAKilledRunMayHaveSent) {
  storage_.Create("c", 60);
  PreviousRun previous_run(*storage_, clock_, absl::Seconds(5));
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

TEST_F(PreviousRunTest, ContainersCreatedSinceDoNotWait) {
  const PreviousRun previous_run(*storage_, clock_, absl::Seconds(5));
  storage_.Create("c", 60);
  EXPECT_TRUE(SwitchOff().get().ok());
}

TEST_F(PreviousRunTest, WithoutAReadingNoTimeHasPassed) {
  storage_.Create("c", 60);
  PreviousRun previous_run(*storage_, clock_, absl::Seconds(5));
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

}  // namespace
}  // namespace ttl
