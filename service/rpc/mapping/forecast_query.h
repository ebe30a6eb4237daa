#ifndef TTL_SERVICE_RPC_MAPPING_FORECAST_QUERY_H_
#define TTL_SERVICE_RPC_MAPPING_FORECAST_QUERY_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "ttl/v1/expiry_service.pb.h"

namespace ttl {

inline constexpr int64_t kMaxForecastSteps = 1000;

// What a GetForecastRequest asks for.
struct ForecastQuery {
  std::optional<std::string> container;  // absent: all containers
  // Now, then the end of each step; Unix seconds, ascending.
  std::vector<int64_t> times;
  // Forecast under this default_ttl instead of the container's.
  std::optional<int64_t> default_ttl;
};

// Validates the request and computes its steps from `now` on. Errors are INVALID_ARGUMENT and name
// the field, its value and what is allowed. Pure.
absl::StatusOr<ForecastQuery> ReadForecastQuery(const v1::GetForecastRequest& request,
                                                absl::Time now);

}  // namespace ttl

#endif  // TTL_SERVICE_RPC_MAPPING_FORECAST_QUERY_H_
