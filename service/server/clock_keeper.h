#ifndef TTL_SERVICE_SERVER_CLOCK_KEEPER_H_
#define TTL_SERVICE_SERVER_CLOCK_KEEPER_H_

#include <atomic>
#include <memory>

#include "absl/time/time.h"
#include "service/core/guarded_clock.h"
#include "service/storage/sidecar_state.h"

namespace ttl {

// Ticks the guarded clock, logs when it becomes suspect or sound, and stores its ClockMemory: at
// once after a change, otherwise every kSaveInterval, and when destroyed. Only one thread may call
// RunOnce(); SaveSoon() is thread-safe.
class ClockKeeper {
 public:
  static constexpr absl::Duration kTickInterval = absl::Seconds(1);
  static constexpr absl::Duration kSaveInterval = absl::Seconds(10);

  // Both must outlive this.
  ClockKeeper(GuardedClock& clock, SidecarState& state);

  // Stores the memory and waits for the commit.
  ~ClockKeeper();
  ClockKeeper(const ClockKeeper&) = delete;
  ClockKeeper& operator=(const ClockKeeper&) = delete;

  // One tick. Returns how long to wait for the next.
  absl::Duration RunOnce();

  // Makes the next tick save. The caller wakes the loop.
  void SaveSoon() { save_soon_ = true; }

 private:
  void LogChange(const ClockStatus& status);
  void Save();

  GuardedClock& clock_;
  SidecarState& state_;
  bool was_suspect_ = false;
  int ticks_until_save_ = 0;
  std::atomic<bool> save_soon_ = false;
  // Shared with the callback of the pending save, so that saves do not pile up on a slow disk.
  const std::shared_ptr<std::atomic<bool>> saving_ = std::make_shared<std::atomic<bool>>(false);
};

}  // namespace ttl

#endif  // TTL_SERVICE_SERVER_CLOCK_KEEPER_H_
