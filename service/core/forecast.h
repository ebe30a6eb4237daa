#ifndef TTL_SERVICE_CORE_FORECAST_H_
#define TTL_SERVICE_CORE_FORECAST_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "service/core/container.h"
#include "service/core/item_histogram.h"

// When the items of a container expire, and when the backlog will be deleted. Pure functions; times
// are Unix seconds.
namespace ttl {

// The rule by which items expire at each of `times`: `policy` without its delay.
std::vector<DueMoment> ExpiryMoments(const Policy& policy, absl::Span<const int64_t> times);

// The rule by which they become due for deletion: after the delay and, during the grace of a
// replaced policy, under that policy too.
std::vector<DueMoment> DueMoments(const Policy& policy, const std::vector<ReplacedPolicy>& replaced,
                                  absl::Span<const int64_t> times);

// A rate of deletes from `begin` until the next step begins; it may be infinite.
struct RateStep {
  int64_t begin = 0;
  double per_second = 0;
};

// The first second at which a backlog is deleted. `due[0]` items wait at `times[0]`; `due[i]` more
// become due between times[i - 1] and times[i], evenly spread; and they are deleted at `rates`, not
// at all before the first of these. times[0] if due[0] is 0; absent if some items are still left at
// the last of `times`. REQUIRES: times and due have the same length, at least 1; times ascend, and
// so do the begins of rates.
std::optional<int64_t> FindBacklogEnd(absl::Span<const int64_t> times,
                                      absl::Span<const int64_t> due,
                                      absl::Span<const RateStep> rates);

}  // namespace ttl

#endif  // TTL_SERVICE_CORE_FORECAST_H_
