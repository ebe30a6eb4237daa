#include "service/core/guarded_clock.h"

#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "service/core/ttl_rules.h"
#include "tests/testing/fake_clock.h"

namespace ttl {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr absl::Duration kSecond = absl::Seconds(1);

class GuardedClockTest : public testing::Test {
 protected:
  GuardedClockTest() { StartFirst(); }

  // A process starts: with nothing to remember, or with what the last one left.
  void StartFirst() { guarded_ = std::make_unique<GuardedClock>(fake_, std::nullopt); }
  void StartWith(ClockMemory memory) {
    guarded_ = std::make_unique<GuardedClock>(fake_, std::move(memory));
  }
  void Restart() { StartWith(guarded_->Memory()); }
  void Reboot(absl::Duration off) {
    fake_.StepWall(off);
    fake_.Reboot("boot-2");
    Restart();
  }

  // Time passes, with a Tick() every second.
  void Run(absl::Duration duration) {
    for (absl::Duration done; done < duration; done += kSecond) {
      fake_.Advance(kSecond);
      guarded_->Tick();
    }
  }

  absl::Time Wall() const { return *fake_.Read().wall; }
  bool IsSuspect() const { return guarded_->Status().suspect; }
  std::string Reason() const { return guarded_->Status().reason; }
  absl::Time Now() const { return guarded_->Read().now; }

