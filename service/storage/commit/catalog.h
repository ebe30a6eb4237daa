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

// The committed containers, in memory. Written by the committer alone.
// Thread-safe.
class Catalog {
 public:
  // Reads all containers, in place of those known before. One whose record is
  // unreadable is left out (Problems() tells): nothing of it is hidden, deleted or
  // purged, and the others run. After an error nothing has changed.
  absl::Status Load(const Database& database);

  // The containers that Load() left out, in one line each.
  std::vector<std::string> Problems() const;

  // Null if there is none.
  ContainerPtr Find(absl::string_view id) const;
  ContainerPtr Find(uint64_t number) const;

  std::vector<ContainerPtr> List(absl::string_view after, size_t limit) const;
  std::vector<ContainerPtr> All() const;
  size_t Count() const;
  // One whose index is being built; null if there is none.
  ContainerPtr FindBuilding() const;
  std::optional<Pause> PauseOfAll() const;
  // How often the primary store was confirmed.
  uint64_t StoreEpoch() const { return store_epoch_.load(std::memory_order_acquire); }

  // Version of the set of containers. It counts what their owners change: no pauses, no
  // confirmations, and of the build of an index only its start and its end.
  uint64_t Revision() const;

  // What came after `revision`, at most `limit` changes of it. Absent if that is too
  // long ago to be told: then List() tells what there is now.
  std::optional<ContainerChanges> ChangesAfter(uint64_t revision, size_t limit) const;

  // Notifies `signal` from now on whenever Revision() has grown.
  void AddListener(WakeSignal& signal);
  // After this it is not notified any more.
  void RemoveListener(WakeSignal& signal);

  // What one commit changed: a container by number, null if it was deleted.
  struct Changes {
    std::vector<std::pair<uint64_t, ContainerPtr>> containers;
    std::optional<std::optional<Pause>> pause_of_all;  // the inner one absent: lifted
    std::optional<uint64_t> store_epoch;
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
// Name of the fact that says which primary store the items belong to.
inline constexpr absl::string_view kStoreFact = "store";

}  // namespace ttl

#endif  // TTL_SERVICE_STORAGE_COMMIT_CATALOG_H_
