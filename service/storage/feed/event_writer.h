#ifndef TTL_SERVICE_STORAGE_FEED_EVENT_WRITER_H_
#define TTL_SERVICE_STORAGE_FEED_EVENT_WRITER_H_

#include <cstdint>
#include <optional>

#include "service/core/container.h"
#include "service/core/item.h"
#include "service/core/ttl_rules.h"
#include "service/storage/feed/feed_changes.h"
#include "service/storage/format/stored_item.h"

// The rules of the feed: which events a change of an item causes, in the commit of that change. An
// item is announced if the EXPIRED of its version was logged and has not ended; its record then has
// the sequence of that event. Expired means by the TTL rules, under the policy in force and at the
// judging time of the operation (FeedMoment); without one, no item is announced.
//
// All of these require that the container has a feed (FeedState::is_on).
namespace ttl {

// How the store has deleted an item on request of the sweep.
struct Purge {
  int64_t lateness_seconds = 0;   // since the item could first have been deleted
  uint64_t expired_sequence = 0;  // by which EXPIRED it was judged; 0: the item was not announced
};

// A report changes the item from `before` (null: there was none) to `after`. Ends the EXPIRED of
// another version by REPLACED, after announcing it if that was still to be done; and announces a
// version that is already expired when it is reported, as late. The same version keeps its marks,
// which this sets in `after`; if its state was unknown it is revived if it lives, and replaced if
// nothing may be judged.
void LogReported(FeedChanges& changes, const Container& container, const ItemKey& key,
                 const StoredItem* before, StoredItem& after);

// The item is erased. Ends its EXPIRED, after announcing it if that was still to be done: by PURGED
// if the store has deleted it on request of the sweep; by GONE if `purge` is absent. An item of
// unknown state is announced only if it is purged.
void LogErased(FeedChanges& changes, const Container& container, const ItemKey& key,
               const StoredItem& before, const std::optional<Purge>& purge);

// The store has deleted a version that was replaced by a newer report since it was judged: PURGED,
// which ends nothing.
void LogSuperseded(FeedChanges& changes, const Container& container, const ItemKey& key,
                   const ItemTimes& times, const Purge& purge);

// The store has deleted the version of an announced item that was reported again as it is since it
// was judged, perhaps because it was written again. So it stays tracked: PURGED, and it counts as
// not announced. Returns whether it was announced.
bool LogPurged(FeedChanges& changes, const Container& container, const ItemKey& key,
               StoredItem& item, const Purge& purge);

// Announces the item if it is expired and not announced: EXPIRED, and marks it. Returns whether it
// did.
bool LogExpired(FeedChanges& changes, const Container& container, const ItemKey& key,
                StoredItem& item, bool late);

// Announces an expired item for the gates of its container, though it may be announced already or
// its state be unknown: EXPIRED, which takes the place of one that some gate cannot read any more.
// That one has no end in the log. Returns whether it did.
bool LogExpiredAgain(FeedChanges& changes, const Container& container, const ItemKey& key,
                     StoredItem& item, bool late);

// Announces the item if it will expire within the notice of the container and was not announced so,
// or only with an end that was more than the notice away from the present one: EXPIRING, and marks
// it.
bool LogExpiring(FeedChanges& changes, const Container& container, const ItemKey& key,
                 StoredItem& item, bool late);

// If an announced item is not expired: REVIVED, and it counts as not announced.
bool LogRevived(FeedChanges& changes, const Container& container, const ItemKey& key,
                StoredItem& item);

// A touch makes the item, which lives now, count anew: an announced item is revived as above, and
// without a judging time its EXPIRED ends by REPLACED, because nothing would end it later. Returns
// whether it was announced.
bool TellTouched(FeedChanges& changes, const Container& container, const ItemKey& key,
                 StoredItem& item);

// The default_ttl was changed from `before` to that of `container`: POLICY_CHANGED.
void LogPolicyChange(FeedChanges& changes, const Container& container,
                     std::optional<int64_t> before);

// Events may be missing: RESYNC.
void LogResync(FeedChanges& changes, const Container& container);

}  // namespace ttl

#endif  // TTL_SERVICE_STORAGE_FEED_EVENT_WRITER_H_