  FakeClock fake_;
  const absl::Time start_ = *fake_.Read().wall;
  std::unique_ptr<GuardedClock> guarded_;
};

TEST_F(GuardedClockTest, SoundClockIsTheWall) {
  Run(absl::Seconds(90));
  const JudgingTime time = guarded_->Read();
  EXPECT_EQ(time.now, start_ + absl::Seconds(90));
  EXPECT_EQ(time.for_deletes, time.now);
  EXPECT_TRUE(time.deletes_allowed);

  const ClockStatus status = guarded_->Status();
  EXPECT_FALSE(status.suspect);
  EXPECT_THAT(status.reason, IsEmpty());
  EXPECT_EQ(status.wall, time.now);
  EXPECT_EQ(status.steady, time.now);
  EXPECT_EQ(status.suspect_since, std::nullopt);
}

TEST_F(GuardedClockTest, DeletesNeedBothClocksWithinTheTolerance) {
  fake_.StepWall(absl::Seconds(3));
  EXPECT_EQ(guarded_->Read().now, start_ + absl::Seconds(3));
  EXPECT_EQ(guarded_->Read().for_deletes, start_);
  fake_.StepWall(absl::Seconds(-6));
  EXPECT_EQ(guarded_->Read().now, start_ - absl::Seconds(3));
  EXPECT_EQ(guarded_->Read().for_deletes, start_ - absl::Seconds(3));
  EXPECT_TRUE(guarded_->Read().deletes_allowed);
}

TEST_F(GuardedClockTest, ToleranceIsFiveSecondsEitherWay) {
  fake_.StepWall(absl::Seconds(5));
  EXPECT_TRUE(guarded_->Read().deletes_allowed);
  fake_.StepWall(absl::Nanoseconds(1));
  EXPECT_FALSE(guarded_->Read().deletes_allowed);
  fake_.SetWall(start_ - absl::Seconds(5));
  EXPECT_TRUE(guarded_->Read().deletes_allowed);
  fake_.StepWall(-absl::Nanoseconds(1));
  EXPECT_FALSE(guarded_->Read().deletes_allowed);
}

// What has happened may have happened by either clock.
TEST_F(GuardedClockTest, TheLatestThatItMayBeIsTheLaterOfWhatIsSound) {
  EXPECT_EQ(guarded_->Read().latest, Wall());
  const absl::Time steady = Wall();
  fake_.StepWall(absl::Hours(48));
  EXPECT_EQ(guarded_->Read().now, steady);
  EXPECT_EQ(guarded_->Read().latest, Wall());
  fake_.StepWall(-absl::Hours(96));
  EXPECT_EQ(guarded_->Read().latest, steady);
  fake_.FailBoot();
  EXPECT_EQ(guarded_->Read().latest, Wall());
  fake_.FailWall();
  EXPECT_EQ(guarded_->Read().latest, guarded_->Read().now);
}

// Field report B19.
TEST_F(GuardedClockTest, JumpAheadDeletesNothingAndHidesNothing) {
  Run(absl::Seconds(10));
  const std::optional<int64_t> expire_time =
      ExpireTime(-1, {.ts = absl::ToUnixSeconds(Wall()), .ttl = 3600});
  fake_.StepWall(absl::Hours(48));
  for (int i = 0; i < 30; ++i) {
    EXPECT_FALSE(guarded_->Read().deletes_allowed);
    EXPECT_FALSE(IsExpiredAt(expire_time, Now()));
    Run(kSecond);
  }
  EXPECT_THAT(Reason(), AllOf(HasSubstr("wall clock is 172800.0 s ahead of the steady clock"),
                              HasSubstr("operator")));
  fake_.StepWall(-absl::Hours(48));
  EXPECT_TRUE(guarded_->Read().deletes_allowed);
  EXPECT_EQ(Now(), Wall());
  EXPECT_FALSE(IsExpiredAt(expire_time, Now()));
  Run(absl::Minutes(1));
  EXPECT_FALSE(IsSuspect());
}

TEST_F(GuardedClockTest, StepIsSeenByTheNextReadWithoutATick) {
  fake_.StepWall(absl::Seconds(6));
  const JudgingTime time = guarded_->Read();
  EXPECT_FALSE(time.deletes_allowed);
  EXPECT_EQ(time.now, start_);
  EXPECT_EQ(time.for_deletes, start_);
  EXPECT_TRUE(IsSuspect());
}

TEST_F(GuardedClockTest, WallBehindIsSuspectAndJudgesVisibility) {
  Run(absl::Minutes(2));
  fake_.StepWall(-absl::Hours(1));
  EXPECT_FALSE(guarded_->Read().deletes_allowed);
  EXPECT_EQ(Now(), Wall());
  EXPECT_THAT(Reason(), HasSubstr("wall clock is 3600.0 s behind the steady clock"));
}

TEST_F(GuardedClockTest, TickReportsTheChanges) {
  EXPECT_FALSE(guarded_->Tick().was_suspect);
  fake_.StepWall(absl::Hours(1));
  const GuardedClock::Transition begin = guarded_->Tick();
  EXPECT_FALSE(begin.was_suspect);
  EXPECT_TRUE(begin.status.suspect);
  fake_.Advance(kSecond);
  EXPECT_TRUE(guarded_->Tick().was_suspect);
  fake_.StepWall(-absl::Hours(1));
  const GuardedClock::Transition end = guarded_->Tick();
  EXPECT_TRUE(end.was_suspect);
  EXPECT_FALSE(end.status.suspect);
  EXPECT_FALSE(guarded_->Tick().was_suspect);
}

TEST_F(GuardedClockTest, SuspectSinceIsWhenItBegan) {
  fake_.StepWall(absl::Hours(1));
  Run(absl::Seconds(20));
  EXPECT_EQ(guarded_->Status().suspect_since, start_ + kSecond);
}

// B22: readings that fail or cannot be.

// Field report B22.
TEST_F(GuardedClockTest, FailedWallReadingLeavesTheSteadyClock) {
  fake_.FailWall();
  fake_.Advance(absl::Seconds(30));
  EXPECT_EQ(Now(), start_ + absl::Seconds(30));
  EXPECT_FALSE(guarded_->Read().deletes_allowed);
  EXPECT_THAT(Reason(), HasSubstr("wall clock cannot be read"));
  EXPECT_EQ(guarded_->Status().wall, std::nullopt);
  fake_.FailWall(false);
  EXPECT_TRUE(guarded_->Read().deletes_allowed);
}

// Field report B22.
TEST_F(GuardedClockTest, NonsenseWallReadingsLeaveTheSteadyClock) {
  const absl::TimeZone utc = absl::UTCTimeZone();
  for (const absl::Time nonsense :
       {absl::FromUnixSeconds(-1), absl::UnixEpoch(), absl::FromUnixSeconds(86400),
        absl::FromCivil(absl::CivilSecond(1999, 12, 31, 23, 59, 59), utc),
        absl::FromCivil(absl::CivilSecond(2200, 1, 1), utc), absl::InfinitePast(),
        absl::InfiniteFuture()}) {
    fake_.SetWall(nonsense);
    guarded_->Tick();
    EXPECT_EQ(Now(), start_) << nonsense;
    EXPECT_FALSE(guarded_->Read().deletes_allowed) << nonsense;
    EXPECT_THAT(Reason(), HasSubstr("which is impossible"));
    fake_.SetWall(start_);
    guarded_->Tick();
    EXPECT_TRUE(guarded_->Read().deletes_allowed) << nonsense;
  }
}

// Field report B22.
TEST_F(GuardedClockTest, FailedOrNonsenseBootReadingLeavesTheWall) {
  Run(absl::Minutes(2));
  const absl::Duration boot = *fake_.Read().boot;
  fake_.FailBoot();
  EXPECT_EQ(Now(), Wall());
  EXPECT_FALSE(guarded_->Read().deletes_allowed);
  EXPECT_THAT(Reason(), HasSubstr("boot clock cannot be read"));
  for (const absl::Duration nonsense :
       {absl::Seconds(-5), absl::ZeroDuration(), boot - absl::Minutes(2),
        absl::Hours(24 * 365 * 300), absl::InfiniteDuration(), -absl::InfiniteDuration()}) {
    fake_.SetBoot(nonsense);
    guarded_->Tick();
    EXPECT_EQ(Now(), Wall()) << nonsense;
    EXPECT_FALSE(guarded_->Read().deletes_allowed) << nonsense;
    EXPECT_THAT(Reason(), AllOf(HasSubstr("boot clock shows"), HasSubstr("which is impossible")));
    EXPECT_EQ(guarded_->Status().steady, std::nullopt) << nonsense;
  }
  fake_.SetBoot(boot);
  EXPECT_TRUE(guarded_->Read().deletes_allowed);
}

// Field report B22.
TEST_F(GuardedClockTest, WithoutAnyReadingNowStandsStill) {
  fake_.Advance(absl::Seconds(30));
  const absl::Time last = Now();
  fake_.FailWall();
  fake_.FailBoot();
  fake_.Advance(absl::Hours(1));
  guarded_->Tick();
  EXPECT_EQ(Now(), last);
  EXPECT_FALSE(guarded_->Read().deletes_allowed);
  EXPECT_THAT(Reason(), AllOf(HasSubstr("wall clock cannot be read"),
                              HasSubstr("boot clock cannot be read")));
}

TEST_F(GuardedClockTest, FailureOfAReadingDoesNotEndASuspicion) {
  fake_.StepWall(absl::Hours(1));
  Run(absl::Seconds(10));
  fake_.FailWall();
  Run(absl::Minutes(10));
  fake_.FailWall(false);
  Run(absl::Minutes(10));
  EXPECT_TRUE(IsSuspect());
  EXPECT_EQ(Now(), Wall() - absl::Hours(1));
}

// B26: time that passes while nobody looks is still time.

// Field report B26.
TEST_F(GuardedClockTest, StopOfTheProcessIsNotSuspicious) {
  Run(absl::Seconds(5));
  const std::optional<int64_t> expire_time =
      ExpireTime(-1, {.ts = absl::ToUnixSeconds(Wall()), .ttl = 60});
  fake_.Advance(absl::Minutes(10));
  EXPECT_TRUE(IsExpiredAt(expire_time, Now()));
  EXPECT_TRUE(guarded_->Read().deletes_allowed);
}

// Field report B26.
TEST_F(GuardedClockTest, SuspensionForDaysIsNotSuspicious) {
  Run(absl::Minutes(5));
  fake_.Advance(absl::Hours(72));
  EXPECT_TRUE(guarded_->Read().deletes_allowed);
  EXPECT_EQ(Now(), Wall());
  EXPECT_FALSE(guarded_->Tick().status.suspect);
}

// How suspicion ends.

TEST_F(GuardedClockTest, EndsByItselfAfterFiveSteadyMinutes) {
  fake_.StepWall(absl::Minutes(9));
  guarded_->Tick();
  Run(absl::Minutes(5) - kSecond);
  EXPECT_TRUE(IsSuspect());
  EXPECT_EQ(Now(), Wall() - absl::Minutes(9));
  EXPECT_THAT(Reason(), Not(HasSubstr("operator")));
  Run(kSecond);
  EXPECT_FALSE(IsSuspect());
  EXPECT_EQ(Now(), Wall());
  EXPECT_EQ(guarded_->Read().for_deletes, Wall());
}

TEST_F(GuardedClockTest, EndsByItselfForAWallThatIsBehindToo) {
  Run(absl::Minutes(30));
  fake_.StepWall(-absl::Minutes(9));
  guarded_->Tick();
  Run(absl::Minutes(5));
  EXPECT_FALSE(IsSuspect());
  EXPECT_EQ(guarded_->Memory().high_water, Wall());
  Run(absl::Minutes(1));
  EXPECT_FALSE(IsSuspect());
}

TEST_F(GuardedClockTest, FiveMinutesStartAnewWithEveryStep) {
  fake_.StepWall(absl::Minutes(3));
  Run(absl::Minutes(4));
  fake_.StepWall(absl::Seconds(2));
  Run(absl::Minutes(4));
  EXPECT_TRUE(IsSuspect());
  fake_.StepWall(-absl::Seconds(2));
  Run(absl::Minutes(4));
  EXPECT_TRUE(IsSuspect());
  Run(absl::Minutes(2));
  EXPECT_FALSE(IsSuspect());
}

TEST_F(GuardedClockTest, FiveMinutesStartAnewAfterAFailedReading) {
  fake_.StepWall(absl::Minutes(3));
  Run(absl::Minutes(4));
  fake_.FailWall();
  Run(kSecond);
  fake_.FailWall(false);
  Run(absl::Minutes(4));
  EXPECT_TRUE(IsSuspect());
  Run(absl::Minutes(2));
  EXPECT_FALSE(IsSuspect());
}

TEST_F(GuardedClockTest, TenMinutesAreForgivenAndMoreIsNot) {
  fake_.StepWall(absl::Minutes(10));
  Run(absl::Minutes(6));
  EXPECT_FALSE(IsSuspect());
  fake_.StepWall(absl::Minutes(10) + absl::Milliseconds(1));
  Run(absl::Hours(2));
  EXPECT_TRUE(IsSuspect());
}

TEST_F(GuardedClockTest, OnceFarApartIsNotForgivenAtALesserDistance) {
  fake_.StepWall(absl::Hours(48));
  Run(absl::Seconds(3));
  fake_.StepWall(-absl::Hours(48) + absl::Minutes(1));
  Run(absl::Minutes(30));
  EXPECT_TRUE(IsSuspect());
  fake_.StepWall(-absl::Minutes(1));
  Run(kSecond);
  EXPECT_FALSE(IsSuspect());
  fake_.StepWall(absl::Minutes(1));
  Run(absl::Minutes(6));
  EXPECT_FALSE(IsSuspect());
}

TEST_F(GuardedClockTest, EndsByTheWordOfAnOperator) {
  fake_.StepWall(absl::Hours(48));
  Run(absl::Minutes(30));
  ASSERT_TRUE(IsSuspect());
  EXPECT_EQ(guarded_->AcceptWall(), absl::OkStatus());
  EXPECT_FALSE(IsSuspect());
  EXPECT_EQ(Now(), Wall());
  EXPECT_TRUE(guarded_->Tick().was_suspect);
  Run(absl::Minutes(2));
  EXPECT_FALSE(IsSuspect());
}

TEST_F(GuardedClockTest, OperatorCanAcceptAWallThatIsBehind) {
  Run(absl::Minutes(2));
  fake_.StepWall(-absl::Hours(48));
  ASSERT_TRUE(IsSuspect());
  EXPECT_EQ(guarded_->AcceptWall(), absl::OkStatus());
  Run(kSecond);
  EXPECT_FALSE(IsSuspect());
  Restart();
  EXPECT_FALSE(IsSuspect());
}

TEST_F(GuardedClockTest, ThereMustBeSomethingToAccept) {
  EXPECT_EQ(guarded_->AcceptWall().code(), absl::StatusCode::kFailedPrecondition);
  fake_.StepWall(absl::Hours(48));
  fake_.FailWall();
  const absl::Status status = guarded_->AcceptWall();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), HasSubstr("wall clock cannot be read"));
  fake_.FailWall(false);
  fake_.FailBoot();
  EXPECT_EQ(guarded_->AcceptWall().code(), absl::StatusCode::kFailedPrecondition);
  fake_.FailBoot(false);
  EXPECT_EQ(guarded_->AcceptWall(), absl::OkStatus());
}

