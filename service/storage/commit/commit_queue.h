#ifndef TTL_SERVICE_STORAGE_COMMIT_COMMIT_QUEUE_H_
#define TTL_SERVICE_STORAGE_COMMIT_COMMIT_QUEUE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "service/base/distribution.h"
#include "service/base/done.h"
#include "service/base/mutex.h"
#include "service/base/owned_counter.h"
#include "service/storage/commit/change_tap.h"
#include "service/storage/commit/pending_purges.h"
#include "service/storage/commit/report_transaction.h"
#include "service/storage/commit/tombstone_counts.h"
#include "service/storage/commit/transaction.h"
#include "service/storage/engine/storage_figures.h"

namespace ttl {

class DueChanges;
struct UnannouncedMarks;

// The single writer. All changes of state are queued here. The queued operations are gathered in
// one transaction, which is written with one fsync and published to the readers; then the callers
// are answered. So no lock guards the state of items, and an answer of OK means that the change is
// on disk. Thread-safe.
//
// Two threads share the work: while one waits for the disk, the other gathers the next commit on
// top of the one being written; if that fails, the next one fails too. Only reports are gathered
// that way. All other operations see the committed state.
class CommitQueue {
 public:
  // Bounds of one commit: large enough to share an fsync among many operations, small enough to
  // keep commits short, also for those who wait for the next one.
  static constexpr size_t kMaxOperationsPerCommit = 2048;
  static constexpr size_t kMaxBytesPerCommit = size_t{4} << 20;

  // The kinds of operations, which are queued and bounded apart from each other.
  enum class Kind {
    kReport,  // bounded by StorageOptions; waits while a change is queued
    kChange,  // policy changes, outcomes of deletes, upkeep: goes first
  };

  // An operation: reads what it needs and gathers its changes in the transaction. Runs once, on a
  // commit thread, and must not block. If it returns an error, its changes are discarded and its
  // caller gets the error.
  using Apply = absl::AnyInvocable<absl::Status(Transaction&)>;

  struct Parts {
    Database& database;
    RecordCache& cache;
    Catalog& catalog;
    HoldTable& holds;
    LowWaterMarks& marks;
    DueChanges& due_changes;
    UnannouncedMarks& unannounced;
    Tallies& tallies;
    TombstoneCounts& tombstones;
    PendingPurges& purges;
    const ItemReader& reader;
    ScanMarks& scan_marks;
    FeedLog& feed_log;
    ChangeTap& tap;
  };

  // `parts` must outlive the queue.
  CommitQueue(const StorageOptions& options, Parts parts);

  // Commits what is queued, then stops the threads. Operations submitted meanwhile get
  // UNAVAILABLE.
  ~CommitQueue();

  // Queues a change. `bytes` is roughly the memory that the operation holds. `done` gets OK once
  // the change is on disk and visible to readers, or else the error of the operation or of the
  // write; it is called on a commit thread. If the queue is full or the volume lacks space, `done`
  // gets RESOURCE_EXHAUSTED at once, on the calling thread.
  void Submit(size_t bytes, Apply apply, DoneStatus done) {
    Enqueue(Kind::kChange, bytes, std::move(apply), std::move(done));
  }

  // The same for a report. `apply` takes a ReportTransaction&, because reports may be gathered
  // while the commit before theirs is being written.
  template <typename ApplyReport>
  void SubmitReport(size_t bytes, ApplyReport&& apply, DoneStatus done) {
    Enqueue(
        Kind::kReport, bytes,
        [apply =
             std::forward<ApplyReport>(apply)](Transaction& transaction) mutable -> absl::Status {
          ReportTransaction report(transaction);
          return apply(report);
        },
        std::move(done));
  }

  // OK, or RESOURCE_EXHAUSTED while operations of `kind` are refused because the volume lacks
  // space.
  absl::Status FloorRefusal(Kind kind) const;

  // Housekeeping reports the free space of the volume here.
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
  // Whether a commit makes something due, or to be announced, earlier than known before.
  struct Earlier {
    bool due = false;
    bool unannounced = false;
  };
  absl::Status WriteAndPublish(Commit& commit, Earlier& earlier);
  uint64_t Failures();

  // Whether the commit handed over last was not written. Nothing can be built on that.
  bool HasLastFailed() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return last_ != nullptr && failures_before_last_ != failures_;
  }

  bool IsIdle() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return ready_ == nullptr && !writing_;
  }
  // By reference, because each move of these costs a call.
  void Enqueue(Kind kind, size_t bytes, Apply&& apply, DoneStatus&& done);
  // Why an operation is refused. Found under the lock; the status is made after it, because that
  // takes much longer, and under overload every operation is refused.
  struct Refusal {
    enum class Cause { kStopping, kVolumeFull, kReportsFull, kChangesFull };
    Cause cause;
    int64_t free_bytes = 0;  // of kVolumeFull
    size_t writes = 0;       // of kReportsFull
    size_t bytes = 0;        // of kReportsFull
  };
  // Absent: the operation is not refused.
  std::optional<Refusal> FindRefusal(Kind kind, size_t bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status StatusOf(const Refusal& refusal, Kind kind) const;
  int64_t FloorOf(Kind kind) const;

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
  std::deque<Operation> changes_ ABSL_GUARDED_BY(mutex_);
  size_t queued_report_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  std::unique_ptr<Commit> ready_ ABSL_GUARDED_BY(mutex_);  // to be written next
  bool writing_ ABSL_GUARDED_BY(mutex_) = false;
  uint64_t failures_ ABSL_GUARDED_BY(mutex_) = 0;  // of writes
  int64_t refused_full_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t refused_disk_ ABSL_GUARDED_BY(mutex_) = 0;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  bool gathered_all_ ABSL_GUARDED_BY(mutex_) = false;

  // Last, because they use all of the above.
  std::thread gatherer_;
  std::thread writer_;
};

}  // namespace ttl

#endif  // TTL_SERVICE_STORAGE_COMMIT_COMMIT_QUEUE_H_
