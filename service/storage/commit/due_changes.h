#ifndef TTL_SERVICE_STORAGE_COMMIT_DUE_CHANGES_H_
#define TTL_SERVICE_STORAGE_COMMIT_DUE_CHANGES_H_

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_set.h"
#include "service/base/mutex.h"

namespace ttl {

// The containers in which something may have become due earlier, or may be deleted now, since the
// sweeper last looked, so that it need not look at all containers. The committer adds, the sweeper
// takes. Thread-safe.
class DueChanges {
 public:
  // Containers are named by number.
  void Add(uint64_t container) {
    MutexLock lock(mutex_);
    containers_.insert(container);
  }
  void AddAll() {
    MutexLock lock(mutex_);
    all_ = true;
    containers_.clear();
  }

  // The containers added since the last call, in no particular order; absent: all containers.
  std::optional<std::vector<uint64_t>> Take() {
    MutexLock lock(mutex_);
    if (std::exchange(all_, false)) {
      containers_.clear();
      return std::nullopt;
    }
    std::vector<uint64_t> taken(containers_.begin(), containers_.end());
    containers_.clear();
    return taken;
  }

 private:
  Mutex mutex_;
  bool all_ ABSL_GUARDED_BY(mutex_) = true;  // nothing is known at the start
  absl::flat_hash_set<uint64_t> containers_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace ttl

#endif  // TTL_SERVICE_STORAGE_COMMIT_DUE_CHANGES_H_
