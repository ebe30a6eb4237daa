#ifndef TTL_SERVICE_STORAGE_COMMIT_UNANNOUNCED_MARKS_H_
#define TTL_SERVICE_STORAGE_COMMIT_UNANNOUNCED_MARKS_H_

#include "service/core/feed/feed_state.h"
#include "service/storage/commit/due_changes.h"
#include "service/storage/commit/low_water_marks.h"
#include "service/storage/format/stored_item.h"

namespace ttl {

// Whether the expiry of the item is to be announced, once it comes, by the feed of its container.
// That of an item whose state is unknown is not.
inline bool IsUnannounced(const FeedState& feed, const StoredItem& item) {
  return !item.state_unknown && !feed.IsAnnounced(item.expired_sequence);
}

// What the scans for unannounced expiries (unannounced_items.h) have passed, in containers with a
// feed. Unlike the marks of the sweep, these pass items that are announced and still stored, so
// that a backlog of deletes is not walked again. The scans raise them; a commit that leaves an item
// unannounced, at another place than before or after it was announced, lowers them. Thread-safe.
struct UnannouncedMarks {
  LowWaterMarks expiries;  // before them: no entry of an item whose expiry is unannounced
  LowWaterMarks notices;   // before them: nor of one whose coming expiry is
  // The containers in which something may have to be announced earlier than known before, or whose
  // settings have changed.
  DueChanges changes;

  void Forget(uint64_t index) {
    expiries.Forget(index);
    notices.Forget(index);
  }
  void Clear() {
    expiries.Clear();
    notices.Clear();
  }
};

}  // namespace ttl

#endif  // TTL_SERVICE_STORAGE_COMMIT_UNANNOUNCED_MARKS_H_
