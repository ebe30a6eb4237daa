#ifndef TTL_SERVICE_STORAGE_COMMIT_TALLIES_H_
#define TTL_SERVICE_STORAGE_COMMIT_TALLIES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "service/base/mutex.h"
#include "service/core/item_histogram.h"
#include "service/core/tally_view.h"
#include "service/storage/format/stored_item.h"

namespace ttl {

class Catalog;
class Database;

// The number of items of each container and their distribution over time. The totals are stored,
// and change in the same batch as the items. The distributions are in memory and are counted anew
// after a start, by a walk over the items in key order that the housekeeper makes step by step;
// until then a change of an item counts only if the walk has passed its key. Only the committer
// writes, except for Load(), which must run while nothing is committed. Thread-safe.
class Tallies {
 public:
  // A larger reported size counts as this, so that sums do not overflow.
  static constexpr int64_t kMaxItemBytes = int64_t{1} << 40;

  // Reads the totals of all containers in the catalog, replacing everything known before;
  // distributions start again. Totals that are missing, because older versions stored none, or
  // unreadable are counted by the walk. Returns the error of the database.
  absl::Status Load(const Database& database, const Catalog& catalog);

  // For a container that does not exist: empty and not complete.
  TallyView View(uint64_t container) const;

  // The figures of a container, at a bounded cost and without copying the distribution.
  struct Figures {
    ItemSum tracked;
    ItemEstimate due;     // by the rule that was given, of the items counted so far
    int64_t failing = 0;  // items whose delete has failed and is tried again, of those
    AdoptionTally adopted;
    bool complete = false;
  };
  Figures FiguresOf(uint64_t container, const DueRule& rule, int64_t now_seconds) const;

  // The items of a container by when they expire and by when they become due, at a bounded cost and
  // without copying the distribution; see ItemHistogram::CountDueSteps().
  struct Forecast {
    std::vector<ItemEstimate> expiring;  // one for each of `expiry`
    std::vector<ItemEstimate> due;       // one for each of `due`
    ItemSum tracked;
    AdoptionTally adopted;
    bool complete = false;  // whether the first two cover all items
  };
  Forecast ForecastOf(uint64_t container, absl::Span<const DueMoment> expiry,
                      absl::Span<const DueMoment> due) const;

  // View().adopted alone.
  AdoptionTally Adopted(uint64_t container) const;

  // FiguresOf().failing alone.
  int64_t Failing(uint64_t container) const;

  // The items of a container that are set aside because they are held, of those counted so far.
  int64_t SetAside(uint64_t container) const;

  // The items of a container that are set aside until gates pass their EXPIRED, of those counted so
  // far.
  int64_t Gated(uint64_t container) const;

  // The items of a container whose EXPIRED was logged and has not ended, of those counted so far.
  int64_t Announced(uint64_t container) const;

  // View().tracked alone.
  ItemSum Tracked(uint64_t container) const;

  // The progress of the walk of a container: items up to and including this encoded key, which may
  // be empty, are counted. Absent if all are, or if there is no such container.
  std::optional<std::string> WalkPosition(uint64_t container) const;

  // The first `most` containers, by number, from `from` on, whose walk is not finished.
  std::vector<uint64_t> FindIncomplete(uint64_t from, size_t most) const;

  // One step of the walk: the items after WalkPosition() up to and including `reached`, as they
  // were before this commit.
  struct WalkStep {
    ItemHistogram items;
    int64_t failing = 0;  // see Figures
    int64_t set_aside = 0;
    int64_t gated = 0;
    int64_t announced = 0;
    std::string reached;
    bool finished = false;  // there are no more
  };

  // One item before and after a commit; null: no item.
  struct ItemChange {
    absl::string_view key;  // encoded
    const StoredItem* before = nullptr;
    const StoredItem* after = nullptr;
  };

  // The changes of one commit to one container.
  struct Change {
    bool erased = false;                      // the container is gone
    const WalkStep* step = nullptr;           // goes before the items; null for none
    std::optional<uint64_t> index;            // the container's, 0 for none; absent: unchanged
    std::optional<uint64_t> announced_after;  // see AnnouncedAfter(); absent: unchanged
    std::vector<ItemChange> items;
  };
  using Changes = absl::flat_hash_map<uint64_t, Change>;

  // The totals of a container after `change`; absent if the stored record does not change, also
  // because the totals are unknown until the walk ends.
  std::optional<ContainerTotals> TotalsAfter(uint64_t container, const Change& change) const;

  // Makes the changes visible, after the write. A container that was not known is added.
  void Publish(const Changes& changes);

  // Adds an item to the tally of its container.
  static void AddTo(ItemHistogram& tally, const StoredItem& item);
  // Whether its delete has failed and is tried again, which is not so while it is set aside.
  static bool IsFailing(const StoredItem& item) {
    return item.attempts > 0 && item.position.family != IndexFamily::kHeld &&
           item.position.family != IndexFamily::kGated;
  }
  // `index` is the present index of its container, 0 for none.
  static bool IsSetAside(const StoredItem& item, uint64_t index) {
    return IsIn(IndexFamily::kHeld, item, index);
  }
  static bool IsGated(const StoredItem& item, uint64_t index) {
    return IsIn(IndexFamily::kGated, item, index);
  }
  // Items of the container that name an EXPIRED with a larger sequence are announced; it is the
  // largest number if it has no feed.
  static uint64_t AnnouncedAfter(const Container& container);
  static bool IsAnnounced(const StoredItem& item, uint64_t announced_after) {
    return item.expired_sequence > announced_after;
  }

 private:
  static bool IsIn(IndexFamily family, const StoredItem& item, uint64_t index) {
    return item.position.family == family && index != 0 && item.position.index == index;
  }

  struct Entry {
    std::optional<ItemSum> totals;  // absent until counted
    AdoptionTally adopted;
    ItemHistogram histogram;
    int64_t failing = 0;
    uint64_t index = 0;            // the container's present one
    int64_t set_aside = 0;         // in that
    int64_t gated = 0;             // in that
    uint64_t announced_after = 0;  // see AnnouncedAfter()
    int64_t announced = 0;
    std::optional<std::string> walked;  // absent: all
  };
  static void Apply(const Change& change, Entry& entry);

  mutable Mutex mutex_;
  absl::flat_hash_map<uint64_t, Entry> entries_ ABSL_GUARDED_BY(mutex_);
  absl::btree_set<uint64_t> incomplete_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace ttl

#endif  // TTL_SERVICE_STORAGE_COMMIT_TALLIES_H_
