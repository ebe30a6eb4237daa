#include "client/cpp/policy_mirror.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "ttl/proto_time.h"

namespace ttl {
namespace {

// 2200-01-01T00:00:00Z. The sidecar does not trust a later clock either.
constexpr int64_t kEndOfTime = 7'258'118'400;

// Whether the time can be relied on.
bool HasSoundTime(const v1::WatchContainersResponse& message) {
  const int64_t seconds = message.server_time().seconds();
  return message.has_server_time() && seconds >= 0 && seconds < kEndOfTime;
}

}  // namespace

PolicyMirror::PolicyMirror(absl::Duration max_staleness, WhenUnsure when_unsure)
    : max_staleness_(absl::ToChronoNanoseconds(
          std::clamp(max_staleness, absl::ZeroDuration(), kLongestStaleness))),
      when_unsure_(when_unsure) {}

const PolicyMirror::Container& PolicyMirror::Find(absl::string_view id) {
  const std::lock_guard<std::mutex> lock(mutex_);
  auto known = containers_.find(id);
  if (known == containers_.end()) {
    if (containers_.size() >= kMaxContainers) return too_many_;
    known = containers_.emplace(std::string(id), std::make_unique<Container>()).first;
  }
  known->second->is_in_use_ = true;
  return *known->second;
}

void PolicyMirror::Apply(const v1::WatchContainersResponse& message, Instant received) {
  if (!HasSoundTime(message)) return;
  const std::lock_guard<std::mutex> lock(mutex_);
  switch (message.event()) {
    case v1::WATCH_EVENT_SNAPSHOT_PART:
      CollectSnapshot(message, received);
      return;
    case v1::WATCH_EVENT_SNAPSHOT_END:
      CollectSnapshot(message, received);
      TakeSnapshot();
      // Valid as of its first part: changes made since may be missing, and follow.
      RelyOn(message, received, *std::exchange(snapshot_begin_, std::nullopt));
      return;
    case v1::WATCH_EVENT_CHANGE:
      if (!is_in_step_) return;
      ApplyChange(message);
      RelyOn(message, received, received);
      return;
    case v1::WATCH_EVENT_HEARTBEAT:
      if (is_in_step_) RelyOn(message, received, received);
      return;
    default:
      return;
  }
}

void PolicyMirror::Disconnect() {
  const std::lock_guard<std::mutex> lock(mutex_);
  is_in_step_ = false;
  snapshot_begin_.reset();
  snapshot_.clear();
}

PolicyMirror::JudgingTime PolicyMirror::At(Instant steady) const {
  const bool is_sure = steady.count() < sure_until_.load(std::memory_order_acquire);
  const int64_t now = clock_offset_.load(std::memory_order_relaxed) + steady.count();
  return {absl::FromUnixNanos(now), is_sure};
}

LocalVerdict PolicyMirror::Judge(const Container& container, const ItemTimes& item,
                                 const JudgingTime& time) const {
  const MirroredPolicy policy = container.policy_.load(std::memory_order_relaxed);
  if (!policy.is_there) return LocalVerdict::kUnknown;
  if (!time.is_sure && when_unsure_ == WhenUnsure::kAsk) return LocalVerdict::kUnknown;
  if (!time.is_sure && when_unsure_ == WhenUnsure::kShow) return LocalVerdict::kVisible;
  if (!IsPossible(item, time.now)) return LocalVerdict::kVisible;
  std::optional<int64_t> default_ttl;
  if (policy.default_ttl != 0) default_ttl = policy.default_ttl;
  if (!IsExpiredAt(ExpireTime(default_ttl, item), time.judged_at)) return LocalVerdict::kVisible;
  return policy.may_show_expired ? LocalVerdict::kUnknown : LocalVerdict::kExpired;
}

MirroredPolicy PolicyMirror::PolicyOf(const v1::Container& container) {
  const bool may_be_touched = container.allow_touch() || container.has_touches();
  MirroredPolicy policy = {.is_there = true,
                           .may_show_expired = container.show_held() || may_be_touched};
  if (container.has_default_ttl() && IsLegalTtl(container.default_ttl())) {
    policy.default_ttl = static_cast<int32_t>(container.default_ttl());
  }
  return policy;
}

void PolicyMirror::CollectSnapshot(const v1::WatchContainersResponse& message, Instant received) {
  is_in_step_ = false;
  if (!snapshot_begin_.has_value()) snapshot_begin_ = received;
  for (const v1::Container& container : message.containers()) {
    if (snapshot_.size() < kMaxContainers) snapshot_[container.id()] = PolicyOf(container);
  }
}

void PolicyMirror::TakeSnapshot() {
  const Policies snapshot = std::exchange(snapshot_, {});
  std::vector<std::string> vanished;
  for (const auto& [id, container] : containers_) {
    if (!snapshot.contains(id)) vanished.push_back(id);
  }
  for (const std::string& id : vanished) Remove(id);
  for (const auto& [id, policy] : snapshot) Set(id, policy);
  is_in_step_ = true;
}

void PolicyMirror::ApplyChange(const v1::WatchContainersResponse& message) {
  for (const std::string& id : message.deleted_containers()) Remove(id);
  for (const v1::Container& container : message.containers()) {
    Set(container.id(), PolicyOf(container));
  }
}

void PolicyMirror::Set(const std::string& id, const MirroredPolicy& policy) {
  auto known = containers_.find(id);
  if (known == containers_.end()) {
    if (containers_.size() >= kMaxContainers) return;
    known = containers_.emplace(id, std::make_unique<Container>()).first;
  }
  known->second->policy_.store(policy, std::memory_order_relaxed);
}

void PolicyMirror::Remove(const std::string& id) {
  const auto known = containers_.find(id);
  if (known == containers_.end()) return;
  known->second->policy_.store({}, std::memory_order_relaxed);
  if (!known->second->is_in_use_) containers_.erase(known);
}

void PolicyMirror::RelyOn(const v1::WatchContainersResponse& message, Instant received,
                          Instant known_since) {
  const int64_t server_time = absl::ToUnixNanos(ToTime(message.server_time()));
  clock_offset_.store(server_time - received.count(), std::memory_order_relaxed);
  const bool is_sound = message.clock_state() == v1::CLOCK_STATE_SOUND;
  const int64_t until =
      is_sound ? (known_since + max_staleness_).count() : std::numeric_limits<int64_t>::min();
  sure_until_.store(until, std::memory_order_release);
}

}  // namespace ttl
