#include "service/core/state/published_sweep.h"

#include <utility>

namespace ttl {

DeleteTally& DeleteTally::operator+=(const DeleteTally& other) {
  sent += other.sent;
  deleted += other.deleted;
  not_found += other.not_found;
  modified += other.modified;
  not_expired += other.not_expired;
  throttled += other.throttled;
  out_of_time += other.out_of_time;
  failed += other.failed;
  unanswered += other.unanswered;
  return *this;
}

void PublishedSweep::PostStore(StoreView store) {
  MutexLock lock(mutex_);
  store_ = std::move(store);
}

StoreView PublishedSweep::Store() const {
  MutexLock lock(mutex_);
  return store_;
}

void PublishedSweep::PostSweeper(SweeperView sweeper) {
  MutexLock lock(mutex_);
  sweeper_ = sweeper;
}

SweeperView PublishedSweep::Sweeper() const {
  MutexLock lock(mutex_);
  return sweeper_;
}

void PublishedSweep::AddDeletes(uint64_t container, const DeleteRecord& delta) {
  MutexLock lock(mutex_);
  DeleteRecord& record = containers_[container].deletes;
  record.tally += delta.tally;
  record.lateness += delta.lateness;
  if (!TakeName(container)) {
    others_.tally += delta.tally;
    others_.lateness += delta.lateness;
  }
  for (const auto& [reason, count] : delta.failures) {
    const bool is_kept =
        record.failures.contains(reason) || record.failures.size() < kMaxFailureReasons;
    record.failures[is_kept ? reason : std::string()] += count;
  }
}

void PublishedSweep::AddEarlyEntries(uint64_t container, int64_t count) {
  MutexLock lock(mutex_);
  containers_[container].early_entries += count;
}

void PublishedSweep::PostPace(uint64_t container, const PaceView& pace) {
  MutexLock lock(mutex_);
  containers_[container].pace = pace;
}

void PublishedSweep::PostCompletePass(uint64_t container, absl::Time time) {
  MutexLock lock(mutex_);
  containers_[container].last_complete_pass_time = time;
}

void PublishedSweep::PostSuccess(uint64_t container, absl::Duration time) {
  MutexLock lock(mutex_);
  containers_[container].last_success = time;
}

ContainerSweepView PublishedSweep::View(uint64_t container) const {
  MutexLock lock(mutex_);
  const auto it = containers_.find(container);
  return it == containers_.end() ? ContainerSweepView() : it->second;
}

void PublishedSweep::AddCall(absl::StatusCode code, absl::Duration took) {
  MutexLock lock(mutex_);
  ++calls_[code];
  call_durations_.Add(absl::ToInt64Nanoseconds(took));
}

void PublishedSweep::AddPushBack(PushBack kind) {
  MutexLock lock(mutex_);
  ++push_backs_[static_cast<size_t>(kind)];
}

StoreCallCounts PublishedSweep::Calls() const {
  MutexLock lock(mutex_);
  return {calls_, call_durations_.Get(), push_backs_};
}

SweepBreakdown PublishedSweep::Breakdown(absl::Span<const uint64_t> present) {
  const absl::flat_hash_set<uint64_t> living(present.begin(), present.end());
  MutexLock lock(mutex_);
  absl::erase_if(named_, [&living](uint64_t container) { return !living.contains(container); });
  for (const uint64_t container : present) TakeName(container);
  return {named_, others_};
}

bool PublishedSweep::TakeName(uint64_t container) {
  if (named_.contains(container)) return true;
  if (named_.size() >= max_named_) return false;
  named_.insert(container);
  return true;
}

void PublishedSweep::Forget(uint64_t container) {
  MutexLock lock(mutex_);
  containers_.erase(container);
  named_.erase(container);
}

}  // namespace ttl
