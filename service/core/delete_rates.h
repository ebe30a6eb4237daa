#ifndef TTL_SERVICE_CORE_DELETE_RATES_H_
#define TTL_SERVICE_CORE_DELETE_RATES_H_

#include <algorithm>
#include <optional>

#include "absl/time/time.h"
#include "service/core/container.h"
#include "service/core/delete_budget.h"
#include "service/core/windows/window_view.h"

namespace ttl {

// The stricter of two limits on a rate; absent means no limit.
inline std::optional<double> StricterLimit(std::optional<double> a, std::optional<double> b) {
  if (!a.has_value() || !b.has_value()) return a.has_value() ? a : b;
  return std::min(*a, *b);
}

// The limits on deletes of one container, in deletes per second; absent: no limit. The sweeper, the
// status and ExplainItem all use this, so that they agree. Pure.
struct DeleteRates {
  // The container's limit, or the default if it sets none; at most what its windows allow now.
  std::optional<double> own_limit;
  // The stricter of own_limit and the limit over all containers.
  std::optional<double> limit;
  // The same as if the container had no windows.
  std::optional<double> limit_but_windows;
  // If `limit` is 0 because of the windows alone: when they allow deletes next. InfiniteFuture if
  // that is not known. Absent otherwise.
  std::optional<absl::Time> windows_open;
  // Absent if the container provides no throughput.
  std::optional<DeleteBudget> budget;

  // The strictest of limit, budget and the rate that the store accepts.
  std::optional<double> Allowed(std::optional<double> bearable) const {
    return StricterLimit(limit, AllowedButWindows(bearable));
  }
  // The same as if the container had no windows.
  std::optional<double> AllowedButWindows(std::optional<double> bearable) const {
    const std::optional<double> allowed = StricterLimit(limit_but_windows, bearable);
    return budget.has_value() ? StricterLimit(allowed, budget->deletes_per_second) : allowed;
  }
};

// `container_default` applies to a container that sets no limit; `used_by_requests` and
// `learned_cost` are as for ComputeDeleteBudget(); `windows` are those of the container now.
inline DeleteRates ComputeDeleteRates(const ContainerSettings& settings,
                                      std::optional<double> container_default,
                                      std::optional<double> limit_of_all,
                                      std::optional<double> used_by_requests,
                                      std::optional<double> learned_cost,
                                      const WindowView& windows = {}) {
  DeleteRates rates;
  const std::optional<double> set = settings.max_deletes_per_second.has_value()
                                        ? settings.max_deletes_per_second
                                        : container_default;
  rates.own_limit = StricterLimit(set, windows.limit);
  rates.limit = StricterLimit(rates.own_limit, limit_of_all);
  rates.limit_but_windows = StricterLimit(set, limit_of_all);
  if (windows.limit == 0.0 && rates.limit_but_windows != 0.0) {
    rates.windows_open = windows.next_start.value_or(absl::InfiniteFuture());
  }
  rates.budget = ComputeDeleteBudget(settings, used_by_requests, learned_cost);
  return rates;
}

}  // namespace ttl

#endif  // TTL_SERVICE_CORE_DELETE_RATES_H_
