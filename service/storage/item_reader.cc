#include "service/storage/item_reader.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "service/core/status_macros.h"
#include "service/storage/record_codec.h"

namespace ttl {

absl::StatusOr<StoredItemPtr> ItemReader::Read(absl::string_view key) const {
  RecordCache::Ticket ticket;
  if (std::optional<StoredItemPtr> known = cache_.Find(key, ticket)) return *std::move(known);
  TTL_ASSIGN_OR_RETURN(const std::optional<std::string> bytes, database_.Get(key));
  StoredItemPtr item;
  if (bytes.has_value()) {
    TTL_ASSIGN_OR_RETURN(StoredItem decoded, DecodeStoredItem(*bytes));
    item = std::make_shared<const StoredItem>(std::move(decoded));
  }
  cache_.Offer(key, item, ticket);
  return item;
}

}  // namespace ttl
