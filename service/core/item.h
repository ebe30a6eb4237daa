#ifndef TTL_SERVICE_CORE_ITEM_H_
#define TTL_SERVICE_CORE_ITEM_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "service/core/ttl_rules.h"

namespace ttl {

// Longest parts of a key and longest etag, in bytes.
inline constexpr size_t kMaxPartitionKeyBytes = 2048;
inline constexpr size_t kMaxIdBytes = 1023;
inline constexpr size_t kMaxEtagBytes = 128;

// Identity of an item inside its container.
struct ItemKey {
  std::string partition_key;
  std::string id;

  friend bool operator==(const ItemKey&, const ItemKey&) = default;
  friend auto operator<=>(const ItemKey&, const ItemKey&) = default;
  template <typename H>
  friend H AbslHashValue(H h, const ItemKey& key) {
    return H::combine(std::move(h), key.partition_key, key.id);
  }
};

// One version of an item, as the primary store reports it.
struct ItemVersion {
  ItemTimes times;
  std::string etag;                  // opaque; empty if the store has none
  std::optional<uint64_t> sequence;  // the store's own order
  int64_t size_bytes = 0;

  friend bool operator==(const ItemVersion&, const ItemVersion&) = default;
};

// Order of two reports of one key: by sequence where both have one, else by
// `_ts`; at a tie the later report wins. Returns whether a report with
// (ts, sequence) is older than the tracked version.
inline bool IsOlderReport(int64_t ts, std::optional<uint64_t> sequence,
                          const ItemVersion& tracked) {
  if (sequence.has_value() && tracked.sequence.has_value()) return *sequence < *tracked.sequence;
  return ts < tracked.times.ts;
}

// What is tracked of one item.
struct TrackedItem {
  ItemVersion version;
  // Counts the reports applied to the key; tells whether a report came between
  // two looks.
  uint64_t generation = 0;
  // Failed tries to delete this version, and why the last one failed.
  int32_t attempts = 0;
  std::string last_error;
  // The time at which the next try is due, Unix seconds, after a failed one.
  std::optional<int64_t> retry_time;
  // Until when it waits because it was adopted when it was already due, Unix seconds; 0: it
  // does not. See adoption.h.
  int64_t adopted_until = 0;
  // The store epoch in which this version was reported: how often the store had been
  // confirmed by then.
  uint64_t store_epoch = 0;
  // The store said that this version is not what it has, but not what it has
  // instead: the item counts as untracked until the next report.
  bool state_unknown = false;
};

}  // namespace ttl

#endif  // TTL_SERVICE_CORE_ITEM_H_
