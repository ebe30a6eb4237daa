#ifndef TTL_SERVICE_STORAGE_COMMIT_COMMIT_QUEUE_H_
#define TTL_SERVICE_STORAGE_COMMIT_COMMIT_QUEUE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "service/base/distribution.h"
#include "service/base/done.h"
#include "service/base/mutex.h"
#include "service/base/owned_counter.h"
#include "service/storage/commit/change_tap.h"
#include "service/storage/commit/dead_numbers.h"
#include "service/storage/commit/graveyard.h"
#include "service/storage/commit/transaction.h"
#include "service/storage/engine/storage_figures.h"

namespace ttl {

class DueChanges;

// The one writer. All changes of state queue here; what is queued is gathered in one
// transaction, written with one fsync, published to the readers, and then the callers
// are answered. So no lock guards the state of items, and an answer of OK means that
// the change is on disk. Thread-safe.
//
// Two threads take turns: while one waits for the disk, the other gathers the next
// commit on top of the one being written, which fails if that one does. Only reports
// are gathered so; all else sees what is committed.
class CommitQueue {
 public:
  // Bounds of one commit: large enough to share an fsync among many, small enough
  // to keep the time of one commit, and of those who wait for the next, short.
  static constexpr size_t kMaxOperationsPerCommit = 2048;
  static constexpr size_t kMaxBytesPerCommit = size_t{4} << 20;

  // Which queue an operation stands in.
  enum class Place {
    kReport,    // bounded by StorageOptions; waits for kReserved; uses GetItem,
                // FindContainer(number) and the changes of items alone
    kReserved,  // policy changes, outcomes, upkeep: own places, goes first
  };

  // Decides and gathers; runs on a commit thread. Not OK: all that it gathered
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
    DeadNumbers& dead;
    const ItemReader& reader;
    ScanMarks& scan_marks;
    ChangeTap& tap;
  };

  // `parts` must outlive the queue.
  CommitQueue(const StorageOptions& options, Parts parts);

  // Commits what is queued, then ends. Later submissions are UNAVAILABLE.
  ~CommitQueue();

  // `bytes` is about what the operation holds in memory. `done` is called on a
  // commit thread, or at once with RESOURCE_EXHAUSTED if the queue or the disk
  // is too full.
  void Submit(Place place, size_t bytes, Apply apply, DoneStatus done);

  // OK, or why operations of `place` are refused for want of space on the volume.
  absl::Status FloorRefusal(Place place) const;

  // Told by housekeeping what is free on the volume.
  void SetFreeBytes(int64_t bytes) { free_bytes_ = bytes; }

  CommitFigures Figures();

 private:
  struct Operation {
    Apply apply;
    DoneStatus done;
    size_t bytes;
    absl::Status status;
  };
  using Operations = std::vector<Operation>;

  struct Commit {
    Operations operations;
    size_t bytes = 0;
    uint64_t failures = 0;  // failed writes before it, or what it builds on, was begun
    std::shared_ptr<Transaction> transaction;
    absl::Status health;  // not OK: nothing is gathered
  };

  // The gathering thread.
  void Gather();
  std::unique_ptr<Commit> Begin();
  void Fill(Commit& commit);
  Operations Take(Commit& commit);
  void TakeFrom(std::deque<Operation>& queue, Operations& taken, Commit& commit)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool AwaitMore(const Commit& commit);
  void HandOver(std::unique_ptr<Commit> commit);
  static bool IsFull(const Commit& commit);

  // The writing thread.
  void Write();
  std::unique_ptr<Commit> AwaitReady();
  void Finish(Commit& commit);
  absl::Status WriteAndPublish(Commit& commit, bool& earlier);
  uint64_t Failures();

  // Whether what was handed over last was not written. Nothing can be built on that.
  bool HasLastFailed() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return last_ != nullptr && failures_before_last_ != failures_;
  }

  bool IsIdle() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return ready_ == nullptr && !writing_;
  }
  absl::Status Refusal(Place place, size_t bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const StorageOptions options_;
  const Parts parts_;
  std::atomic<int64_t> free_bytes_;

  // Counted by the writing thread.
  OwnedDistribution<kCommitSizeBounds.size()> commit_sizes_{kCommitSizeBounds};
  OwnedDurationDistribution commit_durations_;

  // For the gathering thread: what was handed over last, and the failures before that was
  // begun; see Transaction for the generation.
  std::shared_ptr<const Transaction> last_;
  uint64_t failures_before_last_ = 0;
  uint64_t erased_generation_ = 0;

  Mutex mutex_;
  CondVar gather_;  // there is more to gather, or the writer is idle
  CondVar write_;   // there is a commit to write, or the end
  std::deque<Operation> reports_ ABSL_GUARDED_BY(mutex_);
  std::deque<Operation> reserved_ ABSL_GUARDED_BY(mutex_);
  size_t queued_report_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  std::unique_ptr<Commit> ready_ ABSL_GUARDED_BY(mutex_);  // to be written next
  bool writing_ ABSL_GUARDED_BY(mutex_) = false;
  uint64_t failures_ ABSL_GUARDED_BY(mutex_) = 0;  // of writes
  int64_t refused_full_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t refused_disk_ ABSL_GUARDED_BY(mutex_) = 0;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  bool gathered_all_ ABSL_GUARDED_BY(mutex_) = false;

  // Last: they start when all else is there.
  std::thread gatherer_;
  std::thread writer_;
};

}  // namespace ttl

#endif  // TTL_SERVICE_STORAGE_COMMIT_COMMIT_QUEUE_H_
