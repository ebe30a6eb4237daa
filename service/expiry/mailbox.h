#ifndef TTL_SERVICE_EXPIRY_MAILBOX_H_
#define TTL_SERVICE_EXPIRY_MAILBOX_H_

#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "service/base/mutex.h"
#include "service/base/wake_signal.h"

namespace ttl {

// Brings what other threads have got to the one thread that works on it.
// Thread-safe.
template <typename T>
class Mailbox {
 public:
  // `wake` is notified of everything that comes in, and must outlive this.
  explicit Mailbox(WakeSignal& wake) : wake_(wake) {}

  void Put(T item) {
    // Whoever awaits it may destroy this right after.
    WakeSignal& wake = wake_;
    {
      MutexLock lock(mutex_);
      items_.push_back(std::move(item));
      arrived_.NotifyAll();
    }
    wake.Notify();
  }

  // Everything that has come in, in that order.
  std::vector<T> TakeAll() {
    MutexLock lock(mutex_);
    return std::exchange(items_, {});
  }

  // Waits until there is something to take.
  void Await() {
    MutexLock lock(mutex_);
    while (items_.empty()) arrived_.Wait(mutex_);
  }

 private:
  WakeSignal& wake_;
  Mutex mutex_;
  CondVar arrived_;
  std::vector<T> items_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace ttl

#endif  // TTL_SERVICE_EXPIRY_MAILBOX_H_
