#ifndef TTL_SERVICE_CORE_GUARDED_CLOCK_H_
#define TTL_SERVICE_CORE_GUARDED_CLOCK_H_

#include <optional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "service/base/mutex.h"
#include "service/core/clock.h"

namespace ttl {

// The state that the guarded clock keeps across restarts.
struct ClockMemory {
  absl::Time anchor_wall;      // last sound wall time
  absl::Duration anchor_boot;  // boot clock at that instant
  std::string boot_id;         // the boot that anchor_boot belongs to
  absl::Time high_water;       // latest sound wall time ever seen
  absl::Duration max_apart;    // while suspect: the largest distance seen; else 0

  friend bool operator==(const ClockMemory&, const ClockMemory&) = default;
};

// The time to judge items by, at one instant.
struct JudgingTime {
  // For visibility: an item is hidden if it is expired at this time.
  absl::Time now;
  // For deletes: an item may be deleted only if it is expired at this time, too. Never later than
  // `now`.
  absl::Time for_deletes;
  // The latest time that it may be, according to the readings that are sound. Never earlier than
  // `now`.
  absl::Time latest = {};
  // False if the clock is suspect or a reading is missing: nothing may be deleted.
  bool deletes_allowed = false;
};

// The state of the clock, for operators.
struct ClockStatus {
  bool suspect = false;  // deletes are not allowed
  // Why it is suspect. While it is sound: empty, or that the given memory was invalid and is
  // ignored.
  std::string reason;
  JudgingTime time;
  std::optional<absl::Time> wall;           // absent: no sound reading
  std::optional<absl::Time> steady;         // absent: no sound reading
  std::optional<absl::Time> suspect_since;  // in this process, by `time.now` then
};

// The clock that all judgements take their time from. It reads a wall clock and a steady one (the
// last sound wall time plus the progress of the boot clock), and trusts time only while both agree
// within kTolerance:
//
// - both agree: `now` is the wall clock; a delete needs both to call the item expired;
// - they differ, or the wall clock is behind the persisted high-water mark: the clock is suspect.
//   Deletes stop, and `now` is the earlier of the two;
// - one reading is missing or nonsense (negative, before 2000, from 2200 on): the other alone
//   judges visibility, and nothing is deleted;
// - both are missing: `now` stands still at the last value. If there was none, it is the latest
//   remembered time, or else 1970, so that nothing is hidden.
//
// While both agree, the anchor of the steady clock follows the wall clock, but by no more than a
// slewed clock can gain, so that small steps add up to a disagreement.
//
// Suspicion ends when the two agree again; or by itself after kSteadyTime in which the difference
// stayed the same, if it was never more than kForgivable; or else by AcceptWall(). A process
// restarted within the same boot continues from the memory it is given, suspicion included. After
// another boot the steady clock starts at the wall clock, but never behind the high-water mark, and
// at that mark if the clock was suspect before: then only a wall clock near the last sound time is
// accepted.
//
// Thread-safe. Read() never blocks on anything slow. One thread must call Tick() about once a
// second.
class GuardedClock {
 public:
  static constexpr absl::Duration kTolerance = absl::Seconds(5);
  static constexpr absl::Duration kSteadyTime = absl::Minutes(5);
  static constexpr absl::Duration kForgivable = absl::Minutes(10);

  // `clock` must outlive this. `memory` is the last result of Memory() before the restart; absent
  // on the first start. An impossible memory is treated as absent, and every ClockStatus::reason
  // says so.
  GuardedClock(const Clock& clock, std::optional<ClockMemory> memory);

  // The time to judge by, from fresh readings.
  JudgingTime Read() const;

  // Takes fresh readings into account: moves the anchor while the clock is sound, starts and ends
  // suspicion. Returns the status before and after, so that the caller can log a change.
  struct Transition {
    bool was_suspect = false;
    ClockStatus status;
  };
  Transition Tick();

  // An operator states that the wall clock is right: both clocks and the high-water mark start
  // again from it. FAILED_PRECONDITION if the clock is not suspect or a reading is missing.
  absl::Status AcceptWall();

  ClockStatus Status() const;

  // The state to persist across restarts.
  ClockMemory Memory() const;

 private:
  // What follows from one reading; defined with the implementation.
  struct Judgement;
  // A distance between the clocks, wall minus steady, that has lasted so far.
  struct LastingOffset {
    absl::Duration offset;
    absl::Duration since_boot;
  };

  // Reads both clocks, judges, and notes the `now` that this gives.
  Judgement Observe() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  Judgement Judge(const ClockReading& reading) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::optional<absl::Time> SteadyTime(absl::Duration boot) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void AnchorIfPossible(const ClockReading& reading) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void FollowWall(const Judgement& judgement) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void NoteSuspicion(const Judgement& judgement) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool IsForgiven(const Judgement& judgement) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void StartFrom(absl::Time steady, absl::Duration boot) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  ClockStatus StatusOf(const Judgement& judgement) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::string ReasonOf(const Judgement& judgement) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Clock& clock_;
  const std::string boot_id_;
  std::string memory_fault_;  // constant after construction

  mutable Mutex mutex_;
  ClockMemory memory_ ABSL_GUARDED_BY(mutex_);
  bool anchored_ ABSL_GUARDED_BY(mutex_) = false;  // the anchor belongs to this boot
  std::optional<absl::Time> suspect_since_ ABSL_GUARDED_BY(mutex_);
  std::optional<LastingOffset> lasting_offset_ ABSL_GUARDED_BY(mutex_);
  mutable absl::Time last_now_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace ttl

#endif  // TTL_SERVICE_CORE_GUARDED_CLOCK_H_