// The anchor.

TEST_F(GuardedClockTest, SlewOf500PpmIsFollowedForDays) {
  for (int minute = 0; minute < 3 * 24 * 60; ++minute) {
    fake_.StepWall(absl::Milliseconds(30));
    fake_.Advance(absl::Minutes(1));
    ASSERT_FALSE(guarded_->Tick().status.suspect) << minute;
  }
  EXPECT_LE(absl::AbsDuration(*guarded_->Status().steady - Wall()), absl::Milliseconds(1));
}

TEST_F(GuardedClockTest, SmallStepIsAbsorbedAtThePaceOfASlew) {
  fake_.StepWall(absl::Seconds(4));
  Run(absl::Minutes(10));
  EXPECT_NEAR(absl::ToDoubleSeconds(Wall() - *guarded_->Status().steady), 4 - 0.3, 0.01);
  for (int minute = 0; minute < 180; ++minute) {
    fake_.Advance(absl::Minutes(1));
    guarded_->Tick();
  }
  EXPECT_EQ(guarded_->Status().steady, Wall());
}

TEST_F(GuardedClockTest, SmallStepsCannotWalkTheClockAway) {
  for (int step = 0; step < 3; ++step) {
    fake_.StepWall(absl::Seconds(4.9));
    Run(absl::Minutes(1));
  }
  EXPECT_TRUE(IsSuspect());
  EXPECT_LE(Now(), start_ + absl::Minutes(3) + absl::Seconds(5));
}

