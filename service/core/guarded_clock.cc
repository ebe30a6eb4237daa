#include "service/core/guarded_clock.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "service/base/error_details.h"
#include "service/base/mutex.h"
#include "service/base/time_text.h"
#include "service/core/clock.h"

// The steady time is an anchor, which is a wall time and the boot clock at that instant, plus the
// progress of the boot clock since. Judge() compares a reading of the wall clock with the steady
// time and with the high-water mark; it depends on the reading and the memory alone, and changes
// neither.
//
// Only Tick() changes the memory. While the clock is sound, FollowWall() moves the anchor towards
// the wall clock. While it is suspect, NoteSuspicion() records the largest difference and how long
// the present one has lasted, by which IsForgiven() decides whether the suspicion ends by itself.
// AnchorIfPossible() creates the anchor if there is none of this boot.
namespace ttl {
namespace {

// The anchor follows the wall clock by at most 500 ppm of the time passed: as fast
// as adjtime() slews a clock, so an honest clock is always followed. A step is
// absorbed at that pace only, and steps that come faster (five seconds take
// almost three hours) add up until they exceed the tolerance. Moving the anchor
// once a minute keeps the rounding of stored times out of the pace.
constexpr int kInverseSlew = 2000;
constexpr absl::Duration kAnchorInterval = absl::Minutes(1);

// Two offsets closer than this are the same: more than a slew gains in
// kSteadyTime, less than any step that matters.
constexpr absl::Duration kSameOffset = absl::Seconds(1);

bool IsPlausible(absl::Time time) {
  static const absl::Time kEarliest = absl::FromUnixSeconds(946684800);  // 2000-01-01
  static const absl::Time kLatest = absl::FromUnixSeconds(7258118400);   // 2200-01-01
  return kEarliest <= time && time < kLatest;
}

bool IsPlausible(absl::Duration boot) {
  return boot >= absl::ZeroDuration() && boot < absl::InfiniteDuration();
}

template <typename T>
std::optional<T> Plausible(const std::optional<T>& reading) {
  return reading.has_value() && IsPlausible(*reading) ? reading : std::nullopt;
}

std::string Seconds(absl::Duration duration) {
  return absl::StrFormat("%.1f s", absl::ToDoubleSeconds(duration));
}

std::string Offset(absl::Duration ahead) {
  return ahead < absl::ZeroDuration() ? Seconds(-ahead) + " behind" : Seconds(ahead) + " ahead of";
}

// What is wrong with `memory`; empty if nothing is.
std::string FaultOf(const ClockMemory& memory) {
  if (memory == ClockMemory()) return "";
  if (IsPlausible(memory.anchor_wall) && IsPlausible(memory.high_water) &&
      IsPlausible(memory.anchor_boot) && IsPlausible(memory.max_apart)) {
    return "";
  }
  return absl::StrCat("the stored state of the clock is impossible and is ignored (anchor ",
                      TimeText(memory.anchor_wall), " at ", Seconds(memory.anchor_boot),
                      " after boot, high-water mark ", TimeText(memory.high_water),
                      ", largest difference ", Seconds(memory.max_apart), ")");
}

}  // namespace

struct GuardedClock::Judgement {
  ClockReading reading;
  std::optional<absl::Time> wall;      // if it is sound
  std::optional<absl::Duration> boot;  // if it is sound
  std::optional<absl::Time> steady;    // if it is sound
  absl::Duration apart;                // largest disagreement of what is sound
  JudgingTime time;

