#ifndef TTL_SERVICE_CORE_STATE_LATENESS_HISTOGRAM_H_
#define TTL_SERVICE_CORE_STATE_LATENESS_HISTOGRAM_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "absl/time/time.h"

namespace ttl {

// A histogram of the lateness of deletes, with fixed upper bounds, and the sum. A value.
struct LatenessHistogram {
  static constexpr std::array kUpperBounds = {
      absl::Seconds(1),  absl::Seconds(2), absl::Seconds(5), absl::Seconds(10),
      absl::Seconds(30), absl::Minutes(1), absl::Minutes(5), absl::Minutes(15),
      absl::Hours(1),    absl::Hours(6),   absl::Hours(24)};

  // The last element counts values above all bounds.
  std::array<int64_t, kUpperBounds.size() + 1> counts = {};
  absl::Duration sum;

  // Adds one delete. A negative lateness counts as 0.
  void Add(absl::Duration lateness) {
    if (lateness < absl::ZeroDuration()) lateness = absl::ZeroDuration();
    size_t slot = 0;
    while (slot < kUpperBounds.size() && lateness > kUpperBounds[slot]) ++slot;
    ++counts[slot];
    sum += lateness;
  }

  LatenessHistogram& operator+=(const LatenessHistogram& other) {
    for (size_t i = 0; i < counts.size(); ++i) counts[i] += other.counts[i];
    sum += other.sum;
    return *this;
  }
};

}  // namespace ttl

#endif  // TTL_SERVICE_CORE_STATE_LATENESS_HISTOGRAM_H_
