#ifndef TTL_SERVICE_STORAGE_FORMAT_STORED_ITEM_H_
#define TTL_SERVICE_STORAGE_FORMAT_STORED_ITEM_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "service/core/adoption.h"
#include "service/core/container.h"
#include "service/core/feed/feed_state.h"
#include "service/core/item.h"
#include "service/storage/format/index_entry.h"

namespace ttl {

// The position of an item's index entry, as its record states it. A position with another index
// than its container's means that it has no entry.
struct EntryPosition {
  uint64_t index = 0;
  IndexFamily family = IndexFamily::kExpireTime;
  int64_t time = 0;

  friend bool operator==(const EntryPosition&, const EntryPosition&) = default;
};

// An item as it is stored.
struct StoredItem {
  ItemVersion version;
  uint64_t generation = 0;
  EntryPosition position;
  int32_t attempts = 0;
  std::string last_error;
  bool state_unknown = false;
  int64_t adopted_until = 0;  // see TrackedItem
  uint64_t store_epoch = 0;   // in which the version was reported
  int64_t held_until = 0;     // Unix seconds: it is not late because of the time before; 0: none
  uint64_t expired_sequence = 0;    // see TrackedItem
  int64_t noticed_expire_time = 0;  // see TrackedItem; see also NoticedExpireTime()
  uint64_t noticed_sequence = 0;    // of the EXPIRING that announced it
};

// Shared with the record cache; null: no such item.
using StoredItemPtr = std::shared_ptr<const StoredItem>;

// Whether a report with (ts, sequence), made in store epoch `epoch`, is older than the stored
// version. A report of a later epoch never is, because the store may have returned to an older
// state since.
bool IsOlder(uint64_t epoch, int64_t ts, std::optional<uint64_t> sequence,
             const StoredItem& stored);

// Whether the item is among those that wait for their next try only because its hold has ended. It
// stands there, and not in the order of its due time, so that those that were due long before do
// not count as overdue.
bool IsReleased(const StoredItem& item);

// Expire time, Unix seconds, that the EXPIRING of this version announced in this feed, and not in
// one that was switched off; 0: none.
int64_t NoticedExpireTime(const FeedState& feed, const StoredItem& item);

// The item after the next report, without its position; `before` may be null. A touch stays: the
// countdown begins at the later of it and the new `_ts`.
StoredItem NextVersion(const StoredItemPtr& before, const ItemVersion& version);

// The same for a report of the store, which may adopt the item. An item that is adopted again while
// it waits does not wait for longer than before, and an item that is already tracked in this
// version is not adopted. One that `counts_as_touched`, because touches of it may be lost, is
// touched at the latest time that it may be, so that it may expire late and never early. That does
// not keep it from being adopted: it counts for the brake as without the touch, and waits until it
// is due again.
StoredItem NextReported(const Container& container, const AdoptionTerms& terms,
                        const StoredItemPtr& before, const ItemVersion& version,
                        bool counts_as_touched);

// The item touched at `touch_time`, Unix seconds; absent if it was touched then or later.
std::optional<StoredItem> CountedAsTouched(const StoredItem& item, int64_t touch_time);

// The item as other layers see it.
TrackedItem ToTracked(const StoredItem& stored);

// What visibility needs of an item; absent if there is none (null), or if its stored state is known
// to be wrong.
std::optional<ItemTimes> TimesOf(const StoredItem* item);

// The position in the index `index` to which an item belongs that was not tried; absent if it can
// never expire.
std::optional<EntryPosition> BelongsAt(uint64_t index, const StoredItem& item);

// The position in the index `index` of an item that is set aside under the hold with this number.
EntryPosition HeldPosition(uint64_t index, uint64_t hold);

// The position in the index `index` of an item that is set aside until the gates pass its EXPIRED,
// which has this sequence.
EntryPosition GatedPosition(uint64_t index, uint64_t expired_sequence);

// The item, whose container has the index `index`, is not announced any more: if it is set aside
// until gates pass its EXPIRED, it goes to where it belongs.
void LeaveGates(uint64_t index, StoredItem& item);

// The position in the index `index` of an item whose next try is at `next_try`, Unix seconds;
// absent without an index.
std::optional<EntryPosition> RetryPosition(uint64_t index, int64_t next_try);

// The position in the index `index` of an item whose hold has ended: at its `_ts`, at which no try
// fails, and not at the end of the hold, which a clock that was wrong then may have put far ahead.
EntryPosition ReleasedPosition(uint64_t index, const StoredItem& item);

// The position of an item whose entry is at `present` (absent: it has none) and which belongs at
// `wanted`. An entry may be early but never late: one that is too early by at most `max_earliness`
// seconds stays where it is until a scan moves it, so that a frequently written item costs no index
// writes. One that would be late, or in the wrong family or index, is moved, also one that
// is set aside: whether its item is due is to be judged again.
std::optional<EntryPosition> ChoosePosition(const std::optional<EntryPosition>& present,
                                            const std::optional<EntryPosition>& wanted,
                                            int64_t max_earliness);

// How many seconds an entry may be early before a write moves it: half of the item's time to live,
// or an hour if that is more or if the item ends at its expire_at, whose distance from `_ts` does
// not tell how often the item is written. So an item that is written thirty times in its time to
// live causes an index write for at most one write in fifteen; and where nothing scans, no entry
// becomes due before its item has not been written for half of its time to live.
int64_t MaxEarliness(const std::optional<int64_t>& default_ttl, const ItemTimes& times);

}  // namespace ttl

#endif  // TTL_SERVICE_STORAGE_FORMAT_STORED_ITEM_H_
