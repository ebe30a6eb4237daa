#include "service/storage/commit/record_cache.h"

#include <cstring>
#include <new>
#include <utility>

#include "absl/base/optimization.h"
#include "absl/hash/hash.h"

// The cache has kShards shards, each with a lock, a hash table by the hash of the key, and a CLOCK
// ring that owns the entries. An entry holds the times that a check needs, followed by the key, in
// one allocation, so that a lookup reads one or two cache lines and not the item.
//
// FindTimes() sorts its lookups by shard, takes each lock once, and prefetches first the slots of
// the hash table and then the entries. So the cache misses of many lookups overlap.
//
// Each shard counts its Put() calls. A miss notes the count in the Ticket, and Offer() is dropped
// if the count has changed since. That refuses some offers for other keys of the shard, but needs
// no state per key.
namespace ttl {

struct RecordCache::Entry {
  static EntryPtr Make(absl::string_view key, uint64_t hash) {
    void* memory = ::operator new(sizeof(Entry) + key.size());
    auto* entry = new (memory) Entry(key.size(), hash);
    std::memcpy(static_cast<char*>(memory) + sizeof(Entry), key.data(), key.size());
    return EntryPtr(entry);
  }

  absl::string_view key() const { return {reinterpret_cast<const char*>(this + 1), key_size}; }

  void Set(StoredItemPtr new_item) {
    const std::optional<ItemTimes> new_times = TimesOf(new_item.get());
    has_times = new_times.has_value();
    ts = has_times ? new_times->ts : 0;
    has_ttl = has_times && new_times->ttl.has_value();
    ttl = has_ttl ? *new_times->ttl : 0;
    has_more = has_times && (new_times->expire_at.has_value() || new_times->touch_time != 0);
    item = std::move(new_item);
  }

  std::optional<ItemTimes> times() const {
    if (!has_times) return std::nullopt;
    // Most items do not, so it is not worth space in the cache line that all lookups read.
    if (has_more) return item->version.times;
    return ItemTimes{ts, has_ttl ? std::optional(ttl) : std::nullopt};
  }

  // The overheads of the heap, the hash table, the clock and the shared record are
  // estimated.
  size_t Bytes() const {
    constexpr size_t kOverhead = sizeof(Entry) + 64;
    const size_t item_bytes =
        item == nullptr
            ? 0
            : sizeof(StoredItem) + 32 + item->version.etag.size() + item->last_error.size();
    return kOverhead + key_size + item_bytes;
  }

  const uint64_t hash;
  int64_t ts = 0;
  int64_t ttl = 0;
  bool has_times = false;
  bool has_ttl = false;
  bool has_more = false;  // an expire_at or a touch
  bool used = false;      // since the hand passed
  const uint32_t key_size;
  StoredItemPtr item;

