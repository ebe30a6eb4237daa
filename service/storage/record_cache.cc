#include "service/storage/record_cache.h"

#include <utility>

#include "absl/hash/hash.h"

namespace ttl {

RecordCache::RecordCache(size_t capacity_bytes) : shard_capacity_bytes_(capacity_bytes / kShards) {}

size_t RecordCache::ShardOf(absl::string_view key) {
  return absl::Hash<absl::string_view>()(key) % kShards;
}

// The overheads of list node, hash slot and shared record are estimated.
size_t RecordCache::BytesOf(const Entry& entry) {
  constexpr size_t kOverhead = 120;
  const size_t item_bytes =
      entry.item == nullptr
          ? 0
          : sizeof(StoredItem) + entry.item->version.etag.size() + entry.item->last_error.size();
  return kOverhead + entry.key.size() + item_bytes;
}

std::optional<StoredItemPtr> RecordCache::Find(absl::string_view key, Ticket& ticket) {
  ticket.shard = ShardOf(key);
  Shard& shard = shards_[ticket.shard];
  MutexLock lock(shard.mutex);
  const auto it = shard.by_key.find(key);
  if (it == shard.by_key.end()) {
    ticket.puts = shard.puts;
    return std::nullopt;
  }
  shard.by_use.splice(shard.by_use.begin(), shard.by_use, it->second);
  return it->second->item;
}

void RecordCache::Offer(absl::string_view key, StoredItemPtr item, const Ticket& ticket) {
  Shard& shard = shards_[ticket.shard];
  MutexLock lock(shard.mutex);
  if (shard.puts == ticket.puts) Store(shard, key, std::move(item));
}

void RecordCache::Put(absl::string_view key, StoredItemPtr item) {
  Shard& shard = shards_[ShardOf(key)];
  MutexLock lock(shard.mutex);
  ++shard.puts;
  Store(shard, key, std::move(item));
}

void RecordCache::Store(Shard& shard, absl::string_view key, StoredItemPtr item) {
  const auto it = shard.by_key.find(key);
  if (it != shard.by_key.end()) {
    shard.bytes -= BytesOf(*it->second);
    it->second->item = std::move(item);
    shard.by_use.splice(shard.by_use.begin(), shard.by_use, it->second);
  } else {
    shard.by_use.push_front({std::string(key), std::move(item)});
    shard.by_key.emplace(shard.by_use.front().key, shard.by_use.begin());
  }
  shard.bytes += BytesOf(shard.by_use.front());
  while (shard.bytes > shard_capacity_bytes_ && !shard.by_use.empty()) {
    shard.bytes -= BytesOf(shard.by_use.back());
    shard.by_key.erase(shard.by_use.back().key);
    shard.by_use.pop_back();
  }
}

void RecordCache::Clear() {
  for (Shard& shard : shards_) {
    MutexLock lock(shard.mutex);
    ++shard.puts;
    shard.by_key.clear();
    shard.by_use.clear();
    shard.bytes = 0;
  }
}

size_t RecordCache::SizeBytes() const {
  size_t bytes = 0;
  for (const Shard& shard : shards_) {
    MutexLock lock(shard.mutex);
    bytes += shard.bytes;
  }
  return bytes;
}

}  // namespace ttl