  bool Disagrees() const { return apart > kTolerance; }
};

GuardedClock::GuardedClock(const Clock& clock, std::optional<ClockMemory> memory)
    : clock_(clock), boot_id_(clock.BootId()) {
  const MutexLock lock(mutex_);
  if (memory.has_value()) memory_fault_ = FaultOf(*memory);
  if (memory.has_value() && memory_fault_.empty()) memory_ = *std::move(memory);
  last_now_ = std::max(memory_.anchor_wall, memory_.high_water);

  const ClockReading reading = clock_.Read();
  // A boot clock that is behind the anchor is not the one the anchor was made by.
  anchored_ = !boot_id_.empty() && boot_id_ == memory_.boot_id &&
              reading.boot.value_or(memory_.anchor_boot) >= memory_.anchor_boot;
  AnchorIfPossible(reading);
}

JudgingTime GuardedClock::Read() const {
  const MutexLock lock(mutex_);
  return Observe().time;
}

GuardedClock::Transition GuardedClock::Tick() {
  const MutexLock lock(mutex_);
  const ClockReading reading = clock_.Read();
  AnchorIfPossible(reading);
  Judgement judgement = Judge(reading);
  const bool was_suspect = suspect_since_.has_value();
  if (!judgement.time.deletes_allowed) NoteSuspicion(judgement);
  if (IsForgiven(judgement)) {
    StartFrom(*judgement.wall, *judgement.boot);
    judgement = Judge(reading);
  }
  if (judgement.time.deletes_allowed) FollowWall(judgement);
  last_now_ = judgement.time.now;
  return {was_suspect, StatusOf(judgement)};
}

absl::Status GuardedClock::AcceptWall() {
  const MutexLock lock(mutex_);
  const Judgement judgement = Observe();
  if (judgement.time.deletes_allowed) {
    return MakeError(Reason::kClockNotSuspect,
                     "the clock is not suspect: there is nothing to accept");
  }
  if (!judgement.wall.has_value() || !judgement.boot.has_value()) {
    return MakeError(Reason::kClockNotAcceptable,
                     absl::StrCat("the clock cannot be accepted as it is: ", ReasonOf(judgement)));
  }
  StartFrom(*judgement.wall, *judgement.boot);
  return absl::OkStatus();
}

ClockStatus GuardedClock::Status() const {
  const MutexLock lock(mutex_);
  return StatusOf(Observe());
}

ClockMemory GuardedClock::Memory() const {
  const MutexLock lock(mutex_);
  return memory_;
}

GuardedClock::Judgement GuardedClock::Observe() const {
  const Judgement judgement = Judge(clock_.Read());
  last_now_ = judgement.time.now;
  return judgement;
}

GuardedClock::Judgement GuardedClock::Judge(const ClockReading& reading) const {
  Judgement judgement{reading, Plausible(reading.wall), Plausible(reading.boot), {}, {}, {}};
  if (judgement.boot.has_value()) judgement.steady = SteadyTime(*judgement.boot);
  const auto& wall = judgement.wall;
  const auto& steady = judgement.steady;
  if (wall.has_value()) judgement.apart = memory_.high_water - *wall;
  if (wall.has_value() && steady.has_value()) {
    judgement.apart = std::max(judgement.apart, absl::AbsDuration(*wall - *steady));
    judgement.time.for_deletes = std::min(*wall, *steady);
    judgement.time.deletes_allowed = !judgement.Disagrees();
    judgement.time.now = judgement.time.deletes_allowed ? *wall : judgement.time.for_deletes;
    judgement.time.latest = std::max(*wall, *steady);
    return judgement;
  }
  judgement.time.now = wall.value_or(steady.value_or(last_now_));
  judgement.time.for_deletes = judgement.time.latest = judgement.time.now;
  return judgement;
}

std::optional<absl::Time> GuardedClock::SteadyTime(absl::Duration boot) const {
  if (!anchored_ || boot < memory_.anchor_boot) return std::nullopt;
  return Plausible(std::optional(memory_.anchor_wall + (boot - memory_.anchor_boot)));
}

void GuardedClock::AnchorIfPossible(const ClockReading& reading) {
  const auto wall = Plausible(reading.wall);
  const auto boot = Plausible(reading.boot);
  if (anchored_ || !wall.has_value() || !boot.has_value()) return;
  // What happened between the boots is not known. A wall clock ahead of the
  // high-water mark is what a machine that was off looks like, but if it was
  // suspect before it may be wrong in the same way still: measure it against the
  // last time that was sound.
  const bool was_suspect = memory_.max_apart > absl::ZeroDuration();
  StartFrom(was_suspect ? memory_.high_water : std::max(*wall, memory_.high_water), *boot);
}

void GuardedClock::StartFrom(absl::Time steady, absl::Duration boot) {
  memory_ = {steady, boot, boot_id_, steady, absl::ZeroDuration()};
  anchored_ = true;
  lasting_offset_.reset();
}

void GuardedClock::FollowWall(const Judgement& judgement) {
  suspect_since_.reset();
  lasting_offset_.reset();
  memory_.max_apart = absl::ZeroDuration();
  memory_.high_water = std::max(memory_.high_water, *judgement.wall);
  const absl::Duration passed = *judgement.boot - memory_.anchor_boot;
  if (passed < kAnchorInterval) return;
  const absl::Duration most = passed / kInverseSlew;
  memory_.anchor_wall =
      *judgement.steady + std::clamp(*judgement.wall - *judgement.steady, -most, most);
  memory_.anchor_boot = *judgement.boot;
}

void GuardedClock::NoteSuspicion(const Judgement& judgement) {
  if (!suspect_since_.has_value()) suspect_since_ = judgement.time.now;
  if (judgement.Disagrees()) memory_.max_apart = std::max(memory_.max_apart, judgement.apart);
  if (!judgement.wall.has_value() || !judgement.steady.has_value()) {
    lasting_offset_.reset();
    return;
  }
  const absl::Duration offset = *judgement.wall - *judgement.steady;
  if (!lasting_offset_.has_value() ||
      absl::AbsDuration(offset - lasting_offset_->offset) > kSameOffset) {
    lasting_offset_ = {offset, *judgement.boot};
  }
}

bool GuardedClock::IsForgiven(const Judgement& judgement) const {
  return judgement.Disagrees() && lasting_offset_.has_value() &&
         *judgement.boot - lasting_offset_->since_boot >= kSteadyTime &&
         memory_.max_apart <= kForgivable;
}

ClockStatus GuardedClock::StatusOf(const Judgement& judgement) const {
  ClockStatus status;
  status.suspect = !judgement.time.deletes_allowed;
  status.reason = status.suspect ? ReasonOf(judgement) : memory_fault_;
  status.time = judgement.time;
  status.wall = judgement.wall;
  status.steady = judgement.steady;
  if (status.suspect) status.suspect_since = suspect_since_.value_or(judgement.time.now);
  return status;
}

std::string GuardedClock::ReasonOf(const Judgement& judgement) const {
  std::vector<std::string> reasons;
  if (!memory_fault_.empty()) reasons.push_back(memory_fault_);
  const auto& [reading, wall, boot, steady, apart, time] = judgement;
  if (!reading.wall.has_value()) {
    reasons.push_back("wall clock cannot be read");
  } else if (!wall.has_value()) {
    reasons.push_back(
        absl::StrCat("wall clock shows ", TimeText(*reading.wall), ", which is impossible"));
  } else if (memory_.high_water - *wall > kTolerance) {
    reasons.push_back(absl::StrCat("wall clock is ", Seconds(memory_.high_water - *wall),
                                   " behind the latest time seen (", TimeText(memory_.high_water),
                                   ")"));
  }
  if (!reading.boot.has_value()) {
    reasons.push_back("boot clock cannot be read");
  } else if (!boot.has_value()) {
    reasons.push_back(
        absl::StrCat("boot clock shows ", Seconds(*reading.boot), ", which is impossible"));
  } else if (!anchored_) {
    reasons.push_back("the two clocks have not both been sound since the start");
  } else if (!steady.has_value()) {
    reasons.push_back(absl::StrCat("boot clock shows ", Seconds(*boot), " after ",
                                   Seconds(memory_.anchor_boot), ", which is impossible"));
  } else if (wall.has_value() && absl::AbsDuration(*wall - *steady) > kTolerance) {
    reasons.push_back(absl::StrCat("wall clock is ", Offset(*wall - *steady), " the steady clock"));
  }
  if (std::max(apart, memory_.max_apart) > kForgivable) {
    reasons.push_back(absl::StrCat("the difference was more than ", Seconds(kForgivable),
                                   ", so an operator must accept the clock"));
  }
  return absl::StrJoin(reasons, "; ");
}

}  // namespace ttl
