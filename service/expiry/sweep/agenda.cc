#include "service/expiry/sweep/agenda.h"

namespace ttl {

void Agenda::Wake(uint64_t container) {
  Forget(container);
  awake_.insert(container);
}

void Agenda::Sleep(uint64_t container, absl::Duration until) {
  Forget(container);
  asleep_[container] = until;
  if (until != absl::InfiniteDuration()) by_time_.emplace(until, container);
}

void Agenda::Forget(uint64_t container) {
  awake_.erase(container);
  const auto it = asleep_.find(container);
  if (it == asleep_.end()) return;
  by_time_.erase({it->second, container});
  asleep_.erase(it);
}

void Agenda::WakeDue(absl::Duration now) {
  while (!by_time_.empty() && by_time_.begin()->first <= now) Wake(by_time_.begin()->second);
}

std::optional<uint64_t> Agenda::Next(uint64_t cursor) const {
  if (awake_.empty()) return std::nullopt;
  const auto it = awake_.upper_bound(cursor);
  return it == awake_.end() ? *awake_.begin() : *it;
}

absl::Duration Agenda::NextWake() const {
  return by_time_.empty() ? absl::InfiniteDuration() : by_time_.begin()->first;
}

}  // namespace ttl
