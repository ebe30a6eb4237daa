#ifndef TTL_SERVICE_RPC_MAPPING_ITEM_MAPPING_H_
#define TTL_SERVICE_RPC_MAPPING_ITEM_MAPPING_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "service/core/container.h"
#include "service/core/item.h"
#include "ttl/v1/item.pb.h"

// Conversions of tracked items to the API. Pure functions.
namespace ttl {

// An item with its effective ttl, expire time and visibility at `now` under the policy of
// `container`.
v1::ItemView MakeItemView(const Container& container, const ItemKey& key,
                          const ItemVersion& version, absl::Time now);

// Whether `item` exists for readers at `now`: it is not expired, and its state is known.
bool IsLive(const Container& container, const TrackedItem& item, absl::Time now);

// NOT_FOUND, for an item that is not tracked and for an expired one: a caller cannot tell them
// apart. `doubt`: why the tracked data may be incomplete; empty if it is not in doubt.
absl::Status ItemNotFound(const ItemKey& key, absl::string_view doubt = "");

}  // namespace ttl

#endif  // TTL_SERVICE_RPC_MAPPING_ITEM_MAPPING_H_
