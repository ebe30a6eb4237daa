#ifndef TTL_SERVICE_RPC_MAPPING_ITEM_PAGE_H_
#define TTL_SERVICE_RPC_MAPPING_ITEM_PAGE_H_

#include <cstddef>
#include <cstdint>
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

// Further limits of a page: bytes of items returned, and items examined.
inline constexpr size_t kMaxPageBytes = size_t{1} << 20;
inline constexpr size_t kMaxPageExamined = 10000;

using ItemPage = std::vector<std::pair<ItemKey, TrackedItem>>;
// Returns at most `limit` items after `after`; fewer only at the end of the list.
using ListItemsFrom =
    absl::FunctionRef<absl::StatusOr<ItemPage>(const std::optional<ItemKey>& after, size_t limit)>;

// Items by their state: live ones, those that are expired but not yet deleted, or both.
enum class ShownItems { kLive, kExpired, kBoth };

// Which items a list shows.
struct ItemFilter {
  ShownItems shown = ShownItems::kLive;
  // Only items with an expire time in this range, Unix seconds; absent: no bound.
  std::optional<int64_t> expire_time_from = std::nullopt;  // inclusive
  std::optional<int64_t> expire_time_to = std::nullopt;    // exclusive
};

// Whether an expired item is shown among the live ones.
using ShowsExpired = absl::FunctionRef<bool(const ItemKey& key)>;

// Fills `response` with at most `page_size` items after `after` that `filter` shows, judged as of
// `judged_at`. Unless the list ends, at least one item is returned, or kMaxPageExamined are
// examined, so that paging always makes progress. Returns errors of `list`.
absl::Status FillItemPage(const Container& container, ListItemsFrom list,
                          ShowsExpired shows_expired, std::optional<ItemKey> after,
                          size_t page_size, const ItemFilter& filter, absl::Time judged_at,
                          v1::ListItemsResponse& response);

}  // namespace ttl

#endif  // TTL_SERVICE_RPC_MAPPING_ITEM_PAGE_H_
