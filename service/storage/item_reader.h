#ifndef TTL_SERVICE_STORAGE_ITEM_READER_H_
#define TTL_SERVICE_STORAGE_ITEM_READER_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "service/storage/database.h"
#include "service/storage/record_cache.h"
#include "service/storage/stored_item.h"

namespace ttl {

// Reads committed items through the cache. Thread-safe.
class ItemReader {
 public:
  ItemReader(const Database& database, RecordCache& cache) : database_(database), cache_(cache) {}

  // The item under an encoded key; null if there is none. DATA_LOSS if it
  // cannot be read; UNAVAILABLE while the database is closed.
  absl::StatusOr<StoredItemPtr> Read(absl::string_view key) const;

 private:
  const Database& database_;
  RecordCache& cache_;
};

}  // namespace ttl

#endif  // TTL_SERVICE_STORAGE_ITEM_READER_H_
