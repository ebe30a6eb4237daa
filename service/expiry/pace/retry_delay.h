#ifndef TTL_SERVICE_EXPIRY_PACE_RETRY_DELAY_H_
#define TTL_SERVICE_EXPIRY_PACE_RETRY_DELAY_H_

#include <algorithm>
#include <cstdint>

#include "absl/time/time.h"

// How long to wait after failures. Pure.
namespace ttl {

// `first` after one failure, doubled with each further one, never above `most`;
// zero after none.
inline absl::Duration GrowingDelay(int64_t failures, absl::Duration first, absl::Duration most) {
  if (failures <= 0) return absl::ZeroDuration();
  // More doublings than this would go beyond any `most`.
  constexpr int64_t kMostDoublings = 40;
  const int64_t doublings = std::min(failures - 1, kMostDoublings);
  return std::min(first * (int64_t{1} << doublings), most);
}

// Until an item is tried again whose delete has failed `attempts` times: 1 s, 2 s,
// 4 s, ... 1 h.
inline absl::Duration RetryDelay(int64_t attempts) {
  return GrowingDelay(attempts, absl::Seconds(1), absl::Hours(1));
}

}  // namespace ttl

#endif  // TTL_SERVICE_EXPIRY_PACE_RETRY_DELAY_H_
