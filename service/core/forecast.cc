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
                                      absl::Span<const int64_t> due,
                                      absl::Span<const RateStep> rates) {
  double left = static_cast<double>(due[0]);
  if (left <= 0) return times[0];
  double per_second = 0;
  for (size_t i = 1; i < times.size(); ++i) {
    const auto step_seconds = static_cast<double>(times[i] - times[i - 1]);
    for (int64_t from = times[i - 1]; from < times[i];) {
      for (; !rates.empty() && rates[0].begin <= from; rates.remove_prefix(1)) {
        per_second = rates[0].per_second;
      }
      const int64_t to = rates.empty() ? times[i] : std::min(times[i], rates[0].begin);
      const auto seconds = static_cast<double>(to - from);
      const double arriving = static_cast<double>(due[i]) * seconds / step_seconds;
      const double after = left + arriving - per_second * seconds;
      if (after <= 0) {
        // `left` shrinks by `left - after` in this part of the step.
        return from + std::llround(std::ceil(seconds * left / (left - after)));
      }
      left = after;
      from = to;
    }
  }
  return std::nullopt;
}

}  // namespace ttl
