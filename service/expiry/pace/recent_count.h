#ifndef TTL_SERVICE_EXPIRY_PACE_RECENT_COUNT_H_
#define TTL_SERVICE_EXPIRY_PACE_RECENT_COUNT_H_

#include <cstdint>
#include <deque>

#include "absl/time/time.h"

namespace ttl {

// Counts events within the last second, with a resolution of a hundredth of it. Pure: time is an
// argument, the reading of a steady clock. Not thread-safe.
class RecentCount {
 public:
  static constexpr absl::Duration kWindow = absl::Seconds(1);

  void Add(int64_t count, absl::Duration now) {
    if (counts_.empty() || now - counts_.back().time >= kWindow / 100) counts_.push_back({now, 0});
    counts_.back().count += count;
    sum_ += count;
    Forget(now);
  }

  int64_t Get(absl::Duration now) {
    Forget(now);
    return sum_;
  }

 private:
  struct Count {
    absl::Duration time;
    int64_t count;
  };

  void Forget(absl::Duration now) {
    while (!counts_.empty() && now - counts_.front().time > kWindow) {
      sum_ -= counts_.front().count;
      counts_.pop_front();
    }
  }

  std::deque<Count> counts_;
  int64_t sum_ = 0;
};

}  // namespace ttl

#endif  // TTL_SERVICE_EXPIRY_PACE_RECENT_COUNT_H_
