#ifndef TTL_SERVICE_STORAGE_UPKEEP_HOLD_ENDER_H_
#define TTL_SERVICE_STORAGE_UPKEEP_HOLD_ENDER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "service/core/item.h"
#include "service/storage/commit/catalog.h"
#include "service/storage/commit/commit_queue.h"
#include "service/storage/engine/database.h"
#include "service/storage/format/index_entry.h"
#include "service/storage/holds/hold_table.h"

namespace ttl {

// Clears away holds that have ended, in bounded steps that go through the commit queue: puts the
// items that were set aside under them back where the sweep finds them, erases their keys, and last
// their records. The records tell a later run what is left to do. For one thread.
class HoldEnder {
 public:
  struct Parts {
    const Database& database;
    const Catalog& catalog;
    const HoldTable& holds;
    CommitQueue& queue;
  };

  // `parts` must outlive it.
  explicit HoldEnder(const Parts& parts) : parts_(parts) {}

  // One step. Returns whether it did anything. Errors are those of reads and commits; DATA_LOSS if
  // nothing is left but holds that cannot be cleared away because their data is damaged.
  absl::StatusOr<bool> RunOnce();

 private:
  // What one step does about one hold.
  struct Work {
    StoredHoldPtr hold;
    std::vector<IndexEntry> set_aside;
    std::vector<ItemKey> keys;
    bool is_last = false;  // nothing is left under it then
  };

  // By index and by container: the lowest hold number behind the last one looked at that has
  // anything. Holds are looked at in the order of their numbers, so that those before it need no
  // look, which would pass all that was erased there.
  struct Next {
    absl::flat_hash_map<uint64_t, uint64_t> set_aside;
    absl::flat_hash_map<uint64_t, uint64_t> keys;
  };

  // Where the clearing of a hold continues, so that it need not pass what it has erased.
  struct Resumed {
    uint64_t hold = 0;  // number; 0: none
    uint64_t index = 0;
    IndexPlace place;
    std::string key;  // encoded; empty: at the first
  };

  // `damage` becomes the first error of a hold that is left out because its data is damaged.
  absl::StatusOr<std::vector<Work>> Plan(absl::Status& damage) const;
  absl::Status TakeSetAside(uint64_t index, size_t most, Next& next, Work& work) const;
  absl::Status TakeKeys(size_t most, Next& next, Work& work) const;
  void NoteProgress(const Work& last);

  const Parts parts_;
  Resumed resumed_;
};

}  // namespace ttl

#endif  // TTL_SERVICE_STORAGE_UPKEEP_HOLD_ENDER_H_
