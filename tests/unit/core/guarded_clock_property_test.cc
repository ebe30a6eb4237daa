#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>

#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "rapidcheck/gtest.h"
#include "service/core/guarded_clock.h"
#include "tests/testing/fake_clock.h"
#include "tests/unit/core/generators.h"

namespace ttl {
namespace {

const absl::Time kStart = absl::FromUnixSeconds(1'800'000'000);

absl::Duration AnyStep() {
  return absl::Milliseconds(*rc::gen::oneOf(rc::gen::inRange(-4'900, 4'900),
                                            rc::gen::inRange(-700'000, 700'000),
                                            rc::gen::inRange(-200'000'000, 200'000'000)));
}

// A machine and the process on it, to which things happen.
struct Machine {
  FakeClock clock{kStart};
  std::unique_ptr<GuardedClock> guarded = std::make_unique<GuardedClock>(clock, std::nullopt);

  void Restart() { guarded = std::make_unique<GuardedClock>(clock, guarded->Memory()); }

  // Anything that can go wrong with a clock, one thing at a time.
  void AnyEvent() {
    switch (*rc::gen::inRange(0, 9)) {
      case 0:
      case 1:
        return clock.StepWall(AnyStep());
      case 2:
        return clock.FailWall(*rc::gen::arbitrary<bool>());
      case 3:
        return clock.FailBoot(*rc::gen::arbitrary<bool>());
      case 4:
        return Restart();
      case 5:
        clock.Reboot(*rc::gen::arbitrary<bool>() ? "" : "another");
        return Restart();
      case 6:
        return clock.SetWall(absl::FromUnixSeconds(*generators::OneOf(
            {-1, 0, 1'500'000'000, 1'800'000'000, 1'900'000'000, 8'000'000'000})));
      default:
        clock.Advance(absl::Milliseconds(*rc::gen::inRange(0, 400'000)));
        guarded->Tick();
    }
  }
};

RC_GTEST_PROP(GuardedClockProperty, WhateverHappensTimeIsTrustedWithCare, ()) {
  Machine machine;
  const int events = *rc::gen::inRange(1, 60);
  for (int i = 0; i < events; ++i) {
    machine.AnyEvent();
    const ClockStatus status = machine.guarded->Status();
    const JudgingTime& time = status.time;
    RC_ASSERT(time.for_deletes <= time.now);
    RC_ASSERT(status.suspect == !time.deletes_allowed);
    RC_ASSERT(status.suspect == !status.reason.empty());
    RC_ASSERT(status.suspect == status.suspect_since.has_value());
    if (status.wall.has_value() || status.steady.has_value()) {
      RC_ASSERT(time.now <= std::max(status.wall.value_or(absl::InfinitePast()),
                                     status.steady.value_or(absl::InfinitePast())));
    }
    const ClockMemory memory = machine.guarded->Memory();
    if (!time.deletes_allowed) {
      if (status.wall.has_value() && status.steady.has_value()) {
        RC_ASSERT(time.now == std::min(*status.wall, *status.steady));
      }
      continue;
    }
    RC_ASSERT(status.wall.has_value() && status.steady.has_value());
    RC_ASSERT(absl::AbsDuration(*status.wall - *status.steady) <= GuardedClock::kTolerance);
    RC_ASSERT(*status.wall >= memory.high_water - GuardedClock::kTolerance);
    RC_ASSERT(time.now == *status.wall);
    RC_ASSERT(time.for_deletes == std::min(*status.wall, *status.steady));
  }
}

// In less than kSteadyTime nothing is forgiven, so that the distance from true
// time is known.
RC_GTEST_PROP(GuardedClockProperty, StepsNeverMoveDeletesBeyondToleranceAndSlew, ()) {
  Machine machine;
  absl::Time truth = kStart;
  while (truth < kStart + GuardedClock::kSteadyTime - absl::Seconds(30)) {
    machine.clock.StepWall(absl::Milliseconds(*rc::gen::inRange(-4'900, 4'900)));
    const absl::Duration passed = absl::Milliseconds(*rc::gen::inRange(100, 30'000));
    machine.clock.Advance(passed);
    truth += passed;
    if (*rc::gen::arbitrary<bool>()) machine.Restart();
    machine.guarded->Tick();
    const JudgingTime time = machine.guarded->Read();
    const absl::Duration slew = (truth - kStart) / 2000;
    RC_ASSERT(time.for_deletes <= truth + slew);
    if (time.deletes_allowed) {
      RC_ASSERT(absl::AbsDuration(time.now - truth) <= GuardedClock::kTolerance + slew);
    }
  }
}

RC_GTEST_PROP(GuardedClockProperty, AnHonestClockIsNeverSuspect, ()) {
  Machine machine;
  const int events = *rc::gen::inRange(1, 100);
  for (int i = 0; i < events; ++i) {
    const absl::Duration passed = absl::Milliseconds(*rc::gen::inRange(0, 2'000'000));
    machine.clock.Advance(passed);
    machine.clock.StepWall(passed * *rc::gen::inRange(-500, 501) / 1'000'000);
    if (*rc::gen::inRange(0, 5) == 0) machine.Restart();
    const ClockStatus status = machine.guarded->Tick().status;
    RC_ASSERT(!status.suspect);
    RC_ASSERT(status.time.now == *machine.clock.Read().wall);
  }
}

RC_GTEST_PROP(GuardedClockProperty, AReadingIsJudgedTheSameWithAndWithoutATick, ()) {
  Machine machine;
  const int events = *rc::gen::inRange(1, 20);
  for (int i = 0; i < events; ++i) machine.AnyEvent();
  machine.guarded->Tick();
  const JudgingTime read = machine.guarded->Read();
  const JudgingTime ticked = machine.guarded->Tick().status.time;
  RC_ASSERT(read.now == ticked.now);
  RC_ASSERT(read.for_deletes == ticked.for_deletes);
  RC_ASSERT(read.deletes_allowed == ticked.deletes_allowed);
}

}  // namespace
}  // namespace ttl
