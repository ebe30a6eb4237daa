#ifndef TTL_SERVICE_STORAGE_RECORD_CACHE_H_
#define TTL_SERVICE_STORAGE_RECORD_CACHE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "service/core/mutex.h"
#include "service/storage/stored_item.h"

namespace ttl {

// Items at hand, by encoded key, "there is none" included (null). Bounded by
// bytes, least recently used out first. Thread-safe.
//
// The committer puts what it has written with Put(). A reader that has found
// nothing here reads the database and offers what it found with Offer(); it is
// taken only if no Put() came to that part of the cache since the reader's
// Find(), so a reader never puts back a record older than the committer's.
class RecordCache {
 public:
  explicit RecordCache(size_t capacity_bytes);

  // What a Find() saw, for a later Offer().
  struct Ticket {
    size_t shard = 0;
    uint64_t puts = 0;
  };

  // Absent if nothing is known of the key; then `ticket` is filled.
  std::optional<StoredItemPtr> Find(absl::string_view key, Ticket& ticket);

  // By readers: what the database said after the Find() that gave the ticket.
  void Offer(absl::string_view key, StoredItemPtr item, const Ticket& ticket);

  // By the committer, after the write, before the caller is answered.
  void Put(absl::string_view key, StoredItemPtr item);

  // Forgets everything, offers on their way included.
  void Clear();

  size_t SizeBytes() const;

 private:
  static constexpr size_t kShards = 64;

  struct Entry {
    std::string key;
    StoredItemPtr item;
  };
  struct Shard {
    mutable Mutex mutex;
    std::list<Entry> by_use ABSL_GUARDED_BY(mutex);  // most recent first
    absl::flat_hash_map<absl::string_view, std::list<Entry>::iterator> by_key
        ABSL_GUARDED_BY(mutex);  // keys point into by_use
    size_t bytes ABSL_GUARDED_BY(mutex) = 0;
    uint64_t puts ABSL_GUARDED_BY(mutex) = 0;
  };

  static size_t ShardOf(absl::string_view key);
  static size_t BytesOf(const Entry& entry);
  void Store(Shard& shard, absl::string_view key, StoredItemPtr item)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(shard.mutex);

  const size_t shard_capacity_bytes_;
  std::array<Shard, kShards> shards_;
};

}  // namespace ttl

#endif  // TTL_SERVICE_STORAGE_RECORD_CACHE_H_
