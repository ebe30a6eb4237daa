#ifndef TTL_SERVICE_RPC_SERVICES_ITEM_CALLS_H_
#define TTL_SERVICE_RPC_SERVICES_ITEM_CALLS_H_

#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "service/base/done.h"
#include "service/core/guarded_clock.h"
#include "service/core/state/store_trust.h"
#include "service/rpc/checks/check_answers.h"
#include "service/rpc/checks/check_counters.h"
#include "service/rpc/checks/check_request.h"
#include "service/rpc/checks/visibility.h"
#include "service/storage/containers.h"
#include "service/storage/items.h"
#include "ttl/v1/item_service.pb.h"

namespace ttl {

// The calls of the data path, apart from any transport: each validates, makes one
// call of storage, and maps. Thread-safe. A response is filled only where it is empty
// before, and is of no use if the status is not OK.
class ItemCalls {
 public:
  // All must outlive this.
  // `adoption_grace`: how long what is due already when it is adopted waits for its delete.
  ItemCalls(const Containers& containers, Items& items, const GuardedClock& clock,
            const StoreTrust& store, CheckCounters& counters, absl::Duration adoption_grace);

  CheckCounters& counters() { return counters_; }

  // These read storage on the calling thread. Of checks that carry impossible state
  // `impossible` says which.
  absl::Status Check(const CheckRequest& request, CheckAnswers& answers,
                     ImpossibleChecks& impossible) const;
  absl::Status Get(const v1::GetItemRequest& request, v1::GetItemResponse& response) const;
  absl::Status List(const v1::ListItemsRequest& request, v1::ListItemsResponse& response) const;

  // `done` is called once, when the changes are durable or refused; see Done.
  // `response` must live until then.
  void Track(const v1::TrackItemsRequest& request, v1::TrackItemsResponse& response,
             DoneStatus done);
  void Untrack(const v1::UntrackItemsRequest& request, v1::UntrackItemsResponse& response,
               DoneStatus done);

 private:
  // Why what is tracked may not be whole, or not of the store connected now; empty if it is.
  std::string Doubt() const;

  const Containers& containers_;
  Items& items_;
  const GuardedClock& clock_;
  const StoreTrust& store_;
  CheckCounters& counters_;
  const absl::Duration adoption_grace_;
};

}  // namespace ttl

#endif  // TTL_SERVICE_RPC_SERVICES_ITEM_CALLS_H_
