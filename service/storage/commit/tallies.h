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
#include "service/base/mutex.h"
#include "service/core/item_tally.h"
#include "service/core/tally_view.h"
#include "service/storage/format/stored_item.h"

namespace ttl {

class Catalog;
class Database;

// How many items each container has and how they spread over time. The totals are
// stored, and change in the same batch as the items. The spreads are in memory and
// are counted anew after a start, by a walk over the items in the order of their keys
// that the housekeeper takes step by step: meanwhile a change of an item counts only
// if the walk has passed its key. Written by the committer alone; but for Load(), which
// must run while nothing is committed. Thread-safe.
class Tallies {
 public:
  // An item counts with at most this size, whatever was reported: sums must not overflow.
  static constexpr int64_t kMaxItemBytes = int64_t{1} << 40;

  // Reads the totals of all containers in the catalog; spreads begin anew. In place of
  // all that was known. Totals that are missing, because older versions kept none, or
  // unreadable are found out by the walk.
  absl::Status Load(const Database& database, const Catalog& catalog);

  // Of a container that does not exist: nothing, and not complete.
  TallyView View(uint64_t container) const;

  // What figures show of a container: of a bounded cost, and without a copy of the spread.
  struct Figures {
    ItemSum tracked;
    ItemEstimate due;     // by the rule that was given, of the items counted so far
    int64_t failing = 0;  // items whose delete has failed and is tried again, of those
    AdoptionTally adopted;
    bool complete = false;
  };
  Figures FiguresOf(uint64_t container, const DueRule& rule, int64_t now_seconds) const;

  // View().adopted alone.
  AdoptionTally Adopted(uint64_t container) const;

  // FiguresOf().failing alone.
  int64_t Failing(uint64_t container) const;

  // View().tracked alone.
  ItemSum Tracked(uint64_t container) const;

  // Where the walk of a container stands: items at or before this encoded key, which may
  // be empty, are counted. Absent if all are, or if there is no such container.
  std::optional<std::string> WalkPosition(uint64_t container) const;

  // The first `most` containers, by number, not below `from`, whose walks are not at their
  // end.
  std::vector<uint64_t> FindIncomplete(uint64_t from, size_t most) const;

  // One step of the walk: the items after WalkPosition() up to and including `reached`,
  // as they were before this commit.
  struct WalkStep {
    ItemTally items;
    int64_t failing = 0;  // see Figures
    std::string reached;
    bool finished = false;  // there are no more
  };

  // One item before and after a commit; null where there is none.
  struct ItemChange {
    absl::string_view key;  // encoded
    const StoredItem* before = nullptr;
    const StoredItem* after = nullptr;
  };

  // What one commit changes of one container.
  struct Change {
    bool erased = false;             // the container is gone
    const WalkStep* step = nullptr;  // goes before the items; null for none
    std::vector<ItemChange> items;
  };
  using Changes = absl::flat_hash_map<uint64_t, Change>;

  // The totals of a container as `change` leaves them; absent if its record stays as it
  // is, also because the totals are not known before the end of the walk.
  std::optional<ContainerTotals> TotalsAfter(uint64_t container, const Change& change) const;

  // After the write: makes the changes visible. A container not known before is new.
  void Publish(const Changes& changes);

  // What an item adds to its container's tally.
  static void AddTo(ItemTally& tally, const StoredItem& item);
  static bool IsFailing(const StoredItem& item) { return item.attempts > 0; }

 private:
  struct Entry {
    std::optional<ItemSum> totals;  // absent until counted
    AdoptionTally adopted;
    ItemTally spread;
    int64_t failing = 0;
    std::optional<std::string> walked;  // absent: all
  };
  static void Apply(const Change& change, Entry& entry);

  mutable Mutex mutex_;
  absl::flat_hash_map<uint64_t, Entry> entries_ ABSL_GUARDED_BY(mutex_);
  absl::btree_set<uint64_t> incomplete_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace ttl

#endif  // TTL_SERVICE_STORAGE_COMMIT_TALLIES_H_