TEST_F(GuardedClockTest, StepsOfMillisecondsCannotWalkTheClockAway) {
  for (int second = 0; second < 60; ++second) {
    fake_.StepWall(absl::Milliseconds(100));
    Run(kSecond);
  }
  EXPECT_TRUE(IsSuspect());
  EXPECT_LE(Now(), start_ + absl::Minutes(1) + absl::Seconds(5));
}

TEST_F(GuardedClockTest, AnchorStaysWhileSuspect) {
  fake_.StepWall(absl::Hours(1));
  const ClockMemory before = guarded_->Memory();
  Run(absl::Minutes(10));
  EXPECT_EQ(guarded_->Memory().anchor_wall, before.anchor_wall);
  EXPECT_EQ(guarded_->Memory().anchor_boot, before.anchor_boot);
  EXPECT_EQ(guarded_->Memory().high_water, before.high_water);
  EXPECT_EQ(guarded_->Memory().max_apart, absl::Hours(1));
}

TEST_F(GuardedClockTest, HighWaterMarkGrowsWithSoundTimesOnly) {
  Run(absl::Seconds(30));
  EXPECT_EQ(guarded_->Memory().high_water, start_ + absl::Seconds(30));
  fake_.StepWall(-absl::Seconds(4));
  Run(kSecond);
  EXPECT_EQ(guarded_->Memory().high_water, start_ + absl::Seconds(30));
  fake_.StepWall(absl::Hours(48));
  Run(absl::Minutes(1));
  EXPECT_EQ(guarded_->Memory().high_water, start_ + absl::Seconds(30));
}

