#ifndef TTL_SERVICE_RPC_MAPPING_PARTITION_LIST_H_
#define TTL_SERVICE_RPC_MAPPING_PARTITION_LIST_H_

#include <cstddef>
#include <optional>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "service/core/item.h"
#include "service/rpc/mapping/item_page.h"

namespace ttl {

// The item with that key; absent if there is none.
using FindItem = absl::FunctionRef<absl::StatusOr<std::optional<TrackedItem>>(const ItemKey& key)>;

// As `list`, which is in the order of keys, but only the items of one partition; of others at most
// `limit` are read. `find` looks in the same items. Returns errors of both.
absl::StatusOr<ItemPage> ListPartition(ListItemsFrom list, FindItem find,
                                       absl::string_view partition_key,
                                       const std::optional<ItemKey>& after, size_t limit);

}  // namespace ttl

#endif  // TTL_SERVICE_RPC_MAPPING_PARTITION_LIST_H_
