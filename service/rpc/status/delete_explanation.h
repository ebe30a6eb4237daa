#ifndef TTL_SERVICE_RPC_STATUS_DELETE_EXPLANATION_H_
#define TTL_SERVICE_RPC_STATUS_DELETE_EXPLANATION_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "service/core/container.h"
#include "service/core/delete_holds.h"
#include "service/core/hold/hold.h"
#include "service/core/item.h"

namespace ttl {

// The gated subscriptions that an expired item waits for.
struct GateWait {
  std::vector<std::string> subscriptions;  // names, in their order; empty: it waits for none
  uint64_t sequence = 0;                   // of its EXPIRED; 0: that is not logged yet
};

// Why an item is not deleted yet.
struct DeleteExplanation {
  std::optional<int64_t> due_time;  // Unix seconds; absent: never
  std::vector<DeleteHold> holds;    // empty if it is not due, or next in line
  std::string sentence;
};

// The first second at which `item` may be deleted, as known at `now`, considering its expire time,
// the delay, the grace of replaced policies, adoption, and the time of the next try. Absent if it
// never expires.
std::optional<int64_t> ExpectedDueTime(const Container& container, const TrackedItem& item,
                                       absl::Time now);

// `holds` in words, separated by "; "; empty if there are none.
std::string DescribeHolds(const std::vector<DeleteHold>& holds);

// Explains `item` of `container`, whose deletes are held by `container_holds`, which `item_holds`
// cover, and which waits for `gates`.
DeleteExplanation ExplainDelete(const Container& container, const TrackedItem& item,
                                const std::vector<DeleteHold>& container_holds, absl::Time now,
                                const std::vector<HoldPtr>& item_holds = {},
                                const GateWait& gates = {});

}  // namespace ttl

#endif  // TTL_SERVICE_RPC_STATUS_DELETE_EXPLANATION_H_