// Restarts within one boot.

TEST_F(GuardedClockTest, RestartIsNotNoticed) {
  Run(absl::Seconds(100));
  fake_.Advance(absl::Hours(6));
  Restart();
  EXPECT_TRUE(guarded_->Read().deletes_allowed);
  EXPECT_EQ(guarded_->Read().for_deletes, Wall());
}

TEST_F(GuardedClockTest, StepWhileTheProcessWasDownIsSuspect) {
  Run(absl::Seconds(100));
  fake_.Advance(absl::Hours(6));
  fake_.StepWall(absl::Hours(48));
  Restart();
  EXPECT_FALSE(guarded_->Read().deletes_allowed);
  EXPECT_EQ(Now(), Wall() - absl::Hours(48));
  EXPECT_FALSE(guarded_->Tick().was_suspect);
  EXPECT_THAT(Reason(), HasSubstr("172800.0 s ahead"));
}

TEST_F(GuardedClockTest, SuspicionGoesOnAfterARestart) {
  fake_.StepWall(absl::Hours(48));
  Run(absl::Seconds(10));
  fake_.StepWall(-absl::Hours(48) + absl::Minutes(1));
  Restart();
  Run(absl::Minutes(30));
  EXPECT_TRUE(IsSuspect());
  EXPECT_THAT(Reason(), HasSubstr("operator"));
  EXPECT_EQ(guarded_->Memory().max_apart, absl::Hours(48));
  EXPECT_EQ(guarded_->AcceptWall(), absl::OkStatus());
  Restart();
  EXPECT_FALSE(IsSuspect());
}

