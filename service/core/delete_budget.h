#ifndef TTL_SERVICE_CORE_DELETE_BUDGET_H_
#define TTL_SERVICE_CORE_DELETE_BUDGET_H_

#include <optional>

#include "service/core/container.h"

namespace ttl {

// The part of a container's provisioned throughput that deletes may use: what requests leave over,
// as in Azure Cosmos DB.
struct DeleteBudget {
  double request_units_per_second = 0;     // provided
  std::optional<double> used_by_requests;  // request units per second; absent: unknown
  double request_units_per_delete = 1;     // as learned, or else as configured
  double deletes_per_second = 0;           // what is left over, but no less than the floor
};

// Computes the budget from the container's settings, the usage of requests in request units per
// second (absent counts as full use), and the measured cost of a delete (absent: as configured).
// Absent if the container provides no throughput: then usage does not matter. Pure.
std::optional<DeleteBudget> ComputeDeleteBudget(const ContainerSettings& settings,
                                                std::optional<double> used_by_requests,
                                                std::optional<double> learned_cost);

}  // namespace ttl

#endif  // TTL_SERVICE_CORE_DELETE_BUDGET_H_
