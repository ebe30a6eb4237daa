#ifndef TTL_SERVICE_CORE_STATE_DELETE_LIMIT_H_
#define TTL_SERVICE_CORE_STATE_DELETE_LIMIT_H_

#include <optional>

#include "absl/base/thread_annotations.h"
#include "service/base/mutex.h"

namespace ttl {

// The limit on deletes of all containers together, in deletes per second; absent: no limit, 0:
// none. Can be changed while the sweeper uses it. In memory; Levers makes each change durable
// first. Thread-safe.
class DeleteLimit {
 public:
  explicit DeleteLimit(std::optional<double> per_second) : per_second_(per_second) {}

  std::optional<double> Get() const {
    MutexLock lock(mutex_);
    return per_second_;
  }

  void Set(std::optional<double> per_second) {
    MutexLock lock(mutex_);
    per_second_ = per_second;
  }

 private:
  mutable Mutex mutex_;
  std::optional<double> per_second_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace ttl

#endif  // TTL_SERVICE_CORE_STATE_DELETE_LIMIT_H_
