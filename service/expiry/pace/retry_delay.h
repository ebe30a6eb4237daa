#ifndef TTL_SERVICE_EXPIRY_PACE_RETRY_DELAY_H_
#define TTL_SERVICE_EXPIRY_PACE_RETRY_DELAY_H_

#include <algorithm>
#include <cstdint>

#include "absl/time/time.h"

// Exponential backoff. Pure.
namespace ttl {

// `first` after one failure, doubled by each further one, at most `most`; zero after none.
inline absl::Duration GrowingDelay(int64_t failures, absl::Duration first, absl::Duration most) {
  if (failures <= 0) return absl::ZeroDuration();
  // Keeps the shift in range; more doublings would exceed any `most`.
  constexpr int64_t kMaxDoublings = 40;
  const int64_t doublings = std::min(failures - 1, kMaxDoublings);
  return std::min(first * (int64_t{1} << doublings), most);
}

// How long to wait before the next delete of an item whose delete has failed `attempts` times:
// 1 s, 2 s, 4 s, ... 1 h.
inline absl::Duration RetryDelay(int64_t attempts) {
  return GrowingDelay(attempts, absl::Seconds(1), absl::Hours(1));
}

}  // namespace ttl

#endif  // TTL_SERVICE_EXPIRY_PACE_RETRY_DELAY_H_
