#ifndef TTL_SERVICE_RPC_MAPPING_PAGE_TOKEN_H_
#define TTL_SERVICE_RPC_MAPPING_PAGE_TOKEN_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "service/core/item.h"
#include "service/storage/expiry_index.h"

// Pages of lists. A token names the last element looked at and is opaque to
// clients: web-safe base64 of a letter for the kind of list and the key. One that
// is not of our making, or of another kind of list, is INVALID_ARGUMENT.
namespace ttl {

inline constexpr size_t kDefaultPageSize = 100;
inline constexpr size_t kMaxPageSize = 1000;

// Elements to return for a request's page_size: 0 means the default, more than
// the most is cut to it, and negative is INVALID_ARGUMENT.
absl::StatusOr<size_t> ReadPageSize(int32_t page_size);

// For lists in the order of container ids. An empty token reads as the empty
// id, which comes before all.
std::string ContainerPageToken(absl::string_view last_id);
absl::StatusOr<std::string> ReadContainerPageToken(absl::string_view token);

// For lists in the order of item keys. An empty token reads as absent.
std::string ItemPageToken(const ItemKey& last);
absl::StatusOr<std::optional<ItemKey>> ReadItemPageToken(absl::string_view token);

// For lists of stuck items, in the order of (next try, key). An empty token reads as
// absent.
std::string StuckPageToken(const StuckPage::Position& last);
absl::StatusOr<std::optional<StuckPage::Position>> ReadStuckPageToken(absl::string_view token);

}  // namespace ttl

#endif  // TTL_SERVICE_RPC_MAPPING_PAGE_TOKEN_H_
