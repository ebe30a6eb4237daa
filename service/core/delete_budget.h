#ifndef TTL_SERVICE_CORE_DELETE_BUDGET_H_
#define TTL_SERVICE_CORE_DELETE_BUDGET_H_

#include <optional>

#include "service/core/container.h"

namespace ttl {

// What deletes of a container may use of its throughput, after rule 7 of Azure Cosmos
// DB's TTL: only what requests leave over.
struct DeleteBudget {
  double request_units_per_second = 0;     // provided
  std::optional<double> used_by_requests;  // request units per second; absent: unknown
  double request_units_per_delete = 1;     // as learned, or else as configured
  double deletes_per_second = 0;           // what is left over, but no less than the floor
};

// The budget by the container's settings, by what requests use (absent counts as full
// use), and by what a delete was seen to cost (absent: as configured). Absent if the
// container provides no throughput: then usage does not matter. Pure.
std::optional<DeleteBudget> ComputeDeleteBudget(const ContainerSettings& settings,
                                                std::optional<double> used_by_requests,
                                                std::optional<double> learned_cost);

}  // namespace ttl

#endif  // TTL_SERVICE_CORE_DELETE_BUDGET_H_
