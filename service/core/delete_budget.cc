#include "service/core/delete_budget.h"

#include <algorithm>

namespace ttl {

std::optional<DeleteBudget> ComputeDeleteBudget(const ContainerSettings& settings,
                                                std::optional<double> used_by_requests,
                                                std::optional<double> learned_cost) {
  if (!settings.request_units_per_second.has_value()) return std::nullopt;
  DeleteBudget budget;
  budget.request_units_per_second = *settings.request_units_per_second;
  budget.used_by_requests = used_by_requests;
  budget.request_units_per_delete =
      learned_cost.value_or(settings.request_units_per_delete.value_or(1));
  const double left =
      budget.request_units_per_second - used_by_requests.value_or(budget.request_units_per_second);
  // The floor is inside what is provided, whatever deletes turn out to cost.
  const double most = budget.request_units_per_second / budget.request_units_per_delete;
  const double floor = std::min(settings.min_deletes_per_second, most);
  // Where nothing is left over, deletes that cost nothing have to wait as well.
  const double by_cost = left > 0 ? left / budget.request_units_per_delete : 0;
  budget.deletes_per_second = std::max(by_cost, floor);
  return budget;
}

}  // namespace ttl
