#ifndef TTL_SERVICE_STORAGE_COMMIT_DEAD_NUMBERS_H_
#define TTL_SERVICE_STORAGE_COMMIT_DEAD_NUMBERS_H_

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

// The purge table in memory: numbers of containers and indexes that are gone, while keys of
// them may be left. To read the table itself is to walk everything that was erased from it,
// which costs the square of what is purged. Thread-safe.
class DeadNumbers {
 public:
  // Adds what the table has. To be called after a start, and after the database was reopened;
  // numbers that die meanwhile may come before it.
  absl::Status Load(const Database& database);

  // After a write: takes in the numbers that it declared dead, and drops those that it says
  // are purged.
  void Note(const WriteSet& writes);

  // At most `most` numbers with their purge records, from the lowest on.
  std::vector<std::pair<uint64_t, std::string>> First(size_t most) const;

 private:
  mutable Mutex mutex_;
  absl::btree_map<uint64_t, std::string> records_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace ttl

#endif  // TTL_SERVICE_STORAGE_COMMIT_DEAD_NUMBERS_H_
