#ifndef TTL_SERVICE_STORAGE_COMMIT_QUEUE_H_
#define TTL_SERVICE_STORAGE_COMMIT_QUEUE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "service/core/mutex.h"
#include "service/storage/done.h"
#include "service/storage/graveyard.h"
#include "service/storage/transaction.h"

namespace ttl {

// The one writer. All changes of state queue here; a thread takes what is
// queued, gathers it in one transaction, writes that with one fsync, publishes
// it to the readers, and then answers the callers. So no lock guards the state
// of items, and an answer of OK means that the change is on disk. Thread-safe.
class CommitQueue {
 public:
  // Which queue an operation stands in.
  enum class Place {
    kReport,    // bounded by StorageOptions; waits for kReserved
    kReserved,  // policy changes, outcomes, upkeep: own places, goes first
  };

  // Decides and gathers; runs on the commit thread. Not OK: all that it gathered
  // is forgotten and its caller gets the status.
  using Apply = absl::AnyInvocable<absl::Status(Transaction&)>;

  struct Parts {
    Database& database;
    RecordCache& cache;
    Catalog& catalog;
    LowWaterMarks& marks;
    DueChanges& due_changes;
    Tallies& tallies;
    Graveyard& graveyard;
    const ItemReader& reader;
  };

  // `parts` must outlive the queue.
  CommitQueue(const StorageOptions& options, Parts parts);

  // Commits what is queued, then ends. Later submissions are UNAVAILABLE.
  ~CommitQueue();

  // `bytes` is about what the operation holds in memory. `done` is called on the
  // commit thread, or at once with RESOURCE_EXHAUSTED if the queue or the disk
  // is too full.
  void Submit(Place place, size_t bytes, Apply apply, DoneStatus done);

  // Told by housekeeping what is free on the volume.
  void SetFreeBytes(int64_t bytes) { free_bytes_ = bytes; }

 private:
  struct Operation {
    Apply apply;
    DoneStatus done;
    size_t bytes;
    absl::Status status;
  };

  void Run();
  std::vector<Operation> TakeBatch();
  void TakeFrom(std::deque<Operation>& queue, std::vector<Operation>& batch, size_t& bytes)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Commit(std::vector<Operation>& batch);
  absl::Status Refusal(Place place, size_t bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const StorageOptions options_;
  const Parts parts_;
  std::atomic<int64_t> free_bytes_;

  Mutex mutex_;
  CondVar work_;
  std::deque<Operation> reports_ ABSL_GUARDED_BY(mutex_);
  std::deque<Operation> reserved_ ABSL_GUARDED_BY(mutex_);
  size_t queued_report_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;

  std::thread thread_;  // last: starts when all else is there
};

}  // namespace ttl

#endif  // TTL_SERVICE_STORAGE_COMMIT_QUEUE_H_
