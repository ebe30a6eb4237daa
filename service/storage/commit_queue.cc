#include "service/storage/commit_queue.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "service/core/wake_signal.h"

namespace ttl {
namespace {

// Bounds of one commit: large enough to share an fsync among many, small enough
// to keep the time of one commit, and of those who wait for the next, short.
constexpr size_t kMaxOperationsPerCommit = 2048;
constexpr size_t kMaxBytesPerCommit = size_t{4} << 20;

// Changes of policy and outcomes of deletes are few at a time by themselves.
constexpr size_t kMaxReserved = 4096;

}  // namespace

CommitQueue::CommitQueue(const StorageOptions& options, Parts parts)
    : options_(options),
      parts_(parts),
      free_bytes_(parts.database.FreeBytes()),
      thread_([this] { Run(); }) {}

CommitQueue::~CommitQueue() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
  }
  work_.NotifyAll();
  thread_.join();
}

absl::Status CommitQueue::Refusal(Place place, size_t bytes) {
  if (stopping_) return absl::UnavailableError("the sidecar is shutting down");
  const bool is_report = place == Place::kReport;
  const int64_t floor = is_report ? options_.report_floor_bytes : options_.outcome_floor_bytes;
  if (free_bytes_ < floor) {
    return absl::ResourceExhaustedError(
        absl::StrCat("the volume of the data directory has ", free_bytes_.load(), " bytes free, ",
                     is_report ? "reports need " : "changes need ", floor));
  }
  if (is_report && (reports_.size() >= options_.max_queued_writes ||
                    queued_report_bytes_ + bytes > options_.max_queued_bytes)) {
    return absl::ResourceExhaustedError(absl::StrCat("the commit queue is full (", reports_.size(),
                                                     " writes, ", queued_report_bytes_,
                                                     " bytes): retry later"));
  }
  if (!is_report && reserved_.size() >= kMaxReserved) {
    return absl::ResourceExhaustedError("too many changes are waiting: retry later");
  }
  return absl::OkStatus();
}

void CommitQueue::Submit(Place place, size_t bytes, Apply apply, DoneStatus done) {
  absl::Status refusal;
  {
    MutexLock lock(mutex_);
    refusal = Refusal(place, bytes);
    if (refusal.ok()) {
      auto& queue = place == Place::kReport ? reports_ : reserved_;
      queue.push_back({std::move(apply), std::move(done), bytes, absl::OkStatus()});
      if (place == Place::kReport) queued_report_bytes_ += bytes;
      work_.NotifyOne();
      return;
    }
  }
  done(refusal);
}

void CommitQueue::Run() {
  while (true) {
    std::vector<Operation> batch = TakeBatch();
    if (batch.empty()) return;
    Commit(batch);
  }
}

std::vector<CommitQueue::Operation> CommitQueue::TakeBatch() {
  std::vector<Operation> batch;
  size_t bytes = 0;
  MutexLock lock(mutex_);
  while (!stopping_ && reports_.empty() && reserved_.empty()) work_.Wait(mutex_);
  TakeFrom(reserved_, batch, bytes);
  const size_t reserved_bytes = bytes;
  TakeFrom(reports_, batch, bytes);
  queued_report_bytes_ -= bytes - reserved_bytes;
  return batch;
}

void CommitQueue::TakeFrom(std::deque<Operation>& queue, std::vector<Operation>& batch,
                           size_t& bytes) {
  while (!queue.empty() && batch.size() < kMaxOperationsPerCommit && bytes < kMaxBytesPerCommit) {
    bytes += queue.front().bytes;
    batch.push_back(std::move(queue.front()));
    queue.pop_front();
  }
}

void CommitQueue::Commit(std::vector<Operation>& batch) {
  // A commit that cannot be written need not be gathered, and what is gathered
  // from a database that is being reopened would be nonsense.
  absl::Status written = parts_.database.WriteHealth();
  bool earlier = false;
  if (written.ok()) {
    Transaction transaction(parts_.catalog, parts_.database, parts_.reader);
    for (Operation& operation : batch) {
      operation.status = operation.apply(transaction);
      operation.status.ok() ? transaction.Keep() : transaction.Discard();
    }
    const Tallies::Changes tally_changes = transaction.TallyChanges();
    const WriteSet writes = transaction.Writes(parts_.tallies, tally_changes);
    if (!writes.empty()) written = parts_.database.Write(writes);
    if (written.ok()) {
      parts_.graveyard.Bury(writes);
      parts_.tallies.Publish(tally_changes);
      earlier = transaction.Publish(parts_.cache, parts_.catalog, parts_.marks, parts_.due_changes);
    }
  }
  for (Operation& operation : batch) {
    operation.done(operation.status.ok() ? written : operation.status);
  }
  if (earlier && options_.due_signal != nullptr) options_.due_signal->Notify();
}

}  // namespace ttl
