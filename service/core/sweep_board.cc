#include "service/core/sweep_board.h"

#include <utility>

namespace ttl {

DeleteTally& DeleteTally::operator+=(const DeleteTally& other) {
  sent += other.sent;
  deleted += other.deleted;
  not_found += other.not_found;
  modified += other.modified;
  not_expired += other.not_expired;
  throttled += other.throttled;
  failed += other.failed;
  unanswered += other.unanswered;
  return *this;
}

void SweepBoard::PostStore(StoreView store) {
  MutexLock lock(mutex_);
  store_ = std::move(store);
}

StoreView SweepBoard::Store() const {
  MutexLock lock(mutex_);
  return store_;
}

void SweepBoard::AddDeletes(uint64_t container, const DeleteTally& delta) {
  MutexLock lock(mutex_);
  containers_[container].deletes += delta;
}

void SweepBoard::AddEarlyEntries(uint64_t container, int64_t count) {
  MutexLock lock(mutex_);
  containers_[container].early_entries += count;
}

void SweepBoard::SetWaitingForRate(uint64_t container, bool waiting) {
  MutexLock lock(mutex_);
  containers_[container].waiting_for_rate = waiting;
}

ContainerSweepView SweepBoard::View(uint64_t container) const {
  MutexLock lock(mutex_);
  const auto it = containers_.find(container);
  return it == containers_.end() ? ContainerSweepView() : it->second;
}

void SweepBoard::Forget(uint64_t container) {
  MutexLock lock(mutex_);
  containers_.erase(container);
}

}  // namespace ttl
