#ifndef TTL_SERVICE_STORAGE_FORMAT_STORED_ITEM_H_
#define TTL_SERVICE_STORAGE_FORMAT_STORED_ITEM_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "service/core/adoption.h"
#include "service/core/container.h"
#include "service/core/item.h"
#include "service/storage/format/index_entry.h"

namespace ttl {

// Where an item says that its index entry is. A claim under an index that is not
// its container's means that it has none.
struct IndexClaim {
  uint64_t index = 0;
  IndexFamily family = IndexFamily::kExpireTime;
  int64_t time = 0;

  friend bool operator==(const IndexClaim&, const IndexClaim&) = default;
};

// An item as it is stored.
struct StoredItem {
  ItemVersion version;
  uint64_t generation = 0;
  IndexClaim claim;
  int32_t attempts = 0;
  std::string last_error;
  bool state_unknown = false;
  int64_t adopted_until = 0;  // see TrackedItem
  uint64_t store_epoch = 0;   // in which the version was reported
};

// Shared with the record cache; null means that there is no such item.
using StoredItemPtr = std::shared_ptr<const StoredItem>;

// Whether a report of (ts, sequence), made in store epoch `epoch`, is older than what is stored.
// One of a later epoch never is: the store may have gone back since.
bool IsOlder(uint64_t epoch, int64_t ts, std::optional<uint64_t> sequence,
             const StoredItem& stored);

// The item as the next report leaves it, without its claim; `before` may be null.
StoredItem NextVersion(const StoredItemPtr& before, const ItemVersion& version);

// The same for a report of the store's, which may adopt the item. One that is adopted again
// while it waits waits no longer than before, and one that is tracked already in this version
// is not adopted.
StoredItem NextReported(const Container& container, const AdoptionTerms& terms,
                        const StoredItemPtr& before, const ItemVersion& version);

// The item as the other layers see it.
TrackedItem ToTracked(const StoredItem& stored);

// What visibility needs of an item; absent if there is none (null), or if what is
// stored is known to be wrong.
std::optional<ItemTimes> TimesOf(const StoredItem* item);

// Where in the index `index` an item belongs that has neither been tried nor is too early
// where it is; absent if it can never expire.
std::optional<IndexClaim> BelongsAt(uint64_t index, const StoredItem& item);

// Where in the index `index` an item waits that is to be tried again at `next_try`, Unix
// seconds; absent without an index.
std::optional<IndexClaim> RetryClaim(uint64_t index, int64_t next_try);

// The claim of an item whose entry stands at `present` (absent: nowhere) and
// which belongs at `wanted`: early, never late. An entry that is too early, by
// up to `max_earliness` seconds, stays where it is until the scan meets it, so that a
// busy item costs no index write; one that would be late, or in the wrong family, or
// in another index, is moved.
std::optional<IndexClaim> ChooseClaim(const std::optional<IndexClaim>& present,
                                      const std::optional<IndexClaim>& wanted,
                                      int64_t max_earliness);

// How many seconds an entry may be early where a write could move it: half of the
// item's time to live, or an hour if that is more or the item ends at its expire_at, whose
// distance from `_ts` says nothing about how often it is written. So an item written thirty times
// in its time to live costs an index write for one write in fifteen at most, and where nothing
// scans, none comes due before it has rested for half of its time to live.
int64_t MaxEarliness(const std::optional<int64_t>& default_ttl, const ItemTimes& times);

}  // namespace ttl

#endif  // TTL_SERVICE_STORAGE_FORMAT_STORED_ITEM_H_
