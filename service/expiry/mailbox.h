#ifndef TTL_SERVICE_EXPIRY_MAILBOX_H_
#define TTL_SERVICE_EXPIRY_MAILBOX_H_

#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "service/base/mutex.h"
#include "service/base/wake_signal.h"

namespace ttl {

// Passes values from any number of threads to one consumer, in the order in which they were put.
// Unbounded: the caller bounds what is in flight. Thread-safe.
template <typename T>
class Mailbox {
 public:
  // `wake` is notified after each Put() and must outlive the mailbox.
  explicit Mailbox(WakeSignal& wake) : wake_(wake) {}

  void Put(T item) {
    // The consumer may destroy the mailbox as soon as the lock is released.
    WakeSignal& wake = wake_;
    {
      MutexLock lock(mutex_);
      items_.push_back(std::move(item));
      arrived_.NotifyAll();
    }
    wake.Notify();
  }

  // Removes and returns all values, oldest first. Does not wait.
  std::vector<T> TakeAll() {
    MutexLock lock(mutex_);
    return std::exchange(items_, {});
  }

  // Waits until at least one value can be taken.
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
