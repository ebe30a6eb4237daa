#ifndef TTL_CLIENT_CPP_STORE_CONDITIONAL_DELETE_H_
#define TTL_CLIENT_CPP_STORE_CONDITIONAL_DELETE_H_

#include "absl/status/statusor.h"
#include "ttl/primary_store.h"
#include "ttl/v1/primary_store_service.pb.h"

namespace ttl {

// Answers DeleteItems for `store`: deletes the items that still are the version that was judged and
// are expired by the store's clock too. Items beyond the store's max_batch_items, and all if the
// store is busy, are THROTTLED. INVALID_ARGUMENT without not_after or items, FAILED_PRECONDITION if
// the items are tracked for another store; errors of the store by StoreError(). Thread-safe if the
// store is.
absl::StatusOr<v1::DeleteItemsResponse> DeleteExpiredItems(PrimaryStore& store,
                                                           const v1::DeleteItemsRequest& request);

}  // namespace ttl

#endif  // TTL_CLIENT_CPP_STORE_CONDITIONAL_DELETE_H_
