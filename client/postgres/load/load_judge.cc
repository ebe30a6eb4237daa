#include "client/postgres/load/load_judge.h"

#include <algorithm>
#include <vector>

namespace ttl::postgres {
namespace {

// Returns the lower median of an even number of samples.
template <typename Value, typename Of>
Value MedianOf(const std::deque<LoadSample>& samples, Of of) {
  if (samples.empty()) return Value{};
  std::vector<Value> values;
  values.reserve(samples.size());
  for (const LoadSample& sample : samples) values.push_back(of(sample));
  const auto middle = values.begin() + static_cast<ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

void LoadJudge::Add(const LoadSample& sample, absl::Duration now) {
  samples_.push_back(sample);
  if (samples_.size() > kSamples) samples_.pop_front();
  last_ = now;
  // Until there are kSamples, a few slow answers would be the median.
  is_busy_ = samples_.size() == kSamples && IsAbove(is_busy_ ? kCalm : 1.0);
}

bool LoadJudge::ShouldYield(absl::Duration now) const {
  return HasLimit() && (is_busy_ || now - last_ > kSilence);
}

LoadSample LoadJudge::Median() const {
  return {MedianOf<absl::Duration>(samples_, [](const LoadSample& one) { return one.latency; }),
          MedianOf<int64_t>(samples_, [](const LoadSample& one) { return one.active_backends; })};
}

bool LoadJudge::HasLimit() const {
  return limits_.max_latency > absl::ZeroDuration() || limits_.max_active_backends > 0;
}

bool LoadJudge::IsAbove(double share) const {
  const LoadSample median = Median();
  const bool slow =
      limits_.max_latency > absl::ZeroDuration() && median.latency > limits_.max_latency * share;
  const bool crowded = limits_.max_active_backends > 0 &&
                       static_cast<double>(median.active_backends) >
                           static_cast<double>(limits_.max_active_backends) * share;
  return slow || crowded;
}

}  // namespace ttl::postgres
