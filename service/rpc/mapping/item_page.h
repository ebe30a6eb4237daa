#ifndef TTL_SERVICE_RPC_MAPPING_ITEM_PAGE_H_
#define TTL_SERVICE_RPC_MAPPING_ITEM_PAGE_H_

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "service/core/container.h"
#include "service/core/item.h"
#include "ttl/v1/item_service.pb.h"

namespace ttl {

// A page is also cut by these: so many bytes of items, and so many items looked
// at, however few of them are to be shown.
inline constexpr size_t kMaxPageBytes = size_t{1} << 20;
inline constexpr size_t kMaxPageExamined = 10000;

using ItemPage = std::vector<std::pair<ItemKey, TrackedItem>>;
// At most `limit` items after `after`; fewer only at the end.
using ListItemsFrom =
    absl::FunctionRef<absl::StatusOr<ItemPage>(const std::optional<ItemKey>& after, size_t limit)>;

// Fills `response` with at most `page_size` of the items that come after
// `after`: the live ones, or with `show_expired` also those that are expired and
// not yet deleted. At least one item is returned or kMaxPageExamined are looked
// at unless the list ends. Fails as `list` does.
absl::Status FillItemPage(const Container& container, ListItemsFrom list,
                          std::optional<ItemKey> after, size_t page_size, bool show_expired,
                          absl::Time now, v1::ListItemsResponse& response);

}  // namespace ttl

#endif  // TTL_SERVICE_RPC_MAPPING_ITEM_PAGE_H_
