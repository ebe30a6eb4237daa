#include "service/storage/delete_gate.h"

#include <algorithm>
#include <iterator>
#include <limits>

namespace ttl {

std::optional<DeleteGate::Pass> DeleteGate::TryEnter(uint64_t container) {
  MutexLock lock(mutex_);
  if (closings_.contains(kAllContainers) || closings_.contains(container)) return std::nullopt;
  const uint64_t ticket = next_ticket_++;
  passes_[container].insert(ticket);
  return Pass(this, container, ticket);
}

bool DeleteGate::IsClosed(uint64_t container) const {
  MutexLock lock(mutex_);
  return closings_.contains(kAllContainers) || closings_.contains(container);
}

void DeleteGate::Close(uint64_t container, absl::AnyInvocable<void()> drained) {
  {
    MutexLock lock(mutex_);
    ++closings_[container];
  }
  // Whatever is out by now: there will be no more.
  Await({container, std::numeric_limits<uint64_t>::max(), std::move(drained)});
}

void DeleteGate::AwaitPresent(uint64_t container, absl::AnyInvocable<void()> done) {
  uint64_t before = 0;
  {
    MutexLock lock(mutex_);
    before = next_ticket_;
  }
  Await({container, before, std::move(done)});
}

void DeleteGate::Await(Waiter waiter) {
  {
    MutexLock lock(mutex_);
    if (!IsDrained(waiter)) {
      waiters_.push_back(std::move(waiter));
      return;
    }
  }
  waiter.drained();
}

void DeleteGate::Open(uint64_t container) {
  MutexLock lock(mutex_);
  const auto it = closings_.find(container);
  if (it != closings_.end() && --it->second == 0) closings_.erase(it);
}

void DeleteGate::Leave(uint64_t container, uint64_t ticket) {
  std::vector<Waiter> ready;
  {
    MutexLock lock(mutex_);
    const auto it = passes_.find(container);
    it->second.erase(ticket);
    if (it->second.empty()) passes_.erase(it);
    ready = TakeDrained();
  }
  for (Waiter& waiter : ready) waiter.drained();
}

bool DeleteGate::IsDrained(const Waiter& waiter) const {
  if (waiter.container == kAllContainers) {
    for (const auto& [container, tickets] : passes_) {
      if (*tickets.begin() < waiter.before) return false;
    }
    return true;
  }
  return !HasBefore(waiter.container, waiter.before) && !HasBefore(kAllContainers, waiter.before);
}

bool DeleteGate::HasBefore(uint64_t container, uint64_t ticket) const {
  const auto it = passes_.find(container);
  return it != passes_.end() && *it->second.begin() < ticket;
}

std::vector<DeleteGate::Waiter> DeleteGate::TakeDrained() {
  // Not a lambda predicate: the analysis does not see the lock inside one.
  std::vector<Waiter> ready;
  std::vector<Waiter> waiting;
  for (Waiter& waiter : waiters_) {
    (IsDrained(waiter) ? ready : waiting).push_back(std::move(waiter));
  }
  waiters_ = std::move(waiting);
  return ready;
}

}  // namespace ttl
