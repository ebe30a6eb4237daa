#ifndef TTL_SERVICE_EXPIRY_LATENCY_WATCH_H_
#define TTL_SERVICE_EXPIRY_LATENCY_WATCH_H_

#include <array>
#include <cstdint>

#include "absl/time/time.h"

namespace ttl {

// Notices when a store becomes slow: a batch that took more than twice the slow average
// of batches of about its size (a power of two). A store that stays slow becomes the
// new average after some dozens of batches. Pure. Not thread-safe.
class LatencyWatch {
 public:
  // Batches of a size before the average says anything.
  static constexpr int64_t kFirstBatches = 8;
  // What takes no longer than this is never slow: it may be the scheduler.
  static constexpr absl::Duration kNeverSlow = absl::Milliseconds(50);

  // Takes note of a batch of `items` (at least 1) that took `took`. Returns whether
  // it was slow.
  bool IsSlow(int64_t items, absl::Duration took);

 private:
  struct Average {
    absl::Duration value;
    int64_t batches = 0;
  };
  std::array<Average, 64> by_size_;  // by the logarithm of the size
};

}  // namespace ttl

#endif  // TTL_SERVICE_EXPIRY_LATENCY_WATCH_H_
