#ifndef TTL_SERVICE_RPC_SERVICES_ITEM_CALLS_H_
#define TTL_SERVICE_RPC_SERVICES_ITEM_CALLS_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "service/base/done.h"
#include "service/core/guarded_clock.h"
#include "service/core/state/store_trust.h"
#include "service/rpc/checks/check_answers.h"
#include "service/rpc/checks/check_counters.h"
#include "service/rpc/checks/check_request.h"
#include "service/rpc/checks/visibility.h"
#include "service/storage/containers.h"
#include "service/storage/holds.h"
#include "service/storage/items.h"
#include "service/storage/touches.h"
#include "ttl/v1/item_service.pb.h"

namespace ttl {

// The calls of the data path, independent of the transport: each validates its request, makes one
// call to storage, and maps the result. Responses must be empty before the call, and are
// unspecified unless the status is OK. Thread-safe.
class ItemCalls {
 public:
  // All arguments must outlive this. `adoption_grace`: how long an item that is already due when it
  // is adopted waits before it is deleted.
  ItemCalls(const Containers& containers, Items& items, Touches& touches, const Holds& holds,
            const GuardedClock& clock, const StoreTrust& store, CheckCounters& counters,
            absl::Duration adoption_grace);

  CheckCounters& counters() { return counters_; }

  // These read storage on the calling thread. `impossible` gets the checks that carry an impossible
  // state.
  absl::Status Check(const CheckRequest& request, CheckAnswers& answers,
                     ImpossibleChecks& impossible) const;
  absl::Status Get(const v1::GetItemRequest& request, v1::GetItemResponse& response) const;
  absl::Status List(const v1::ListItemsRequest& request, v1::ListItemsResponse& response) const;

  // `done` is called exactly once, when the changes are durable or refused; see Done.
  // `response` must live until then.
  void Track(const v1::TrackItemsRequest& request, v1::TrackItemsResponse& response,
             DoneStatus done);
  void Untrack(const v1::UntrackItemsRequest& request, v1::UntrackItemsResponse& response,
               DoneStatus done);
  void Touch(const v1::TouchItemsRequest& request, v1::TouchItemsResponse& response,
             DoneStatus done);

 private:
  // Why the tracked data may be incomplete, or not of the connected store; empty if neither.
  std::string Doubt() const;
  // The time to judge touches by now; UNAVAILABLE while items cannot be judged.
  absl::StatusOr<JudgingTime> TimeForTouches() const;
  // How a reader sees `item`, which is UNTRACKED also if it is not known whether a hold shows it.
  v1::Visibility VisibilityOf(const Container& container, const ItemKey& key,
                              const TrackedItem& item, absl::Time now) const;

  const Containers& containers_;
  Items& items_;
  Touches& touches_;
  const Holds& holds_;
  const GuardedClock& clock_;
  const StoreTrust& store_;
  CheckCounters& counters_;
  const absl::Duration adoption_grace_;
};

}  // namespace ttl

#endif  // TTL_SERVICE_RPC_SERVICES_ITEM_CALLS_H_
