#ifndef TTL_SERVICE_STORAGE_COMMIT_CATALOG_H_
#define TTL_SERVICE_STORAGE_COMMIT_CATALOG_H_

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "service/base/mutex.h"
#include "service/core/container.h"
#include "service/storage/commit/container_changes.h"
#include "service/storage/commit/container_log.h"

namespace ttl {

class Database;
class WakeSignal;

// The committed containers, in memory. Only the committer writes to it. Thread-safe.
class Catalog {
 public:
  // Reads all containers, replacing those known before. A container whose record is unreadable is
  // left out and reported by Problems(): nothing of it is hidden, deleted or purged, and the others
  // work. After an error nothing has changed.
  absl::Status Load(const Database& database);

  // The containers that Load() left out, one line each.
  std::vector<std::string> Problems() const;

  // Null if there is none.
  ContainerPtr Find(absl::string_view id) const;
  ContainerPtr Find(uint64_t number) const;

  std::vector<ContainerPtr> List(absl::string_view after, size_t limit) const;
  std::vector<ContainerPtr> All() const;
  size_t Count() const;
  // A container whose index is being built; null if there is none.
  ContainerPtr FindBuilding() const;
  std::optional<Pause> PauseOfAll() const;
  // The number of times that the primary store was confirmed.
  uint64_t StoreEpoch() const { return store_epoch_.load(std::memory_order_acquire); }

  // The format of the data; see data_format.h.
  int64_t DataFormat() const { return data_format_.load(std::memory_order_acquire); }

  // The version of the set of containers. Counts the changes that owners make: no pauses, no
  // confirmations, and of the build of an index only its start and its end.
  uint64_t Revision() const;

  // The changes after `revision`, at most `limit`. Absent if that revision is too old: then use
  // List().
  std::optional<ContainerChanges> ChangesAfter(uint64_t revision, size_t limit) const;

  // Notifies `signal` whenever Revision() has grown, until it is removed.
  void AddListener(WakeSignal& signal);
  // `signal` is not notified after this returns.
  void RemoveListener(WakeSignal& signal);

  // The changes of one commit: containers by number, null if deleted.
  struct Changes {
    std::vector<std::pair<uint64_t, ContainerPtr>> containers;
    std::optional<std::optional<Pause>> pause_of_all;  // the inner one absent: lifted
    std::optional<uint64_t> store_epoch;
    std::optional<int64_t> data_format;
  };
  void Publish(const Changes& changes);

 private:
  void Replace(const Changes& all, std::vector<std::string> problems);
  void PublishAll(const Changes& changes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void PublishContainer(uint64_t number, const ContainerPtr& container)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void EraseContainer(uint64_t number) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void NotifyIfAfter(uint64_t revision) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  std::atomic<uint64_t> store_epoch_ = 0;
  std::atomic<int64_t> data_format_ = 0;
  mutable Mutex mutex_;
  absl::flat_hash_map<uint64_t, ContainerPtr> by_number_ ABSL_GUARDED_BY(mutex_);
  absl::btree_map<std::string, ContainerPtr> by_id_ ABSL_GUARDED_BY(mutex_);
  absl::btree_set<uint64_t> building_ ABSL_GUARDED_BY(mutex_);  // numbers
  std::optional<Pause> pause_of_all_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::string> problems_ ABSL_GUARDED_BY(mutex_);
  ContainerLog log_ ABSL_GUARDED_BY(mutex_);
  std::vector<WakeSignal*> listeners_ ABSL_GUARDED_BY(mutex_);
};

// Name of the fact that holds the pause of all containers.
inline constexpr absl::string_view kPauseOfAllFact = "pause";
// Name of the fact that holds the identity of the primary store.
inline constexpr absl::string_view kStoreFact = "store";

}  // namespace ttl

#endif  // TTL_SERVICE_STORAGE_COMMIT_CATALOG_H_
