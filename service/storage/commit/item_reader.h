#ifndef TTL_SERVICE_STORAGE_COMMIT_ITEM_READER_H_
#define TTL_SERVICE_STORAGE_COMMIT_ITEM_READER_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "service/core/container.h"
#include "service/core/ttl_rules.h"
#include "service/storage/commit/record_cache.h"
#include "service/storage/engine/database.h"
#include "service/storage/format/index_entry.h"
#include "service/storage/format/stored_item.h"

namespace ttl {

// Reads committed items through the cache. Thread-safe.
class ItemReader {
 public:
  ItemReader(const Database& database, RecordCache& cache) : database_(database), cache_(cache) {}

  // The item with this encoded key; null if there is none. DATA_LOSS if it cannot be read;
  // UNAVAILABLE while the database is closed.
  absl::StatusOr<StoredItemPtr> Read(absl::string_view key) const;

  // The items with these encoded keys, which begin with `prefix`; one result each, in order.
  // Cheaper than single reads if the keys are close to each other.
  std::vector<absl::StatusOr<StoredItemPtr>> ReadMany(absl::string_view prefix,
                                                      const std::vector<std::string>& keys) const;

  // The items of entries of the container's index; one result each, in order. Null if the item
  // names another entry or does not exist.
  std::vector<absl::StatusOr<StoredItemPtr>> ReadOwners(
      const Container& container, const std::vector<IndexEntry>& entries) const;

  // Reads what visibility needs of many items (see TimesOf()): replaces `times` by one result each,
  // in order, with the same errors. `lookups` has the keys, and is changed.
  void ReadTimes(absl::Span<RecordCache::Lookup> lookups,
                 std::vector<absl::StatusOr<std::optional<ItemTimes>>>& times) const;

 private:
  absl::StatusOr<std::optional<ItemTimes>> ReadColdTimes(const RecordCache::Lookup& lookup) const;
  // Called after a miss in the cache.
  absl::StatusOr<StoredItemPtr> ReadDatabase(absl::string_view key,
                                             const RecordCache::Ticket& ticket) const;

  const Database& database_;
  RecordCache& cache_;
};

}  // namespace ttl

#endif  // TTL_SERVICE_STORAGE_COMMIT_ITEM_READER_H_
