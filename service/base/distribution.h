#ifndef TTL_SERVICE_BASE_DISTRIBUTION_H_
#define TTL_SERVICE_BASE_DISTRIBUTION_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "service/base/owned_counter.h"

namespace ttl {

// A histogram: counts by upper bound, and the sum of the values.
template <size_t kBoundCount>
struct Distribution {
  // The last element counts values above all bounds.
  std::array<int64_t, kBoundCount + 1> counts = {};
  int64_t sum = 0;

  int64_t Count() const {
    int64_t total = 0;
    for (const int64_t count : counts) total += count;
    return total;
  }

  Distribution& operator+=(const Distribution& other) {
    for (size_t i = 0; i < counts.size(); ++i) counts[i] += other.counts[i];
    sum += other.sum;
    return *this;
  }
};

// The same, updated by one thread at a time and readable by all. A concurrent read may have the
// newest value in some of its fields only.
template <size_t kBoundCount>
class OwnedDistribution {
 public:
  using Bounds = std::array<int64_t, kBoundCount>;

  // `bounds` must be ascending and outlive this.
  explicit OwnedDistribution(const Bounds& bounds) : bounds_(bounds) {}

  void Add(int64_t value) {
    size_t slot = 0;
    while (slot < kBoundCount && value > bounds_[slot]) ++slot;
    counts_[slot].Add(1);
    sum_.Add(value);
  }

  Distribution<kBoundCount> Get() const {
    Distribution<kBoundCount> distribution;
    for (size_t i = 0; i < counts_.size(); ++i) distribution.counts[i] = counts_[i].Get();
    distribution.sum = sum_.Get();
    return distribution;
  }

 private:
  const Bounds& bounds_;
  std::array<OwnedCounter, kBoundCount + 1> counts_;
  OwnedCounter sum_;
};

// Bucket bounds of durations in nanoseconds, from the time of a check to the longest tolerable
// wait.
inline constexpr std::array<int64_t, 16> kDurationBounds = {
    50'000,      100'000,       250'000,       500'000,       1'000'000,   2'500'000,
    5'000'000,   10'000'000,    25'000'000,    50'000'000,    100'000'000, 250'000'000,
    500'000'000, 1'000'000'000, 2'500'000'000, 10'000'000'000};

using DurationDistribution = Distribution<kDurationBounds.size()>;

class OwnedDurationDistribution : public OwnedDistribution<kDurationBounds.size()> {
 public:
  OwnedDurationDistribution() : OwnedDistribution(kDurationBounds) {}
};

}  // namespace ttl

#endif  // TTL_SERVICE_BASE_DISTRIBUTION_H_
