#ifndef TTL_SERVICE_RPC_MAPPING_PAGE_TOKEN_H_
#define TTL_SERVICE_RPC_MAPPING_PAGE_TOKEN_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "service/core/item.h"
#include "service/storage/expiry_index.h"

// Page sizes and page tokens of lists. A token names the last element examined and is opaque to
// clients: web-safe base64 of a letter for the kind of list, and the key. A token of another kind,
// or one that we did not make, is INVALID_ARGUMENT.
namespace ttl {

inline constexpr size_t kDefaultPageSize = 100;
inline constexpr size_t kMaxPageSize = 1000;

// The number of elements to return for a request's page_size: 0 means kDefaultPageSize, more than
// kMaxPageSize means kMaxPageSize, and a negative one is INVALID_ARGUMENT.
absl::StatusOr<size_t> ReadPageSize(int32_t page_size);

// For lists in the order of container ids. An empty token gives the empty id, which sorts before
// all others.
std::string ContainerPageToken(absl::string_view last_id);
absl::StatusOr<std::string> ReadContainerPageToken(absl::string_view token);

// Where a page of items ends, and the instant as of which all pages of the list are judged; absent
// in tokens of versions that judged each page as of its own time.
struct ItemPosition {
  ItemKey last;
  std::optional<absl::Time> judged_at;

  friend bool operator==(const ItemPosition&, const ItemPosition&) = default;
};

// For lists in the order of item keys. An empty token gives an absent position.
std::string ItemPageToken(const ItemKey& last, absl::Time judged_at);
absl::StatusOr<std::optional<ItemPosition>> ReadItemPageToken(absl::string_view token);

// For lists of stuck items, in the order of (next_try_time, key). An empty token gives an absent
// position.
std::string StuckPageToken(const StuckPage::Position& last);
absl::StatusOr<std::optional<StuckPage::Position>> ReadStuckPageToken(absl::string_view token);

// Where a page of holds ends.
struct HoldPosition {
  std::string container;  // id
  std::string hold_id;

  friend bool operator==(const HoldPosition&, const HoldPosition&) = default;
};

// For lists in the order of (container, hold_id). An empty token gives empty ids.
std::string HoldPageToken(const HoldPosition& last);
absl::StatusOr<HoldPosition> ReadHoldPageToken(absl::string_view token);

// Where a page of subscriptions ends.
struct SubscriptionPosition {
  std::string container;  // id
  std::string name;

  friend bool operator==(const SubscriptionPosition&, const SubscriptionPosition&) = default;
};

// For lists in the order of (container, name). An empty token gives empty names.
std::string SubscriptionPageToken(const SubscriptionPosition& last);
absl::StatusOr<SubscriptionPosition> ReadSubscriptionPageToken(absl::string_view token);

// For lists of the keys of a hold, in their order. An empty token gives an absent key.
std::string HeldKeyPageToken(const ItemKey& last);
absl::StatusOr<std::optional<ItemKey>> ReadHeldKeyPageToken(absl::string_view token);

}  // namespace ttl

#endif  // TTL_SERVICE_RPC_MAPPING_PAGE_TOKEN_H_
