#include "service/storage/commit/commit_queue.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "service/base/error_details.h"
#include "service/base/stopwatch.h"
#include "service/base/wake_signal.h"

// Two threads share the work. The gatherer takes queued operations and applies them to a
// Transaction (Begin, Fill). The writer writes the transaction with one fsync, publishes it to the
// readers, and answers the callers (Finish). While the writer waits for the disk, the gatherer
// fills the next transaction on top of the one being written, and continues to fill it until the
// writer is idle. So a commit grows with the time of a sync, and unless the queue is long an
// operation waits for two syncs at most.
//
// Only reports may be gathered on top of a transaction that is not committed yet. They see no more
// than a ReportTransaction, whose reads a Transaction also looks up in the one before it. All other
// operations, the changes, read the committed state: for them the gatherer first waits until the
// writer is idle (Begin), and it takes no reports while a change is queued (Take).
//
// A failed write invalidates everything gathered on top of it. A commit therefore records how many
// writes had failed when it, or the transaction it builds on, was begun; if the count has changed
// when it is to be written, its callers get UNAVAILABLE. The gatherer notices the same
// (HasLastFailed), waits until the writer is idle, and begins again from the committed state.
//
// The order at the end of a commit is: database, in-memory state, callers. So a caller that was
// answered reads its own write, and an answer of OK means that the change is on disk.
namespace ttl {
namespace {

// Far more than policy changes, outcomes and upkeep ever have queued at a time.
constexpr size_t kMaxChanges = 4096;

}  // namespace

CommitQueue::CommitQueue(const StorageOptions& options, Parts parts)
    : options_(options),
      parts_(parts),
      free_bytes_(parts.database.FreeBytes()),
      gatherer_([this] { Gather(); }),
      writer_([this] { Write(); }) {}

CommitQueue::~CommitQueue() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
  }
  gather_.NotifyAll();
  gatherer_.join();
  {
    MutexLock lock(mutex_);
    gathered_all_ = true;
  }
  write_.NotifyAll();
  writer_.join();
}

int64_t CommitQueue::FloorOf(Kind kind) const {
  return kind == Kind::kReport ? options_.report_floor_bytes : options_.outcome_floor_bytes;
}

absl::Status CommitQueue::FloorRefusal(Kind kind) const {
  const int64_t free = free_bytes_;
  if (free >= FloorOf(kind)) return absl::OkStatus();
  return StatusOf({.cause = Refusal::Cause::kVolumeFull, .free_bytes = free}, kind);
}

std::optional<CommitQueue::Refusal> CommitQueue::FindRefusal(Kind kind, size_t bytes) {
  using Cause = Refusal::Cause;
  if (stopping_) return Refusal{.cause = Cause::kStopping};
  if (const int64_t free = free_bytes_; free < FloorOf(kind)) {
    ++refused_disk_;
    return Refusal{.cause = Cause::kVolumeFull, .free_bytes = free};
  }
  const bool is_report = kind == Kind::kReport;
  if (is_report && (reports_.size() >= options_.max_queued_writes ||
                    queued_report_bytes_ + bytes > options_.max_queued_bytes)) {
    ++refused_full_;
    return Refusal{
        .cause = Cause::kReportsFull, .writes = reports_.size(), .bytes = queued_report_bytes_};
  }
  if (!is_report && changes_.size() >= kMaxChanges) {
    ++refused_full_;
    return Refusal{.cause = Cause::kChangesFull};
  }
  return std::nullopt;
}

absl::Status CommitQueue::StatusOf(const Refusal& refusal, Kind kind) const {
  switch (refusal.cause) {
    case Refusal::Cause::kStopping:
      break;
    case Refusal::Cause::kVolumeFull:
      return MakeError(
          Reason::kVolumeFull,
          absl::StrCat("the volume of the data directory has ", refusal.free_bytes, " bytes free, ",
                       kind == Kind::kReport ? "reports need " : "changes need ", FloorOf(kind)),
          {{"free_bytes", absl::StrCat(refusal.free_bytes)},
           {"needed_bytes", absl::StrCat(FloorOf(kind))}});
    case Refusal::Cause::kReportsFull:
      return MakeError(Reason::kQueueFull,
                       absl::StrCat("the commit queue is full (", refusal.writes, " writes, ",
                                    refusal.bytes, " bytes): retry later"));
    case Refusal::Cause::kChangesFull:
      return MakeError(Reason::kQueueFull, "too many writes are queued: retry later");
  }
  return MakeError(Reason::kShuttingDown, "the sidecar is shutting down");
}

