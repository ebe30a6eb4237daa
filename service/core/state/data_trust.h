#ifndef TTL_SERVICE_CORE_STATE_DATA_TRUST_H_
#define TTL_SERVICE_CORE_STATE_DATA_TRUST_H_

#include <atomic>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/string_view.h"
#include "service/base/mutex.h"

namespace ttl {

// Whether the tracked data is complete. While it is in doubt, checks are judged only by the state
// that they carry, and nothing is deleted. In memory; Levers, the only writer of a running sidecar,
// makes each change durable. Thread-safe; in_doubt() takes no lock.
class DataTrust {
 public:
  // `doubt`: why the data is in doubt; empty if it is not.
  explicit DataTrust(std::string doubt = "")
      : in_doubt_(!doubt.empty()), doubt_(std::move(doubt)) {}

  bool in_doubt() const { return in_doubt_.load(std::memory_order_acquire); }

  std::string doubt() const {
    MutexLock lock(mutex_);
    return doubt_;
  }

  void Doubt(std::string reason) {
    MutexLock lock(mutex_);
    doubt_ = std::move(reason);
    in_doubt_.store(!doubt_.empty(), std::memory_order_release);
  }

  // The data is complete, because it was compared with the primary store or an operator said so.
  // Returns false, and changes nothing, unless it was in doubt for `reason`.
  bool Confirm(absl::string_view reason) {
    MutexLock lock(mutex_);
    if (doubt_.empty() || doubt_ != reason) return false;
    doubt_.clear();
    in_doubt_.store(false, std::memory_order_release);
    return true;
  }

 private:
  std::atomic<bool> in_doubt_;
  mutable Mutex mutex_;
  std::string doubt_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace ttl

#endif  // TTL_SERVICE_CORE_STATE_DATA_TRUST_H_
