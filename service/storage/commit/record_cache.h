#ifndef TTL_SERVICE_STORAGE_COMMIT_RECORD_CACHE_H_
#define TTL_SERVICE_STORAGE_COMMIT_RECORD_CACHE_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "service/base/mutex.h"
#include "service/core/ttl_rules.h"
#include "service/storage/engine/storage_figures.h"
#include "service/storage/format/stored_item.h"

namespace ttl {

// A cache of items by encoded key; it also caches that there is no item (null). Bounded by bytes;
// evicts by the CLOCK algorithm, so that a hit writes no more than a flag. Thread-safe.
//
// The committer puts what it has written with Put(). A reader that misses reads the database and
// offers the result with Offer(). An offer is accepted only if no Put() came to that part of the
// cache since the reader's Find(). So a reader never puts back a record older than the committer's.
class RecordCache {
 public:
  explicit RecordCache(size_t capacity_bytes);
  ~RecordCache();

  // State of the cache at a Find(), for a later Offer().
  struct Ticket {
    uint64_t hash = 0;
    uint64_t puts = 0;
  };

  // Absent if the key is not cached; then `ticket` is filled.
  std::optional<StoredItemPtr> Find(absl::string_view key, Ticket& ticket);

  // One of several lookups made together.
  struct Lookup {
    absl::string_view key;
    Ticket ticket = {};  // filled
    bool known = false;  // whether anything is known of the key
    // If not cached: whether it was looked up in vain before, not long ago. Readers of very many
    // items offer only those, so that keys read once do not evict keys read often.
    bool missed_again = false;
    std::optional<ItemTimes> times = {};  // if it is; see TimesOf
  };

  // Looks up what a check needs of many items. Their cache misses in memory overlap, and no item
  // itself is read.
  void FindTimes(absl::Span<Lookup> lookups);

  // For readers: the result of the database after the Find() that filled `ticket`.
  void Offer(absl::string_view key, StoredItemPtr item, const Ticket& ticket);

  // For the committer: after the write, before the caller is answered.
  void Put(absl::string_view key, StoredItemPtr item);

  // Forgets everything, and refuses offers for earlier lookups.
  void Clear();

  size_t SizeBytes() const;
  CacheFigures Figures() const;

 private:
  static constexpr size_t kShards = 16;
  // Maximum lookups made together, so that their entries stay in the fastest memory.
  static constexpr size_t kMaxTogether = 128;

  struct Entry;
  struct Free {
    void operator()(Entry* entry) const;
  };
  using EntryPtr = std::unique_ptr<Entry, Free>;

  struct KeepHash {
    size_t operator()(uint64_t hash) const { return hash; }
  };

  struct alignas(64) Shard {
    mutable Mutex mutex;
    // Fields that every lookup reads or writes, in the cache line of the lock.
    int64_t hits ABSL_GUARDED_BY(mutex) = 0;
    int64_t misses ABSL_GUARDED_BY(mutex) = 0;
    uint64_t puts ABSL_GUARDED_BY(mutex) = 0;
    // By hash of the key, so that a lookup reads only the right entry. Of two keys with the same
    // hash the later one is kept.
    absl::flat_hash_map<uint64_t, Entry*, KeepHash> by_hash ABSL_GUARDED_BY(mutex);
    std::vector<EntryPtr> clock ABSL_GUARDED_BY(mutex);
    size_t hand ABSL_GUARDED_BY(mutex) = 0;
    size_t bytes ABSL_GUARDED_BY(mutex) = 0;
  };

  static size_t ShardOf(uint64_t hash);
  void FindTimesTogether(absl::Span<Lookup> lookups);
  void NoteMisses(absl::Span<Lookup> lookups);
  static void FindTimesInShard(Shard& shard, absl::Span<Lookup* const> lookups)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(shard.mutex);
  void Store(Shard& shard, absl::string_view key, uint64_t hash, StoredItemPtr item)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(shard.mutex);
  static void Insert(Shard& shard, EntryPtr entry) ABSL_EXCLUSIVE_LOCKS_REQUIRED(shard.mutex);
  static void EvictOne(Shard& shard) ABSL_EXCLUSIVE_LOCKS_REQUIRED(shard.mutex);

  static constexpr size_t kMisses = size_t{1} << 16;

  const size_t shard_capacity_bytes_;
  std::array<Shard, kShards> shards_;
  // The last miss of FindTimes() in each slot of a table, by part of its hash.
  const std::unique_ptr<std::atomic<uint32_t>[]> misses_ =
      std::make_unique<std::atomic<uint32_t>[]>(kMisses);
};

}  // namespace ttl

#endif  // TTL_SERVICE_STORAGE_COMMIT_RECORD_CACHE_H_
