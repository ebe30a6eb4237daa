#ifndef TTL_SERVICE_CORE_DELETE_RATES_H_
#define TTL_SERVICE_CORE_DELETE_RATES_H_

#include <algorithm>
#include <optional>

#include "service/core/container.h"
#include "service/core/delete_budget.h"

namespace ttl {

// The stricter of two limits on a rate; absent means no limit.
inline std::optional<double> StricterLimit(std::optional<double> a, std::optional<double> b) {
  if (!a.has_value() || !b.has_value()) return a.has_value() ? a : b;
  return std::min(*a, *b);
}

// The limits on deletes of one container, in deletes per second; absent: no limit. The sweeper, the
// status and ExplainItem all use this, so that they agree. Pure.
struct DeleteRates {
  // The container's limit, or the default if it sets none.
  std::optional<double> own_limit;
  // The stricter of own_limit and the limit over all containers.
  std::optional<double> limit;
  // Absent if the container provides no throughput.
  std::optional<DeleteBudget> budget;

  // The strictest of limit, budget and the rate that the store accepts.
  std::optional<double> Allowed(std::optional<double> bearable) const {
    const std::optional<double> allowed = StricterLimit(limit, bearable);
    return budget.has_value() ? StricterLimit(allowed, budget->deletes_per_second) : allowed;
  }
};

// `container_default` applies to a container that sets no limit; `used_by_requests` and
// `learned_cost` are as for ComputeDeleteBudget().
inline DeleteRates ComputeDeleteRates(const ContainerSettings& settings,
                                      std::optional<double> container_default,
                                      std::optional<double> limit_of_all,
                                      std::optional<double> used_by_requests,
                                      std::optional<double> learned_cost) {
  DeleteRates rates;
  rates.own_limit = settings.max_deletes_per_second.has_value() ? settings.max_deletes_per_second
                                                                : container_default;
  rates.limit = StricterLimit(rates.own_limit, limit_of_all);
  rates.budget = ComputeDeleteBudget(settings, used_by_requests, learned_cost);
  return rates;
}

}  // namespace ttl

#endif  // TTL_SERVICE_CORE_DELETE_RATES_H_
