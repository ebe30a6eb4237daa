#ifndef TTL_SERVICE_STORAGE_EXPIRY_INDEX_H_
#define TTL_SERVICE_STORAGE_EXPIRY_INDEX_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "service/base/done.h"
#include "service/core/container.h"
#include "service/core/due_rules.h"
#include "service/core/item.h"
#include "service/storage/format/index_entry.h"

namespace ttl {

class CommitQueue;
class Database;
class FeedLog;
class ItemReader;
class LowWaterMarks;
struct StoredItem;

// An item that may be deleted, as found by a scan.
struct DueItem {
  ItemKey key;
  TrackedItem item;
  // Or when the last of its holds ended, or the gates passed its EXPIRED, if that was later.
  int64_t due_time = 0;
};

// Bounds of one scan.
struct ScanLimits {
  size_t max_due = 0;       // due items to return
  size_t max_examined = 0;  // index entries to look at
  // Whether to ignore the low-water marks, as an occasional fallback in case they are wrong.
  bool from_the_beginning = false;
};

// The result of a scan.
struct DueScan {
  // Ordered by waiting time, longest first. An item that was tried before waits since the time of
  // its next try.
  std::vector<DueItem> due;
  // Entries that are too early, because their item was rewritten, or that no item names. To be
  // passed to Tidy().
  std::vector<IndexEntry> early;
  // Due entries skipped because their items could not be read. Damaged items at the front are
  // skipped by later scans too, except by those from the beginning.
  int64_t unreadable = 0;
  // Whether the scan ended at a limit before it had seen all due entries.
  bool more = false;
};

// The outcome of one delete, as storage needs it.
struct DeleteReport {
  enum class Kind {
    kGone,          // deleted or not found: forget the item
    kModified,      // `current` is what the store has: adopt it, even if older
    kStateUnknown,  // modified, but the store did not say to what
    kRetryLater,    // leave the item, try again at `retry_time`
  };
  ItemKey key;
  uint64_t generation = 0;  // of the TrackedItem that was judged
  Kind kind = Kind::kGone;
  bool deleted = false;  // with kGone: the store has deleted it; else it did not have it any more
  ItemVersion current;   // kModified
  // When the next try is due, Unix seconds: for kStateUnknown and kRetryLater, and for kModified if
  // the present version is expired as well.
  std::optional<int64_t> retry_time;
  bool counts_as_attempt = false;  // with a retry_time: one more failed try
  std::string error;               // with a retry_time: why
  // For the feed: of the version that was judged. A delete is logged for it, even if a newer report
  // came since.
  ItemTimes times = {};
  uint64_t expired_sequence = 0;
  int64_t lateness_seconds = 0;  // of the delete, since the item could first have been deleted
};

// The due, undeleted entries of a container at one moment.
struct Backlog {
  int64_t count = 0;
  bool is_lower_bound = false;             // counting stopped at its limit
  std::optional<int64_t> oldest_due_time;  // of those due since kFirstSoundTime
};

// An item whose delete has failed.
struct StuckItem {
  ItemKey key;
  int32_t attempts = 0;
  std::string last_error;
  int64_t next_try_time = 0;  // Unix seconds
};

// A page of stuck items, in the order of (next try, key).
struct StuckPage {
  // Where a page ends: the last entry examined.
  struct Position {
    int64_t next_try_time = 0;
    ItemKey key;
  };
  std::vector<StuckItem> items;
  std::optional<Position> next;  // where to go on; absent at the end
};

// The expiry indexes: finds due items, and applies the outcomes of deletes. Thread-safe, but scans
// of one container must be made by one thread. Errors as in Items.
class ExpiryIndex {
 public:
  ExpiryIndex(const Database& database, const ItemReader& reader, LowWaterMarks& marks,
              const FeedLog& feed_log, CommitQueue& queue);

  // The earliest time, Unix seconds, at which any item of `container` may be due; absent if there
  // is none. Reads nothing from disk. May be too early, never too late.
  std::optional<int64_t> NextDueTime(const Container& container, const DueRule& rule) const;

  // Finds items that are due at `now_seconds`. The cost depends on what is due, not on what is
  // stored, nor on what is set aside. Of a container with gates, some that are found may not have
  // been passed (Feed::Gates()).
  absl::StatusOr<DueScan> ScanDue(const Container& container, const DueRule& rule,
                                  int64_t now_seconds, const ScanLimits& limits);

  // The time, Unix seconds, at which the item that has been due for longest became due; absent if
  // no item is due that became due since kFirstSoundTime. Examines a bounded number of entries of
  // each family. If all of these are too early, the answer is a lower bound: the time of the last
  // one examined, because items behind it cannot have been due for longer. Of the items that wait
  // for another try only those examined count.
  absl::StatusOr<std::optional<int64_t>> OldestDueTime(const Container& container,
                                                       const DueRule& rule,
                                                       int64_t now_seconds) const;

  // Whether items of `container` may wait for their next try. Reads nothing from disk.
  bool MayHaveRetries(const Container& container) const;

  // Whether a due item of `container` waits for its next try. Examines a bounded number of the
  // waiting items, from the first on, and reads nothing if there are none.
  absl::StatusOr<bool> HasRetries(const Container& container, const DueRule& rule,
                                  int64_t now_seconds) const;

  // Counts due entries, at most `limit`. For the status, not for the sweep.
  absl::StatusOr<Backlog> CountDue(const Container& container, const DueRule& rule,
                                   int64_t now_seconds, size_t limit) const;

  // At most `limit` items with failed tries, only those behind `after`. The work is bounded, so a
  // page may be short, or empty, and still have a next one.
  absl::StatusOr<StuckPage> ListStuck(const Container& container,
                                      const std::optional<StuckPage::Position>& after,
                                      size_t limit) const;

  // Moves entries to the present position of their items, and erases those that no item names.
  // Maintenance: costs no delete budget. Answers the number of changed entries.
  void Tidy(uint64_t container, std::vector<IndexEntry> entries, Done<int64_t> done);

  // The same for entries of items that are live, which it moves to where they are found when they
  // expire. An adopted item goes on waiting, which a scan for due items looks at in any family.
  void FileByExpireTime(uint64_t container, std::vector<IndexEntry> entries, Done<int64_t> done);

  // Applies outcomes, each only if no report arrived for the item since it was judged. Goes before
  // reports in the commit queue. Answers the number applied.
  void ApplyOutcomes(uint64_t container, std::vector<DeleteReport> reports, Done<int64_t> done);

 private:
  struct Search;  // for what is due in one container, at one moment
  Search SearchIn(const Container& container, const DueRule& rule, int64_t now_seconds) const;
  absl::Status ScanFamily(const Search& search, IndexFamily family, const ScanLimits& limits,
                          DueScan& scan);
  using ReadItems = std::vector<absl::StatusOr<std::shared_ptr<const StoredItem>>>;
  bool PassDamaged(uint64_t index, const std::vector<IndexEntry>& entries, const ReadItems& items);
  static size_t JudgeEntries(const Search& search, std::vector<IndexEntry> entries,
                             const ReadItems& items, DueScan& scan);
  absl::StatusOr<std::optional<int64_t>> OldestOfFamily(const Search& search,
                                                        IndexFamily family) const;
  absl::Status CountFamily(const Search& search, IndexFamily family, size_t limit,
                           Backlog& backlog) const;

  const Database& database_;
  const ItemReader& reader_;
  LowWaterMarks& marks_;
  const FeedLog& feed_log_;
  CommitQueue& queue_;
};

}  // namespace ttl

#endif  // TTL_SERVICE_STORAGE_EXPIRY_INDEX_H_
