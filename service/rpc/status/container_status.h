#ifndef TTL_SERVICE_RPC_STATUS_CONTAINER_STATUS_H_
#define TTL_SERVICE_RPC_STATUS_CONTAINER_STATUS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "service/core/container.h"
#include "service/core/delete_holds.h"
#include "service/core/delete_rates.h"
#include "service/core/state/published_sweep.h"
#include "service/core/tally_view.h"
#include "service/storage/expiry_index.h"
#include "service/storage/holds.h"
#include "ttl/v1/expiry_service.pb.h"

// The expiry status of one container, as in the API. Pure functions.
namespace ttl {

// Everything that a status is computed from, at one instant.
struct ContainerSnapshot {
  const Container& container;
  const TallyView& tally;
  const Backlog& backlog;
  absl::string_view backlog_problem = "";  // why the index could not be read
  const ContainerSweepView& sweep;
  const std::vector<DeleteHold>& holds;
  const DeleteRates& rates;
  absl::Time now;
  int64_t failing_items = 0;  // see Tallies::Failing()
  HoldCounts hold_counts = {};
};

v1::ContainerExpiryStatus MakeContainerStatus(const ContainerSnapshot& snapshot);

v1::ItemCounts MakeItemCounts(const TallyView& tally, const Policy& policy, absl::Time now);
v1::LatenessHistogram ToProto(const LatenessHistogram& histogram);

}  // namespace ttl

#endif  // TTL_SERVICE_RPC_STATUS_CONTAINER_STATUS_H_
