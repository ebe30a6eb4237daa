#ifndef TTL_SERVICE_RPC_CHECKS_CHECK_COUNTERS_H_
#define TTL_SERVICE_RPC_CHECKS_CHECK_COUNTERS_H_

#include <atomic>
#include <cstdint>
#include <deque>

#include "absl/base/thread_annotations.h"
#include "service/base/mutex.h"
#include "service/base/owned_counter.h"

namespace ttl {

// Number of answers to checks, by verdict.
struct VerdictCounts {
  int64_t visible = 0;
  int64_t expired = 0;
  int64_t untracked = 0;
};

// The same, counted by one thread; see OwnedCounter. Aligned to a cache line, so that threads do
// not share one.
struct alignas(64) VerdictCounter {
  OwnedCounter visible;
  OwnedCounter expired;
  OwnedCounter untracked;

  void Add(const VerdictCounts& counts) {
    visible.Add(counts.visible);
    expired.Add(counts.expired);
    untracked.Add(counts.untracked);
  }
};

// Counters of visibility checks and item reports since the start of the process. Thread-safe.
class CheckCounters {
 public:
  // Checks that carried an impossible ts, ttl or expire_at.
  std::atomic<int64_t> impossible = 0;

  // Reports whose illegal ttl was kept, because their container's TTL is off.
  std::atomic<int64_t> illegal_ttls = 0;

  // Adds the counter of one more thread. It lives as long as this object.
  VerdictCounter& AddThread() {
    const MutexLock lock(mutex_);
    return verdicts_.emplace_back();
  }

  // The sum over all threads.
  VerdictCounts Verdicts() const {
    VerdictCounts sum;
    const MutexLock lock(mutex_);
    for (const VerdictCounter& counter : verdicts_) {
      sum.visible += counter.visible.Get();
      sum.expired += counter.expired.Get();
      sum.untracked += counter.untracked.Get();
    }
    return sum;
  }

 private:
  mutable Mutex mutex_;
  std::deque<VerdictCounter> verdicts_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace ttl

#endif  // TTL_SERVICE_RPC_CHECKS_CHECK_COUNTERS_H_
