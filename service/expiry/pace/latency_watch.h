#ifndef TTL_SERVICE_EXPIRY_PACE_LATENCY_WATCH_H_
#define TTL_SERVICE_EXPIRY_PACE_LATENCY_WATCH_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "absl/time/time.h"

namespace ttl {

// Notices when a store becomes slow: of its last batches, up to eight within a second, most
// took more than twice the slow average of batches of about their size (a power of two).
// Single ones do not count: on a machine that is busy with other things some batches are
// always slow, whatever is sent, and each cut for it would bring deletes nearer to standing
// still. A store that stays slow becomes the new average after some dozens of batches. Pure:
// time is an argument, the reading of a steady clock. Not thread-safe.
class LatencyWatch {
 public:
  // Batches of a size before the average says anything.
  static constexpr int64_t kFirstBatches = 8;
  // What takes no longer than this is never slow: it may be the scheduler.
  static constexpr absl::Duration kNeverSlow = absl::Milliseconds(50);
  static constexpr absl::Duration kLately = absl::Seconds(1);

  // Takes note of a batch of `items` (at least 1) that was answered now, and took `took`.
  // Returns whether the store is slow.
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
