#include "client/postgres/policy/watched_policies.h"

#include <utility>

#include "service/core/ttl_rules.h"

namespace ttl::postgres {
namespace {

WatchedPolicySet NoneOf(const std::vector<std::string>& containers) {
  WatchedPolicySet none;
  for (const std::string& container : containers)
    none.containers.emplace(container, WatchedPolicy());
  return none;
}

// An illegal default_ttl turns TTL off.
WatchedPolicy PolicyOf(const v1::Container& container) {
  WatchedPolicy policy;
  policy.exists = true;
  policy.shows_held = container.show_held();
  policy.may_be_touched = container.allow_touch() || container.has_touches();
  // A row that was touched may be live where SQL takes it for expired: none is replaced.
  policy.has_holds = container.has_holds() || policy.may_be_touched;
  if (container.has_default_ttl() && IsLegalTtl(container.default_ttl())) {
    policy.default_ttl = container.default_ttl();
  }
  return policy;
}

}  // namespace

WatchedPolicies::WatchedPolicies(const std::vector<std::string>& containers)
    : none_(NoneOf(containers)) {}

bool WatchedPolicies::Apply(const v1::WatchContainersResponse& message) {
  switch (message.event()) {
    case v1::WATCH_EVENT_SNAPSHOT_PART:
      Collect(message);
      return false;
    case v1::WATCH_EVENT_SNAPSHOT_END:
      Collect(message);
      KeepDeletions();
      current_ = *std::exchange(snapshot_, std::nullopt);
      is_in_step_ = true;
      return true;
    case v1::WATCH_EVENT_CHANGE:
      if (is_in_step_) Set(message, *current_);
      return is_in_step_;
    case v1::WATCH_EVENT_HEARTBEAT:
      return is_in_step_;
    default:
      return false;
  }
}

void WatchedPolicies::Disconnect() {
  is_in_step_ = false;
  snapshot_.reset();
}

// A snapshot in the middle of a stream replaces changes that were missed.
void WatchedPolicies::Collect(const v1::WatchContainersResponse& message) {
  is_in_step_ = false;
  if (!snapshot_.has_value()) snapshot_ = none_;
  Set(message, *snapshot_);
}

void WatchedPolicies::KeepDeletions() {
  if (!current_.has_value()) return;
  for (auto& [id, policy] : snapshot_->containers) {
    if (!policy.exists) policy.was_deleted = current_->containers.at(id).was_deleted;
  }
}

void WatchedPolicies::Set(const v1::WatchContainersResponse& message, WatchedPolicySet& set) const {
  set.revision = message.revision();
  for (const std::string& id : message.deleted_containers()) {
    if (const auto known = set.containers.find(id); known != set.containers.end()) {
      known->second = WatchedPolicy();
      known->second.was_deleted = true;
    }
  }
  for (const v1::Container& container : message.containers()) {
    if (const auto known = set.containers.find(container.id()); known != set.containers.end()) {
      known->second = PolicyOf(container);
    }
  }
}

}  // namespace ttl::postgres
