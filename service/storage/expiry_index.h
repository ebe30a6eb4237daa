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
class ItemReader;
class LowWaterMarks;
struct StoredItem;

// An item that may be deleted, as found.
struct DueItem {
  ItemKey key;
  TrackedItem item;
  int64_t due_time = 0;
};

// Bounds of one scan.
struct ScanLimits {
  size_t max_due = 0;       // due items to return
  size_t max_examined = 0;  // index entries to look at
  // Whether to ignore the low-water marks: the occasional net under them.
  bool from_the_beginning = false;
};

// What one scan found.
struct DueScan {
  // The longest waiting first; one that was tried before waits since the time of its next try.
  std::vector<DueItem> due;
  // Entries that stand too early (their item was re-written) or for nothing;
  // to be given to Tidy().
  std::vector<IndexEntry> early;
  // Due entries passed over because their items could not be read. Those at the front whose
  // data is damaged are passed over by later scans as well, but for those from the beginning.
  int64_t unreadable = 0;
  // Whether a limit ended the scan before all that is due was seen.
  bool more = false;
};

// What became of one delete, as far as storage is concerned.
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
  ItemVersion current;  // kModified
  // When the next try is due, Unix seconds: of kStateUnknown and kRetryLater, and of kModified
  // if what it was modified to is expired as well.
  std::optional<int64_t> retry_time;
  bool counts_as_attempt = false;  // with a retry_time: one more failed try
  std::string error;               // with a retry_time: why
};

// Due, undeleted entries of a container at one moment.
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

// Some stuck items, in the order of (next try, key).
struct StuckPage {
  // Where a page ends: the last entry looked at.
  struct Position {
    int64_t next_try_time = 0;
    ItemKey key;
  };
  std::vector<StuckItem> items;
  std::optional<Position> next;  // where to go on; absent at the end
};

// The expiry indexes: finding what is due, and bringing the outcome of deletes
// home. Thread-safe; scans of one container are to be made by one thread.
// Errors as in Items.
class ExpiryIndex {
 public:
  ExpiryIndex(const Database& database, const ItemReader& reader, LowWaterMarks& marks,
              CommitQueue& queue);

  // Earliest time, Unix seconds, at which anything of `container` may be due;
  // absent if nothing is. Costs no look at the disk; may be too early.
  std::optional<int64_t> NextDueTime(const Container& container, const DueRule& rule) const;

  // Finds items due at `now_seconds`. Costs what is due, not what is stored.
  absl::StatusOr<DueScan> ScanDue(const Container& container, const DueRule& rule,
                                  int64_t now_seconds, const ScanLimits& limits);

  // The time at which the longest due item of `container` became due, Unix seconds;
  // absent if nothing is due, or nothing that became due since kFirstSoundTime. Looks at a bounded
  // number of entries of each family: where so many from the front stand too early, what is behind
  // them may be due since the last one's time at the earliest, and that is the answer; of items
  // that wait for another try only as many count.
  absl::StatusOr<std::optional<int64_t>> OldestDueTime(const Container& container,
                                                       const DueRule& rule,
                                                       int64_t now_seconds) const;

  // Whether items of `container` may wait for their next try. Costs no look at the disk.
  bool MayHaveRetries(const Container& container) const;

  // Whether an item of `container` that is due waits for its next try. Looks at a bounded number
  // of items that wait, the first ones, and at none where none does.
  absl::StatusOr<bool> HasRetries(const Container& container, const DueRule& rule,
                                  int64_t now_seconds) const;

  // Counts due entries, at most `limit`. For the status, not for the sweep.
  absl::StatusOr<Backlog> CountDue(const Container& container, const DueRule& rule,
                                   int64_t now_seconds, size_t limit) const;

  // At most `limit` items with failed tries, those after `after` only. The work is
  // bounded, so a page may be short, or empty, and still have a next one.
  absl::StatusOr<StuckPage> ListStuck(const Container& container,
                                      const std::optional<StuckPage::Position>& after,
                                      size_t limit) const;

  // Moves entries to where their items belong now, and drops those that stand
  // for nothing. Upkeep: costs no delete budget. Answers how many changed.
  void Tidy(uint64_t container, std::vector<IndexEntry> entries, Done<int64_t> done);

  // Applies outcomes, each only if no report came for the item since it was
  // judged. Goes before reports and has a reserved place. Answers how many were
  // applied.
  void ApplyOutcomes(uint64_t container, std::vector<DeleteReport> reports, Done<int64_t> done);

 private:
  absl::Status ScanFamily(const Container& container, const DueRule& rule, IndexFamily family,
                          int64_t now_seconds, const ScanLimits& limits, DueScan& scan);
  using ReadItems = std::vector<absl::StatusOr<std::shared_ptr<const StoredItem>>>;
  bool PassDamaged(uint64_t index, const std::vector<IndexEntry>& entries, const ReadItems& items);
  static size_t JudgeEntries(const Container& container, const DueRule& rule, int64_t now_seconds,
                             std::vector<IndexEntry> entries, const ReadItems& items,
                             DueScan& scan);
  absl::StatusOr<std::optional<int64_t>> OldestOfFamily(const Container& container,
                                                        const DueRule& rule, IndexFamily family,
                                                        int64_t now_seconds) const;
  absl::Status CountFamily(const Container& container, const DueRule& rule, IndexFamily family,
                           int64_t now_seconds, size_t limit, Backlog& backlog) const;

  const Database& database_;
  const ItemReader& reader_;
  LowWaterMarks& marks_;
  CommitQueue& queue_;
};

}  // namespace ttl

#endif  // TTL_SERVICE_STORAGE_EXPIRY_INDEX_H_
