#ifndef TTL_SERVICE_STORAGE_COMMIT_PENDING_PURGES_H_
#define TTL_SERVICE_STORAGE_COMMIT_PENDING_PURGES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/btree_map.h"
#include "absl/status/status.h"
#include "service/base/mutex.h"
#include "service/storage/engine/database.h"

namespace ttl {

// The purge table in memory: the numbers of deleted containers and indexes of which keys may be
// left, with their purge records. Only Load() reads the table itself, because each read of it
// passes the tombstones of all finished purges. Thread-safe.
class PendingPurges {
 public:
  // Adds the records of the table. Call it after a start and after the database was reopened.
  // Update() may be called before and meanwhile. Returns the error of the database.
  absl::Status Load(const Database& database);

  // Adds the records that a completed write put into the table, and drops those that it erased.
  void Update(const WriteSet& writes);

  // The first `most` numbers, in ascending order, with their purge records.
  std::vector<std::pair<uint64_t, std::string>> First(size_t most) const;

 private:
  mutable Mutex mutex_;
  absl::btree_map<uint64_t, std::string> records_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace ttl

#endif  // TTL_SERVICE_STORAGE_COMMIT_PENDING_PURGES_H_
