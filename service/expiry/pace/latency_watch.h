#ifndef TTL_SERVICE_EXPIRY_PACE_LATENCY_WATCH_H_
#define TTL_SERVICE_EXPIRY_PACE_LATENCY_WATCH_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "absl/time/time.h"

namespace ttl {

// Detects that a store has become slow: most of its last batches (up to eight, within a second)
// took more than twice the moving average of batches of similar size (the same power of two).
//
// A single slow batch does not count: on a busy machine some batches are slow whatever the load,
// and cutting the rate for each would bring deletes to a standstill. The average follows a store
// that stays slow within some dozens of batches.
//
// Pure: time is an argument, the reading of a steady clock. Not thread-safe.
class LatencyWatch {
 public:
  // Number of batches of a size before their average is used.
  static constexpr int64_t kFirstBatches = 8;
  // A batch that took no longer than this is never slow: it may be the scheduler.
  static constexpr absl::Duration kNeverSlow = absl::Milliseconds(50);
  static constexpr absl::Duration kLately = absl::Seconds(1);

  // Records that a batch of `items` (at least 1) was answered at `now`, after `took`. Returns
  // whether the store is slow.
  bool IsSlow(int64_t items, absl::Duration took, absl::Duration now);

 private:
  struct Average {
    absl::Duration value;
    int64_t batches = 0;
  };
  struct Verdict {
    absl::Duration time = -absl::InfiniteDuration();
    bool slow = false;
  };

  bool IsSlowBatch(int64_t items, absl::Duration took);
  bool AreMostSlow(absl::Duration now) const;

  std::array<Average, 64> by_size_;  // by the logarithm of the size
  std::array<Verdict, 8> last_;      // a ring
  size_t next_ = 0;
};

}  // namespace ttl

#endif  // TTL_SERVICE_EXPIRY_PACE_LATENCY_WATCH_H_