TEST_F(GuardedClockTest, SmallStepsCannotWalkTheClockAwayOverRestarts) {
  for (int step = 0; step < 3; ++step) {
    fake_.StepWall(absl::Seconds(4.9));
    Run(absl::Seconds(5));
    Restart();
  }
  EXPECT_TRUE(IsSuspect());
}

// Restarts in another boot.

TEST_F(GuardedClockTest, MachineThatWasOffIsSound) {
  Run(absl::Minutes(2));
  Reboot(absl::Hours(5));
  EXPECT_TRUE(guarded_->Read().deletes_allowed);
  EXPECT_EQ(Now(), Wall());
  EXPECT_EQ(guarded_->Memory().boot_id, "boot-2");
}

TEST_F(GuardedClockTest, WallBehindTheHighWaterMarkIsSuspectAfterAReboot) {
  Run(absl::Minutes(2));
  const absl::Time high_water = guarded_->Memory().high_water;
  Reboot(-absl::Hours(24));
  EXPECT_FALSE(guarded_->Read().deletes_allowed);
  EXPECT_EQ(Now(), Wall());
  EXPECT_EQ(guarded_->Status().steady, high_water);
  EXPECT_THAT(Reason(), HasSubstr("wall clock is 86400.0 s behind the latest time seen"));
  Run(absl::Minutes(30));
  EXPECT_TRUE(IsSuspect());
  fake_.StepWall(absl::Hours(24));
  EXPECT_TRUE(guarded_->Read().deletes_allowed);
}

TEST_F(GuardedClockTest, WallALittleBehindTheHighWaterMarkIsSoundAfterAReboot) {
  Run(absl::Minutes(2));
  Reboot(-absl::Seconds(4));
  EXPECT_TRUE(guarded_->Read().deletes_allowed);
  EXPECT_EQ(Now(), Wall());
}

TEST_F(GuardedClockTest, WallMinutesBehindIsForgivenAfterAReboot) {
  Run(absl::Minutes(2));
  Reboot(-absl::Minutes(8));
  guarded_->Tick();
  Run(absl::Minutes(5));
  EXPECT_FALSE(IsSuspect());
  EXPECT_EQ(Now(), Wall());
}

TEST_F(GuardedClockTest, RebootDoesNotMakeAJumpSound) {
  Run(absl::Minutes(2));
  fake_.StepWall(absl::Hours(48));
  Run(absl::Seconds(10));
  Reboot(absl::Seconds(40));
  EXPECT_FALSE(guarded_->Read().deletes_allowed);
  EXPECT_LE(Now(), Wall() - absl::Hours(48));
  Run(absl::Hours(1));
  EXPECT_TRUE(IsSuspect());
  EXPECT_EQ(guarded_->AcceptWall(), absl::OkStatus());
  EXPECT_FALSE(IsSuspect());
}

TEST_F(GuardedClockTest, RebootThatMendsTheWallIsForgiven) {
  Run(absl::Minutes(2));
  fake_.StepWall(absl::Hours(48));
  Run(absl::Seconds(10));
  Reboot(-absl::Hours(48) + absl::Minutes(2));
  EXPECT_FALSE(guarded_->Read().deletes_allowed);
  guarded_->Tick();
  Run(absl::Minutes(5));
  EXPECT_FALSE(IsSuspect());
}

TEST_F(GuardedClockTest, UnknownBootIsAnotherBoot) {
  fake_.SetBootId("");
  StartFirst();
  Run(absl::Minutes(2));
  EXPECT_FALSE(IsSuspect());
  fake_.StepWall(absl::Hours(5));
  Restart();
  EXPECT_FALSE(IsSuspect());
  fake_.StepWall(-absl::Hours(5));
  Restart();
  EXPECT_TRUE(IsSuspect());
}

TEST_F(GuardedClockTest, BootClockThatIsBehindItsAnchorIsAnotherBoot) {
  Run(absl::Minutes(2));
  fake_.SetBoot(absl::Seconds(1));
  Restart();
  EXPECT_TRUE(guarded_->Read().deletes_allowed);
  EXPECT_EQ(guarded_->Memory().anchor_boot, absl::Seconds(1));
}

