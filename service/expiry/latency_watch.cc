#include "service/expiry/latency_watch.h"

#include <algorithm>
#include <bit>

namespace ttl {
namespace {

// Share of the newest batch in the average.
constexpr int64_t kSlowness = 32;

}  // namespace

bool LatencyWatch::IsSlow(int64_t items, absl::Duration took) {
  Average& average = by_size_[std::bit_width(static_cast<uint64_t>(items)) - 1];
  const bool is_slow =
      average.batches >= kFirstBatches && took > kNeverSlow && took > 2 * average.value;
  ++average.batches;
  // The plain average until there are enough to be slow.
  average.value += (took - average.value) / std::min(average.batches, kSlowness);
  return is_slow;
}

}  // namespace ttl