void CommitQueue::Enqueue(Kind kind, size_t bytes, Apply&& apply, DoneStatus&& done) {
  std::optional<Refusal> refusal;
  {
    MutexLock lock(mutex_);
    refusal = FindRefusal(kind, bytes);
    if (!refusal.has_value()) {
      auto& queue = kind == Kind::kReport ? reports_ : changes_;
      queue.push_back({std::move(apply), std::move(done), bytes, absl::OkStatus()});
      if (kind == Kind::kReport) queued_report_bytes_ += bytes;
      gather_.NotifyOne();
      return;
    }
  }
  done(StatusOf(*refusal, kind));
}

void CommitQueue::Gather() {
  while (std::unique_ptr<Commit> commit = Begin()) {
    Fill(*commit);
    HandOver(std::move(commit));
  }
}

// Waits for something to do. Null at the end.
std::unique_ptr<CommitQueue::Commit> CommitQueue::Begin() {
  auto commit = std::make_unique<Commit>();
  {
    MutexLock lock(mutex_);
    while (!stopping_ && reports_.empty() && changes_.empty()) gather_.Wait(mutex_);
    if (reports_.empty() && changes_.empty()) return nullptr;
    while ((!changes_.empty() || HasLastFailed()) && !IsIdle()) gather_.Wait(mutex_);
    if (IsIdle()) last_.reset();
    commit->failures = last_ == nullptr ? failures_ : failures_before_last_;
  }
  // A commit that cannot be written need not be gathered, and what is gathered
  // from a database that is being reopened would be nonsense.
  commit->health = parts_.database.WriteHealth();
  commit->transaction =
      std::make_shared<Transaction>(parts_.catalog, parts_.holds, parts_.database, parts_.reader,
                                    parts_.scan_marks, parts_.feed_log, erased_generation_, last_);
  return commit;
}

void CommitQueue::Fill(Commit& commit) {
  do {
    for (Operation& operation : Take(commit)) {
      if (commit.health.ok()) {
        operation.status = operation.apply(*commit.transaction);
        operation.status.ok() ? commit.transaction->Keep() : commit.transaction->Discard();
      }
      commit.operations.push_back(std::move(operation));
    }
  } while (AwaitMore(commit));
}

// Takes the queued operations that can be added to the commit now.
CommitQueue::Operations CommitQueue::Take(Commit& commit) {
  Operations taken;
  MutexLock lock(mutex_);
  // On top of a commit that is being written only reports may go, and only while no change waits.
  if (last_ == nullptr) TakeFrom(changes_, taken, commit);
  if (!changes_.empty()) return taken;
  const size_t bytes = commit.bytes;
  TakeFrom(reports_, taken, commit);
  queued_report_bytes_ -= commit.bytes - bytes;
  return taken;
}

void CommitQueue::TakeFrom(std::deque<Operation>& queue, Operations& taken, Commit& commit) {
  while (!queue.empty() && commit.operations.size() + taken.size() < kMaxOperationsPerCommit &&
         commit.bytes < kMaxBytesPerCommit) {
    commit.bytes += queue.front().bytes;
    taken.push_back(std::move(queue.front()));
    queue.pop_front();
  }
}

bool CommitQueue::IsFull(const Commit& commit) {
  return commit.operations.size() >= kMaxOperationsPerCommit || commit.bytes >= kMaxBytesPerCommit;
}

// Returns whether to continue filling: only while the writer is busy, so that operations wait for
// the disk alone.
bool CommitQueue::AwaitMore(const Commit& commit) {
  MutexLock lock(mutex_);
  while (!IsIdle() && (IsFull(commit) || reports_.empty() || !changes_.empty())) {
    gather_.Wait(mutex_);
  }
  return !IsIdle();
}

