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

// Gives a backup a copy of every commit. A commit is written and copied under one lock, so that a
// reader that has seen any part of it in the database, and drains afterwards, gets all of it.
// Bounded: if the backup falls behind, it fails; commits never wait for it. Thread-safe.
class ChangeTap {
 public:
  static constexpr size_t kMaxBytes = size_t{64} << 20;

  // Database::Write(), copied if the tap is open.
  absl::Status Write(Database& database, const WriteSet& changes);

  // Copies the commits that begin from now on. RESOURCE_EXHAUSTED if the tap is already open.
  absl::Status Open();
  // The commits since Open() or the last call, in order. RESOURCE_EXHAUSTED if they exceeded
  // kMaxBytes; ABORTED if a write failed, because it is unknown whether it is stored.
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
