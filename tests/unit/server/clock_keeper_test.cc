#include "service/server/clock_keeper.h"

#include <gtest/gtest.h>

#include <optional>

#include "service/core/guarded_clock.h"
#include "tests/testing/fake_clock.h"
#include "tests/testing/storage_for_test.h"
#include "tests/testing/wait.h"

namespace ttl {
namespace {

class ClockKeeperTest : public testing::Test {
 protected:
  std::optional<ClockMemory> Saved() {
    auto memory = storage_->sidecar_state().LoadClockMemory();
    EXPECT_TRUE(memory.ok()) << memory.status();
    return memory.ok() ? *memory : std::nullopt;
  }

  bool IsSavedSoon() {
    return WaitUntil([&] { return Saved() == clock_.Memory(); });
  }

  void TickAfter(absl::Duration duration) {
    system_clock_.Advance(duration);
    keeper_->RunOnce();
  }

  StorageForTest storage_;
  FakeClock system_clock_;
  GuardedClock clock_{system_clock_, std::nullopt};
  std::optional<ClockKeeper> keeper_{std::in_place, clock_, storage_->sidecar_state()};
};

TEST_F(ClockKeeperTest, FirstTickSaves) {
  TickAfter(absl::Seconds(1));
  EXPECT_TRUE(IsSavedSoon());
}

TEST_F(ClockKeeperTest, SavesEveryInterval) {
  TickAfter(absl::Seconds(1));
  ASSERT_TRUE(IsSavedSoon());
  const std::optional<ClockMemory> first = Saved();
  for (absl::Duration passed = ClockKeeper::kTickInterval; passed < ClockKeeper::kSaveInterval;
       passed += ClockKeeper::kTickInterval) {
    TickAfter(ClockKeeper::kTickInterval);
  }
  EXPECT_EQ(Saved(), first);
  TickAfter(ClockKeeper::kTickInterval);
  EXPECT_TRUE(IsSavedSoon());
}

TEST_F(ClockKeeperTest, SuspicionIsSavedAtOnce) {
  TickAfter(absl::Seconds(1));
  ASSERT_TRUE(IsSavedSoon());
  system_clock_.StepWall(absl::Hours(48));
  TickAfter(absl::Seconds(1));
  EXPECT_TRUE(IsSavedSoon());
  EXPECT_GT(Saved()->max_apart, absl::Hours(47));
}

TEST_F(ClockKeeperTest, AcceptedWallIsSavedWhenAskedFor) {
  TickAfter(absl::Seconds(1));
  ASSERT_TRUE(IsSavedSoon());
  system_clock_.StepWall(absl::Hours(48));
  TickAfter(absl::Seconds(1));
  ASSERT_TRUE(IsSavedSoon());
  ASSERT_TRUE(clock_.AcceptWall().ok());
  keeper_->SaveSoon();
  TickAfter(absl::Seconds(1));
  EXPECT_TRUE(IsSavedSoon());
  EXPECT_EQ(Saved()->max_apart, absl::ZeroDuration());
}

TEST_F(ClockKeeperTest, LastWordIsSavedWhenDestroyed) {
  TickAfter(absl::Seconds(1));
  TickAfter(absl::Seconds(1));
  keeper_.reset();
  EXPECT_EQ(Saved(), clock_.Memory());
}

TEST_F(ClockKeeperTest, StorageThatRefusesIsNoReasonToHang) {
  TickAfter(absl::Seconds(1));
  ASSERT_TRUE(IsSavedSoon());
  storage_.env().FailWrites(true);
  TickAfter(absl::Seconds(20));
  keeper_.reset();
  EXPECT_NE(Saved(), clock_.Memory());
}

}  // namespace
}  // namespace ttl
