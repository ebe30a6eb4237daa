#include "service/storage/delete_gate.h"

#include <algorithm>
#include <iterator>

namespace ttl {

std::optional<DeleteGate::Pass> DeleteGate::TryEnter(uint64_t container) {
  MutexLock lock(mutex_);
  if (closings_.contains(kAllContainers) || closings_.contains(container)) return std::nullopt;
  ++passes_[container];
  return Pass(this, container);
}

bool DeleteGate::IsClosed(uint64_t container) const {
  MutexLock lock(mutex_);
  return closings_.contains(kAllContainers) || closings_.contains(container);
}

void DeleteGate::Close(uint64_t container, absl::AnyInvocable<void()> drained) {
  {
    MutexLock lock(mutex_);
    ++closings_[container];
    if (!IsDrained(container)) {
      waiters_.push_back({container, std::move(drained)});
      return;
    }
  }
  drained();
}

void DeleteGate::Open(uint64_t container) {
  MutexLock lock(mutex_);
  const auto it = closings_.find(container);
  if (it != closings_.end() && --it->second == 0) closings_.erase(it);
}

void DeleteGate::Leave(uint64_t container) {
  std::vector<Waiter> ready;
  {
    MutexLock lock(mutex_);
    const auto it = passes_.find(container);
    if (--it->second == 0) passes_.erase(it);
    ready = TakeDrained();
  }
  for (Waiter& waiter : ready) waiter.drained();
}

bool DeleteGate::IsDrained(uint64_t container) const {
  if (container == kAllContainers) return passes_.empty();
  return !passes_.contains(container) && !passes_.contains(kAllContainers);
}

std::vector<DeleteGate::Waiter> DeleteGate::TakeDrained() {
  // Not a lambda predicate: the analysis does not see the lock inside one.
  std::vector<Waiter> ready;
  std::vector<Waiter> waiting;
  for (Waiter& waiter : waiters_) {
    (IsDrained(waiter.container) ? ready : waiting).push_back(std::move(waiter));
  }
  waiters_ = std::move(waiting);
  return ready;
}

}  // namespace ttl
