#include "service/rpc/mapping/partition_list.h"

#include <string>
#include <utility>

#include "service/base/status_macros.h"

namespace ttl {
namespace {

// Whether storage lists the items of partition `a` before those of `b`: see AppendItemKey().
bool IsBefore(absl::string_view a, absl::string_view b) {
  return a.size() != b.size() ? a.size() < b.size() : a < b;
}

// Appends the items that follow `after` in its partition, until `page` has `limit` items.
absl::Status AppendPartition(ListItemsFrom list, const ItemKey& after, size_t limit,
                             ItemPage& page) {
  if (page.size() >= limit) return absl::OkStatus();
  TTL_ASSIGN_OR_RETURN(ItemPage found, list(after, limit - page.size()));
  for (auto& entry : found) {
    if (entry.first.partition_key != after.partition_key) break;
    page.push_back(std::move(entry));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ItemPage> ListPartition(ListItemsFrom list, FindItem find,
                                       absl::string_view partition_key,
                                       const std::optional<ItemKey>& after, size_t limit) {
  ItemPage page;
  if (after.has_value() && after->partition_key == partition_key) {
    TTL_RETURN_IF_ERROR(AppendPartition(list, *after, limit, page));
    return page;
  }
  // A token of another request may lie before the partition, or behind it.
  if (after.has_value() && IsBefore(partition_key, after->partition_key)) return page;
  const ItemKey first{std::string(partition_key), ""};
  TTL_ASSIGN_OR_RETURN(std::optional<TrackedItem> item, find(first));
  if (item.has_value()) page.emplace_back(first, *std::move(item));
  TTL_RETURN_IF_ERROR(AppendPartition(list, first, limit, page));
  return page;
}

}  // namespace ttl
