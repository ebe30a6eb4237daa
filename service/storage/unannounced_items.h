#ifndef TTL_SERVICE_STORAGE_UNANNOUNCED_ITEMS_H_
#define TTL_SERVICE_STORAGE_UNANNOUNCED_ITEMS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "service/core/container.h"
#include "service/core/item.h"
#include "service/storage/format/index_entry.h"

namespace ttl {

class Database;
class ItemReader;
class LowWaterMarks;
struct UnannouncedMarks;

// An item of which something is to be announced.
struct UnannouncedItem {
  ItemKey key;
  uint64_t generation = 0;  // see TrackedItem
  int64_t expire_time = 0;  // Unix seconds; of an item that is to be revived 0
};

// Bounds of one scan.
struct UnannouncedLimits {
  size_t max_items = 0;     // to return
  size_t max_examined = 0;  // index entries, or items, to look at
};

// The result of a scan.
struct UnannouncedScan {
  // To be announced. Whether they still are to be is judged again in the commit that announces
  // them.
  std::vector<UnannouncedItem> items;
  // Entries that are too early, or in a family that is not in the order of expiry though their item
  // is live, or that no item names. To be passed to
  // ExpiryIndex::FileByExpireTime().
  std::vector<IndexEntry> early;
  // Entries whose items could not be read because they are damaged.
  int64_t unreadable = 0;
  // Whether the scan ended at a limit before it had seen everything.
  bool more = false;
  // Of each family that was scanned: where the next scan begins once this one is dealt with.
  std::vector<std::pair<IndexFamily, IndexPlace>> reached;
  uint64_t generation = 0;  // of the marks when it began
};

// A page of items that were announced to be expired and are live.
struct RevivedPage {
  std::vector<UnannouncedItem> items;
  std::optional<ItemKey> next;  // the last item examined; absent at the end
};

// Finds the items of containers with a feed whose expiry, coming expiry or revival is not announced
// yet. Reads only; feed.h has the changes. Thread-safe, but scans of one container must be made by
// one thread. `now` is in Unix seconds. Errors: those of reads.
class UnannouncedItems {
 public:
  // `sweep` are the marks of the sweep. All arguments must outlive this.
  UnannouncedItems(const Database& database, const ItemReader& reader, const LowWaterMarks& sweep,
                   UnannouncedMarks& marks);

  // The earliest time, Unix seconds, at which an item may expire that is not announced; absent if
  // there is none. May be too early, never too late, except for items that were expired when they
  // were reported. Reads nothing from disk.
  std::optional<int64_t> NextExpiry(const Container& container) const;

  // The earliest time at which a coming expiry may have to be announced. As NextExpiry().
  std::optional<int64_t> NextNotice(const Container& container) const;

  // Whether ScanExpired() may find something, now or later, that NextExpiry() does not know of.
  bool HasOthers(const Container& container) const;

  // The items that are expired at `now` and not announced, without those whose state is unknown.
  // The cost depends on their number, not on that of the announced ones, which are examined once.
  absl::StatusOr<UnannouncedScan> ScanExpired(const Container& container, int64_t now,
                                              const UnannouncedLimits& limits);

  // The items that expire after `now` and within the notice, and whose end was not announced
  // before, or as one that differs by more than the notice. REQUIRES: ScanExpired() has found no
  // more.
  absl::StatusOr<UnannouncedScan> ScanExpiring(const Container& container, int64_t now,
                                               const UnannouncedLimits& limits);

  // All that the last ScanExpired() or ScanExpiring() of the container found was announced or
  // moved: later scans begin behind it.
  void PassExpired(const Container& container, const UnannouncedScan& scan);
  void PassExpiring(const Container& container, const UnannouncedScan& scan);

  // The next scans look at everything again: of a container whose feed or index is another, or
  // which has none any more (by the index that it had); or for notices only, because the policy or
  // the notice has changed.
  void Forget(uint64_t index);
  void ForgetNotices(uint64_t index);

  // Of the items behind `after`, in the order of their keys, those that were announced to be
  // expired and are live at `now`. Passed over are damaged items, and those whose state is unknown.
  absl::StatusOr<RevivedPage> FindRevived(const Container& container, int64_t now,
                                          const std::optional<ItemKey>& after,
                                          const UnannouncedLimits& limits) const;

 private:
  // What a scan looks for, by which marks.
  struct Search;
  absl::Status ScanFamily(const Container& container, const Search& search, IndexFamily family,
                          int64_t last_time, const UnannouncedLimits& limits, size_t& examined,
                          UnannouncedScan& scan);

  const Database& database_;
  const ItemReader& reader_;
  const LowWaterMarks& sweep_;
  UnannouncedMarks& marks_;
};

}  // namespace ttl

#endif  // TTL_SERVICE_STORAGE_UNANNOUNCED_ITEMS_H_
