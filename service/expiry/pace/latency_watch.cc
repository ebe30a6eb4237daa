#include "service/expiry/pace/latency_watch.h"

#include <algorithm>
#include <bit>

namespace ttl {
namespace {

// The newest batch has a weight of one in this many.
constexpr int64_t kSlowness = 64;

}  // namespace

bool LatencyWatch::IsSlow(int64_t items, absl::Duration took, absl::Duration now) {
  last_[next_] = {now, IsSlowBatch(items, took)};
  next_ = (next_ + 1) % last_.size();
  return AreMostSlow(now);
}

bool LatencyWatch::IsSlowBatch(int64_t items, absl::Duration took) {
  Average& average = by_size_[std::bit_width(static_cast<uint64_t>(items)) - 1];
  const bool is_slow =
      average.batches >= kFirstBatches && took > kNeverSlow && took > 2 * average.value;
  ++average.batches;
  // An arithmetic mean at first; a moving average from kSlowness batches on.
  average.value += (took - average.value) / std::min(average.batches, kSlowness);
  return is_slow;
}

bool LatencyWatch::AreMostSlow(absl::Duration now) const {
  int balance = 0;
  for (const Verdict& verdict : last_) {
    if (now - verdict.time < kLately) balance += verdict.slow ? 1 : -1;
  }
  return balance > 0;
}

}  // namespace ttl