TEST_F(GuardedClockTest, WithoutAReadingAfterARebootNowIsTheLatestTimeRemembered) {
  Run(absl::Minutes(2));
  const absl::Time high_water = guarded_->Memory().high_water;
  const ClockMemory memory = guarded_->Memory();
  fake_.FailWall();
  fake_.Reboot("boot-2");
  Restart();
  EXPECT_EQ(Now(), high_water);
  EXPECT_FALSE(guarded_->Read().deletes_allowed);
  EXPECT_EQ(guarded_->Memory(), memory);
  fake_.FailWall(false);
  fake_.StepWall(absl::Hours(1));
  EXPECT_EQ(Now(), Wall());
  EXPECT_FALSE(guarded_->Read().deletes_allowed);
  EXPECT_FALSE(guarded_->Tick().status.suspect);
  EXPECT_TRUE(guarded_->Read().deletes_allowed);
}

// First starts.

TEST_F(GuardedClockTest, FirstStartTrustsTheWall) {
  EXPECT_TRUE(guarded_->Read().deletes_allowed);
  EXPECT_EQ(guarded_->Memory(),
            (ClockMemory{start_, absl::Hours(1), "boot-1", start_, absl::ZeroDuration()}));
}

TEST_F(GuardedClockTest, FirstStartWithoutASoundWallHidesNothing) {
  fake_.SetWall(absl::FromUnixSeconds(100));
  StartFirst();
  EXPECT_EQ(Now(), absl::UnixEpoch());
  EXPECT_FALSE(guarded_->Read().deletes_allowed);
  EXPECT_TRUE(guarded_->Tick().status.suspect);
  EXPECT_THAT(Reason(), AllOf(HasSubstr("wall clock shows 1970-01-01T00:01:40"),
                              HasSubstr("have not both been sound")));
  fake_.SetWall(start_);
  EXPECT_FALSE(guarded_->Tick().status.suspect);
  EXPECT_TRUE(guarded_->Read().deletes_allowed);
}

TEST_F(GuardedClockTest, NothingKnownIsRememberedAsNothing) {
  fake_.FailWall();
  StartFirst();
  EXPECT_EQ(guarded_->Memory(), ClockMemory());
  fake_.FailWall(false);
  Restart();
  EXPECT_FALSE(IsSuspect());
  EXPECT_THAT(Reason(), IsEmpty());
}

TEST_F(GuardedClockTest, MemoryThatCannotBeIsIgnoredLoudly) {
  const ClockMemory sound = guarded_->Memory();
  const absl::Time nonsense = absl::FromUnixSeconds(-86400);
  ClockMemory anchor = sound, boot = sound, high_water = sound, apart = sound;
  anchor.anchor_wall = nonsense;
  boot.anchor_boot = -kSecond;
  high_water.high_water = absl::FromUnixSeconds(8'000'000'000);
  apart.max_apart = -kSecond;
  for (const ClockMemory& memory : {anchor, boot, high_water, apart}) {
    StartWith(memory);
    EXPECT_TRUE(guarded_->Read().deletes_allowed);
    EXPECT_EQ(Now(), Wall());
    EXPECT_THAT(guarded_->Tick().status.reason, HasSubstr("is impossible and is ignored"));
    EXPECT_EQ(guarded_->Memory(), sound);
    fake_.StepWall(absl::Hours(1));
    EXPECT_THAT(Reason(), AllOf(HasSubstr("is ignored"), HasSubstr("3600.0 s ahead")));
    fake_.StepWall(-absl::Hours(1));
  }
}

TEST_F(GuardedClockTest, CanBeReadByManyThreadsWhileItTicks) {
  std::vector<std::thread> readers;
  for (int i = 0; i < 4; ++i) {
    readers.emplace_back([this] {
      for (int read = 0; read < 2000; ++read) {
        const JudgingTime time = guarded_->Read();
        EXPECT_LE(time.for_deletes, time.now);
      }
    });
  }
  for (int i = 0; i < 500; ++i) {
    fake_.StepWall(absl::Seconds(i % 2 == 0 ? 20 : -20));
    Run(kSecond);
  }
  for (std::thread& reader : readers) reader.join();
  EXPECT_FALSE(IsSuspect());
}

}  // namespace
}  // namespace ttl