// REQUIRES: the writer is idle.
void CommitQueue::HandOver(std::unique_ptr<Commit> commit) {
  last_ = commit->transaction;
  failures_before_last_ = commit->failures;
  commit->transaction->ForgetBefore();
  MutexLock lock(mutex_);
  ready_ = std::move(commit);
  write_.NotifyOne();
}

void CommitQueue::Write() {
  while (const std::unique_ptr<Commit> commit = AwaitReady()) {
    Finish(*commit);
    MutexLock lock(mutex_);
    writing_ = false;
    gather_.NotifyOne();
  }
}

std::unique_ptr<CommitQueue::Commit> CommitQueue::AwaitReady() {
  MutexLock lock(mutex_);
  while (ready_ == nullptr && !gathered_all_) write_.Wait(mutex_);
  writing_ = ready_ != nullptr;
  return std::move(ready_);
}

void CommitQueue::Finish(Commit& commit) {
  Earlier earlier;
  absl::Status written = commit.health;
  const Stopwatch stopwatch;
  if (written.ok()) written = WriteAndPublish(commit, earlier);
  commit_durations_.Add(stopwatch.Nanoseconds());
  commit_sizes_.Add(static_cast<int64_t>(commit.operations.size()));
  for (Operation& operation : commit.operations) {
    // The write failed, so refusals that relied on it were wrong; report the write error instead.
    operation.done(written.ok() ? operation.status : written);
  }
  if (earlier.due && options_.due_signal != nullptr) options_.due_signal->Notify();
  if (earlier.unannounced && options_.unannounced_signal != nullptr)
    options_.unannounced_signal->Notify();
}

absl::Status CommitQueue::WriteAndPublish(Commit& commit, Earlier& earlier) {
  if (Failures() != commit.failures) {
    return MakeError(Reason::kStorageUnavailable,
                     "an earlier write, on which this one depends, has failed");
  }
  const Transaction& transaction = *commit.transaction;
  const Tallies::Changes tally_changes = transaction.TallyChanges();
  const WriteSet writes = transaction.Writes(parts_.tallies, tally_changes);
  if (!writes.empty()) {
    absl::Status written = parts_.tap.Write(parts_.database, writes);
    if (!written.ok()) {
      MutexLock lock(mutex_);
      ++failures_;
      return written;
    }
  }
  parts_.tombstones.AddErased(writes);
  parts_.purges.Update(writes);
  parts_.tallies.Publish(tally_changes);
  earlier.due = transaction.Publish(parts_.cache, parts_.catalog, parts_.holds, parts_.marks,
                                    parts_.due_changes);
  earlier.unannounced = transaction.PublishUnannounced(parts_.catalog, parts_.unannounced);
  return absl::OkStatus();
}

CommitFigures CommitQueue::Figures() {
  CommitFigures figures;
  figures.operations = commit_sizes_.Get();
  figures.duration = commit_durations_.Get();
  figures.max_reports = static_cast<int64_t>(options_.max_queued_writes);
  figures.max_report_bytes = static_cast<int64_t>(options_.max_queued_bytes);
  figures.max_changes = static_cast<int64_t>(kMaxChanges);
  figures.free_bytes = free_bytes_;
  figures.report_floor_bytes = options_.report_floor_bytes;
  figures.outcome_floor_bytes = options_.outcome_floor_bytes;
  const MutexLock lock(mutex_);
  figures.failed = static_cast<int64_t>(failures_);
  figures.queued_reports = static_cast<int64_t>(reports_.size());
  figures.queued_report_bytes = static_cast<int64_t>(queued_report_bytes_);
  figures.queued_changes = static_cast<int64_t>(changes_.size());
  figures.refused_full = refused_full_;
  figures.refused_disk = refused_disk_;
  return figures;
}

uint64_t CommitQueue::Failures() {
  MutexLock lock(mutex_);
  return failures_;
}

}  // namespace ttl
