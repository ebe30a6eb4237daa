#ifndef TTL_SERVICE_RPC_MAPPING_ITEM_MAPPING_H_
#define TTL_SERVICE_RPC_MAPPING_ITEM_MAPPING_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "service/core/container.h"
#include "service/core/item.h"
#include "ttl/v1/item.pb.h"

// Tracked items, as the API shows them.
namespace ttl {

// An item and all that follows from it under the policy of `container`.
v1::ItemView MakeItemView(const Container& container, const ItemKey& key,
                          const ItemVersion& version, absl::Time now);

// Whether `item` is to be shown as present at `now`: neither expired nor known
// to be wrong.
bool IsLive(const Container& container, const TrackedItem& item, absl::Time now);

// The answer for an item that is not there, and for an expired one: a caller
// cannot tell them apart. `doubt`: why what is tracked may not be whole; empty if it is.
absl::Status ItemNotFound(const ItemKey& key, absl::string_view doubt = "");

}  // namespace ttl

#endif  // TTL_SERVICE_RPC_MAPPING_ITEM_MAPPING_H_
