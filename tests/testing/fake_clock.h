#ifndef TTL_TESTS_TESTING_FAKE_CLOCK_H_
#define TTL_TESTS_TESTING_FAKE_CLOCK_H_

#include <optional>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/time/time.h"
#include "service/base/mutex.h"
#include "service/core/clock.h"

namespace ttl {

// A clock that moves only when told to, and whose wall and boot time can be set independently.
// While a reading fails it is absent, but the clock advances. Thread-safe.
class FakeClock : public Clock {
 public:
  explicit FakeClock(absl::Time wall = absl::FromUnixSeconds(1'800'000'000),
                     absl::Duration boot = absl::Hours(1), std::string boot_id = "boot-1")
      : wall_(wall), boot_(boot), boot_id_(std::move(boot_id)) {}

  ClockReading Read() const override {
    const MutexLock lock(mutex_);
    ClockReading reading;
    if (!wall_fails_) reading.wall = wall_;
    if (!boot_fails_) reading.boot = boot_;
    return reading;
  }

  std::string BootId() const override {
    const MutexLock lock(mutex_);
    return boot_id_;
  }

  // Sets one of the clocks, and ends its failure.
  void SetWall(absl::Time wall) {
    const MutexLock lock(mutex_);
    wall_ = wall;
    wall_fails_ = false;
  }
  void SetBoot(absl::Duration boot) {
    const MutexLock lock(mutex_);
    boot_ = boot;
    boot_fails_ = false;
  }

  // Time passes: both clocks move.
  void Advance(absl::Duration duration) {
    const MutexLock lock(mutex_);
    wall_ += duration;
    boot_ += duration;
  }

  // Steps the wall clock forward or back.
  void StepWall(absl::Duration step) {
    const MutexLock lock(mutex_);
    wall_ += step;
  }

  void FailWall(bool fails = true) {
    const MutexLock lock(mutex_);
    wall_fails_ = fails;
  }
  void FailBoot(bool fails = true) {
    const MutexLock lock(mutex_);
    boot_fails_ = fails;
  }

  void SetBootId(std::string boot_id) {
    const MutexLock lock(mutex_);
    boot_id_ = std::move(boot_id);
  }

  // Restarts the machine: a new boot id, and a boot clock at `boot`.
  void Reboot(std::string boot_id, absl::Duration boot = absl::Seconds(10)) {
    const MutexLock lock(mutex_);
    boot_id_ = std::move(boot_id);
    boot_ = boot;
  }

 private:
  mutable Mutex mutex_;
  absl::Time wall_ ABSL_GUARDED_BY(mutex_);
  absl::Duration boot_ ABSL_GUARDED_BY(mutex_);
  std::string boot_id_ ABSL_GUARDED_BY(mutex_);
  bool wall_fails_ ABSL_GUARDED_BY(mutex_) = false;
  bool boot_fails_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace ttl

#endif  // TTL_TESTS_TESTING_FAKE_CLOCK_H_
