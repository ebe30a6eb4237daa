#ifndef TTL_SERVICE_EXPIRY_PACE_BATCH_LIMIT_H_
#define TTL_SERVICE_EXPIRY_PACE_BATCH_LIMIT_H_

#include <algorithm>
#include <cstdint>

namespace ttl {

// The number of items a batch may have. A failure halves it, so that an undeclared limit of the
// store, or an item that makes its whole batch fail, is found in a few steps; successes grow it
// back slowly. Not thread-safe.
class BatchLimit {
 public:
  // REQUIRES: most >= 1.
  explicit BatchLimit(int64_t most) : most_(most), limit_(most) {}

  int64_t Get() const { return limit_; }

  // A batch of `size` items failed as a whole.
  void Shrink(int64_t size) { limit_ = std::max<int64_t>(size / 2, 1); }

  // A batch was answered.
  void Grow() { limit_ = std::min(limit_ + std::max<int64_t>(limit_ / 4, 1), most_); }

 private:
  const int64_t most_;
  int64_t limit_;
};

}  // namespace ttl

#endif  // TTL_SERVICE_EXPIRY_PACE_BATCH_LIMIT_H_
