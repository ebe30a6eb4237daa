#ifndef TTL_SERVICE_BASE_WAKE_SIGNAL_H_
#define TTL_SERVICE_BASE_WAKE_SIGNAL_H_

#include <chrono>

#include "absl/base/thread_annotations.h"
#include "absl/time/time.h"
#include "service/base/mutex.h"

namespace ttl {

// Wakes one waiting thread. A notification without a waiting thread is kept for the next wait;
// several count as one. Thread-safe.
class WakeSignal {
 public:
  void Notify() {
    MutexLock lock(mutex_);
    notified_ = true;
    condition_.NotifyOne();
  }

  // Waits for a notification, at most for `timeout`, and consumes it.
  void WaitFor(absl::Duration timeout) {
    const auto deadline = std::chrono::steady_clock::now() + absl::ToChronoNanoseconds(timeout);
    MutexLock lock(mutex_);
    while (!notified_) {
      const auto left = deadline - std::chrono::steady_clock::now();
      if (left <= left.zero()) break;
      condition_.WaitFor(mutex_, left);
    }
    notified_ = false;
  }

 private:
  Mutex mutex_;
  CondVar condition_;
  bool notified_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace ttl

#endif  // TTL_SERVICE_BASE_WAKE_SIGNAL_H_
