#include "service/expiry/sweep/run_queue.h"

namespace ttl {

void RunQueue::Wake(uint64_t container) {
  Forget(container);
  awake_.insert(container);
}

void RunQueue::Sleep(uint64_t container, absl::Duration until) {
  Forget(container);
  asleep_[container] = until;
  if (until != absl::InfiniteDuration()) by_time_.emplace(until, container);
}

void RunQueue::Forget(uint64_t container) {
  awake_.erase(container);
  const auto it = asleep_.find(container);
  if (it == asleep_.end()) return;
  by_time_.erase({it->second, container});
  asleep_.erase(it);
}

void RunQueue::WakeDue(absl::Duration now) {
  while (!by_time_.empty() && by_time_.begin()->first <= now) Wake(by_time_.begin()->second);
}

std::optional<uint64_t> RunQueue::Next(uint64_t cursor) const {
  if (awake_.empty()) return std::nullopt;
  const auto it = awake_.upper_bound(cursor);
  return it == awake_.end() ? *awake_.begin() : *it;
}

absl::Duration RunQueue::NextWake() const {
  return by_time_.empty() ? absl::InfiniteDuration() : by_time_.begin()->first;
}

}  // namespace ttl
