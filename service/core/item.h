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

// Identity of an item within its container.
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

// Whether a report with (ts, sequence) is older than the tracked version: by sequence if both have
// one, else by `_ts`. On a tie the later report wins, so it is not older.
inline bool IsOlderReport(int64_t ts, std::optional<uint64_t> sequence,
                          const ItemVersion& tracked) {
  if (sequence.has_value() && tracked.sequence.has_value()) return *sequence < *tracked.sequence;
  return ts < tracked.times.ts;
}

// The tracked state of one item.
struct TrackedItem {
  ItemVersion version;
  // Counts the reports applied to the key. Tells whether a report arrived between two reads.
  uint64_t generation = 0;
  // Failed attempts to delete this version, and the error of the last one.
  int32_t attempts = 0;
  std::string last_error;
  // After a failed attempt: when the next one is due, Unix seconds.
  std::optional<int64_t> retry_time;
  // Until when the item waits because it was already due when it was adopted, Unix seconds; 0: it
  // does not wait. See adoption.h.
  int64_t adopted_until = 0;
  // The store epoch in which this version was reported: the number of times that the store had been
  // confirmed by then.
  uint64_t store_epoch = 0;
  // The store said that it has another version, but not which one: the item counts as untracked
  // until the next report.
  bool state_unknown = false;
  // Sequence of the EXPIRED that was logged for this version; 0: none. Counts only if
  // FeedState::IsAnnounced() says so.
  uint64_t expired_sequence = 0;
  // Expire time, Unix seconds, that the EXPIRING of this version announced; 0: none.
  int64_t noticed_expire_time = 0;
};

}  // namespace ttl

#endif  // TTL_SERVICE_CORE_ITEM_H_
