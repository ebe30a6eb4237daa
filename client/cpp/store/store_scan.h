#ifndef TTL_CLIENT_CPP_STORE_STORE_SCAN_H_
#define TTL_CLIENT_CPP_STORE_STORE_SCAN_H_

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "ttl/primary_store.h"
#include "ttl/v1/primary_store_service.pb.h"

namespace ttl {

// Answers ScanItems for `store`, one message after the other, until `take` returns false, which is
// CANCELLED. A page token is the key of the last item, so that it stays valid whatever is written
// and deleted meanwhile. UNIMPLEMENTED if the store does not scan, INVALID_ARGUMENT for a foreign
// token or no items; INTERNAL if Scan() returns too many items, does not get further, or ends a
// page with a key that no token has room for; NOT_FOUND of the store as it is, its other errors by
// StoreError(). Thread-safe if the store is.
absl::Status ScanStore(PrimaryStore& store, const v1::ScanItemsRequest& request,
                       absl::FunctionRef<bool(const v1::ScanItemsResponse&)> take);

}  // namespace ttl

#endif  // TTL_CLIENT_CPP_STORE_STORE_SCAN_H_