 private:
  Entry(size_t size, uint64_t hash_of_key)
      : hash(hash_of_key), key_size(static_cast<uint32_t>(size)) {}
};

namespace {

uint64_t HashOf(absl::string_view key) { return absl::Hash<absl::string_view>()(key); }

}  // namespace

void RecordCache::Free::operator()(Entry* entry) const {
  entry->~Entry();
  ::operator delete(entry);
}

RecordCache::RecordCache(size_t capacity_bytes) : shard_capacity_bytes_(capacity_bytes / kShards) {}
RecordCache::~RecordCache() = default;

// By the upper bits: the hash table of the shard uses the lower ones.
size_t RecordCache::ShardOf(uint64_t hash) { return (hash >> 40) % kShards; }

std::optional<StoredItemPtr> RecordCache::Find(absl::string_view key, Ticket& ticket) {
  ticket.hash = HashOf(key);
  Shard& shard = shards_[ShardOf(ticket.hash)];
  const MutexLock lock(shard.mutex);
  const auto it = shard.by_hash.find(ticket.hash);
  if (it == shard.by_hash.end() || it->second->key() != key) {
    ++shard.misses;
    ticket.puts = shard.puts;
    return std::nullopt;
  }
  ++shard.hits;
  it->second->used = true;
  return it->second->item;
}

void RecordCache::FindTimes(absl::Span<Lookup> lookups) {
  for (size_t first = 0; first < lookups.size(); first += kMaxTogether) {
    const absl::Span<Lookup> together = lookups.subspan(first, kMaxTogether);
    FindTimesTogether(together);
    NoteMisses(together);
  }
}

void RecordCache::FindTimesTogether(absl::Span<Lookup> lookups) {
  std::array<size_t, kShards + 1> ends = {};  // of each shard's part, shifted by one
  for (Lookup& lookup : lookups) {
    lookup.ticket.hash = HashOf(lookup.key);
    ++ends[ShardOf(lookup.ticket.hash) + 1];
  }
  for (size_t shard = 0; shard < kShards; ++shard) ends[shard + 1] += ends[shard];
  std::array<Lookup*, kMaxTogether> by_shard;
  std::array<size_t, kShards + 1> next = ends;
  for (Lookup& lookup : lookups) by_shard[next[ShardOf(lookup.ticket.hash)]++] = &lookup;
  for (size_t i = 0; i < kShards; ++i) {
    if (ends[i] == ends[i + 1]) continue;
    Shard& shard = shards_[i];
    const MutexLock lock(shard.mutex);
    FindTimesInShard(shard, absl::MakeConstSpan(by_shard.data() + ends[i], ends[i + 1] - ends[i]));
  }
}

void RecordCache::FindTimesInShard(Shard& shard, absl::Span<Lookup* const> lookups) {
  for (const Lookup* lookup : lookups) shard.by_hash.prefetch(lookup->ticket.hash);
  std::array<Entry*, kMaxTogether> entries;
  for (size_t i = 0; i < lookups.size(); ++i) {
    const auto it = shard.by_hash.find(lookups[i]->ticket.hash);
    entries[i] = it == shard.by_hash.end() ? nullptr : it->second;
    if (entries[i] == nullptr) continue;
    const char* const entry = reinterpret_cast<const char*>(entries[i]);
    __builtin_prefetch(entry);
    __builtin_prefetch(entry + ABSL_CACHELINE_SIZE);
  }
  int64_t misses = 0;
  for (size_t i = 0; i < lookups.size(); ++i) {
    Lookup& lookup = *lookups[i];
    Entry* entry = entries[i];
    lookup.known = entry != nullptr && entry->key() == lookup.key;
    if (!lookup.known) {
      ++misses;
      lookup.ticket.puts = shard.puts;
      continue;
    }
    entry->used = true;
    lookup.times = entry->times();
  }
  shard.misses += misses;
  shard.hits += static_cast<int64_t>(lookups.size()) - misses;
}

// A load and a store instead of an exchange, which would wait for the memory of each before it
// continues with the next. A note that another thread overwrites only delays an offer.
void RecordCache::NoteMisses(absl::Span<Lookup> lookups) {
  for (Lookup& lookup : lookups) {
    if (lookup.known) continue;
    const auto part = static_cast<uint32_t>(lookup.ticket.hash >> 32);
    std::atomic<uint32_t>& last = misses_[lookup.ticket.hash % kMisses];
    lookup.missed_again = last.load(std::memory_order_relaxed) == part;
    last.store(part, std::memory_order_relaxed);
  }
}

void RecordCache::Offer(absl::string_view key, StoredItemPtr item, const Ticket& ticket) {
  Shard& shard = shards_[ShardOf(ticket.hash)];
  const MutexLock lock(shard.mutex);
  if (shard.puts == ticket.puts) Store(shard, key, ticket.hash, std::move(item));
}

void RecordCache::Put(absl::string_view key, StoredItemPtr item) {
  const uint64_t hash = HashOf(key);
  Shard& shard = shards_[ShardOf(hash)];
  const MutexLock lock(shard.mutex);
  ++shard.puts;
  Store(shard, key, hash, std::move(item));
}

void RecordCache::Store(Shard& shard, absl::string_view key, uint64_t hash, StoredItemPtr item) {
  const auto it = shard.by_hash.find(hash);
  if (it != shard.by_hash.end() && it->second->key() == key) {
    shard.bytes -= it->second->Bytes();
    it->second->Set(std::move(item));
    shard.bytes += it->second->Bytes();
  } else {
    EntryPtr entry = Entry::Make(key, hash);
    entry->Set(std::move(item));
    Insert(shard, std::move(entry));
  }
  while (shard.bytes > shard_capacity_bytes_ && !shard.clock.empty()) EvictOne(shard);
}

void RecordCache::Insert(Shard& shard, EntryPtr entry) {
  shard.by_hash[entry->hash] = entry.get();
  shard.bytes += entry->Bytes();
  shard.clock.push_back(std::move(entry));
}

void RecordCache::EvictOne(Shard& shard) {
  while (true) {
    if (shard.hand >= shard.clock.size()) shard.hand = 0;
    EntryPtr& entry = shard.clock[shard.hand];
    if (std::exchange(entry->used, false)) {
      ++shard.hand;
      continue;
    }
    shard.bytes -= entry->Bytes();
    const auto it = shard.by_hash.find(entry->hash);
    // Unless a later key with the same hash has replaced it.
    if (it != shard.by_hash.end() && it->second == entry.get()) shard.by_hash.erase(it);
    entry = std::move(shard.clock.back());
    shard.clock.pop_back();
    return;
  }
}

void RecordCache::Clear() {
  for (Shard& shard : shards_) {
    const MutexLock lock(shard.mutex);
    ++shard.puts;
    shard.by_hash.clear();
    shard.clock.clear();
    shard.bytes = 0;
  }
}

size_t RecordCache::SizeBytes() const { return static_cast<size_t>(Figures().bytes); }

CacheFigures RecordCache::Figures() const {
  CacheFigures figures;
  figures.capacity_bytes = static_cast<int64_t>(shard_capacity_bytes_ * kShards);
  for (const Shard& shard : shards_) {
    const MutexLock lock(shard.mutex);
    figures.hits += shard.hits;
    figures.misses += shard.misses;
    figures.entries += static_cast<int64_t>(shard.clock.size());
    figures.bytes += static_cast<int64_t>(shard.bytes);
  }
  return figures;
}

}  // namespace ttl
