#ifndef TTL_SERVICE_STORAGE_COMMIT_CHANGE_TAP_H_
#define TTL_SERVICE_STORAGE_COMMIT_CHANGE_TAP_H_

#include <cstddef>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "service/base/mutex.h"
#include "service/storage/engine/database.h"

namespace ttl {

// Lets a backup hear of every commit. A commit is written and taken down under one lock,
// so that whoever has seen any of it in the database, and drains afterwards, gets it
// whole. Bounded: a listener that falls behind fails, the commits never wait for it.
// Thread-safe.
class ChangeTap {
 public:
  static constexpr size_t kMaxBytes = size_t{64} << 20;

  // Database::Write, taken down if somebody listens.
  absl::Status Write(Database& database, const WriteSet& changes);

  // Listens from now on, to commits that begin later. RESOURCE_EXHAUSTED if somebody does
  // already.
  absl::Status Open();
  // The commits since Open() or the last call, in their order. RESOURCE_EXHAUSTED if they
  // were too many; ABORTED if a write failed, for nobody knows whether it is there.
  absl::StatusOr<std::vector<WriteSet>> Drain();
  void Close();

 private:
  void Take(const WriteSet& changes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  Mutex mutex_;
  bool open_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Status status_ ABSL_GUARDED_BY(mutex_);
  size_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  std::vector<WriteSet> changes_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace ttl

#endif  // TTL_SERVICE_STORAGE_COMMIT_CHANGE_TAP_H_
