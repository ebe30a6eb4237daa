#include "service/core/forecast.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "absl/time/time.h"
#include "service/core/due_rules.h"

namespace ttl {

std::vector<DueMoment> ExpiryMoments(const Policy& policy, absl::Span<const int64_t> times) {
  return DueMoments({policy.default_ttl, 0}, {}, times);
}

std::vector<DueMoment> DueMoments(const Policy& policy, const std::vector<ReplacedPolicy>& replaced,
                                  absl::Span<const int64_t> times) {
  std::vector<DueMoment> moments;
  moments.reserve(times.size());
  for (const int64_t time : times) {
    moments.push_back({time, ComputeDueRule(policy, replaced, absl::FromUnixSeconds(time))});
  }
  return moments;
}

std::optional<int64_t> FindBacklogEnd(absl::Span<const int64_t> times,
                                      absl::Span<const int64_t> due, double per_second,
                                      int64_t begin) {
  double left = static_cast<double>(due[0]);
  if (left <= 0) return times[0];
  for (size_t i = 1; i < times.size(); ++i) {
    const int64_t from = std::clamp(begin, times[i - 1], times[i]);
    const auto seconds = static_cast<double>(times[i] - from);
    const double part = seconds / static_cast<double>(times[i] - times[i - 1]);
    const auto arriving = static_cast<double>(due[i]);
    left += arriving * (1 - part);
    const double after = left + arriving * part - per_second * seconds;
    if (after <= 0) {
      // `left` shrinks by `left - after` in the rest of the step.
      return from + std::llround(std::ceil(seconds * left / (left - after)));
    }
    left = after;
  }
  return std::nullopt;
}

}  // namespace ttl
