#ifndef TTL_SERVICE_STORAGE_HOLDS_HOLD_TABLE_H_
#define TTL_SERVICE_STORAGE_HOLDS_HOLD_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "service/base/mutex.h"
#include "service/core/container.h"
#include "service/storage/engine/database.h"
#include "service/storage/format/stored_hold.h"

namespace ttl {

// The committed holds, in memory; the keys that they name stay on disk. Only the committer writes
// to it, except for Load(), which must run while nothing is committed. A change costs the same
// whatever the number of holds. Thread-safe.
class HoldTable {
 public:
  // Reads the holds of `containers`, replacing those known before. A hold that cannot be read puts
  // the holds of its container in doubt and is reported by Problems(). After an error nothing has
  // changed.
  absl::Status Load(const Database& database, const std::vector<ContainerPtr>& containers);

  // The holds that cannot be read, one line each.
  std::vector<std::string> Problems() const;

  // Null if there is none. The second finds only holds that stand.
  StoredHoldPtr Find(uint64_t number) const;
  StoredHoldPtr Find(uint64_t container, absl::string_view hold_id) const;

  // At most `limit` holds that stand, of `container` or (0) of all, behind (`after_container`,
  // `after_hold`), in the order of these ids. If `container` is not 0, `after_container` is not
  // looked at.
  std::vector<HoldPtr> List(uint64_t container, absl::string_view after_container,
                            absl::string_view after_hold, size_t limit) const;

  // How many holds of a container stand; of all containers, how many are stored.
  int64_t CountStanding(uint64_t container) const;
  int64_t CountAll() const;
  int64_t CountEnding() const;  // of all: those that have ended

  // What stands in a container, by scope, and what has ended.
  struct Counts {
    int64_t standing = 0;
    int64_t on_all = 0;
    int64_t by_key = 0;
    int64_t ending = 0;
  };
  Counts CountsOf(uint64_t container) const;

  // The number of a hold that stands on this partition; 0 if there is none.
  uint64_t FindOnPartition(uint64_t container, absl::string_view partition_key) const;

  // Whether holds that stand cover an item with this partition key, whatever its id.
  bool CoversPartition(uint64_t container, absl::string_view partition_key) const;

  // Of the holds on all items, those on the partition and those with a number of `by_key`, at most
  // `limit` that stand, in the order of their ids.
  std::vector<HoldPtr> Covering(uint64_t container, absl::string_view partition_key,
                                const std::vector<uint64_t>& by_key, size_t limit) const;

  // At most `most` numbers of holds that stand and whose end is at `now_seconds` or earlier.
  std::vector<uint64_t> FindOver(int64_t now_seconds, size_t most) const;

  // At most `most` holds that have ended, in the order of their numbers.
  std::vector<StoredHoldPtr> FirstEnding(size_t most) const;

  // Whether the holds of the container may be incomplete: it requires that they are known to be
  // complete, and they are not, or one of them cannot be read.
  bool AreInDoubt(const Container& container) const;

  // The numbers of the holds of the container that cannot be read.
  std::vector<uint64_t> Unreadable(uint64_t container) const;

  // The present epoch of the data; see kHoldsEpochFact.
  uint64_t Epoch() const;

  // The changes of one commit, in any order: holds by number, null if there is no such hold any
  // more, and containers that were deleted.
  struct Changes {
    std::vector<std::pair<uint64_t, StoredHoldPtr>> holds;
    std::vector<uint64_t> deleted_containers;
  };
  void Publish(const Changes& changes);

 private:
  using ById = absl::btree_map<std::string, StoredHoldPtr>;
  using UnreadableHolds = absl::btree_map<uint64_t, std::string>;
  struct OfContainer {
    std::string id;
    absl::btree_set<uint64_t> numbers;  // of all that are stored
    ById standing;
    ById on_all;                                          // of those
    absl::flat_hash_map<std::string, ById> on_partition;  // of those
    int64_t by_key = 0;                                   // of those
  };

  void Add(const StoredHoldPtr& hold) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Remove(uint64_t number) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void RemoveStanding(const StoredHold& stored, OfContainer& of)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void RemoveUnreadable(const Hold& hold) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void RemoveContainer(uint64_t container) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  const OfContainer* FindContainer(uint64_t container) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  mutable Mutex mutex_;
  absl::flat_hash_map<uint64_t, StoredHoldPtr> by_number_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<uint64_t, OfContainer> by_container_ ABSL_GUARDED_BY(mutex_);
  // Containers with holds that stand.
  absl::btree_map<std::string, uint64_t> container_ids_ ABSL_GUARDED_BY(mutex_);
  // Of the holds that stand and have an end: (Unix seconds, number).
  absl::btree_set<std::pair<int64_t, uint64_t>> ends_ ABSL_GUARDED_BY(mutex_);
  absl::btree_map<uint64_t, StoredHoldPtr> ending_ ABSL_GUARDED_BY(mutex_);
  // By container: the numbers of holds that cannot be read, and why.
  absl::btree_map<uint64_t, UnreadableHolds> unreadable_ ABSL_GUARDED_BY(mutex_);
  uint64_t epoch_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace ttl

#endif  // TTL_SERVICE_STORAGE_HOLDS_HOLD_TABLE_H_
