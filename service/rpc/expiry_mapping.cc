#include "service/rpc/expiry_mapping.h"

#include <algorithm>

#include "service/rpc/container_mapping.h"
#include "service/rpc/proto_time.h"

namespace ttl {
namespace {

// The latest end of a grace that still lasts.
std::optional<absl::Time> GraceUntil(const Container& container, absl::Time now) {
  std::optional<absl::Time> latest;
  for (const ReplacedPolicy& replaced : container.replaced_policies) {
    if (replaced.until > std::max(now, latest.value_or(now))) latest = replaced.until;
  }
  return latest;
}

absl::Duration AgeOf(int64_t due_time, absl::Time now) {
  return std::max(absl::ZeroDuration(), now - absl::FromUnixSeconds(due_time));
}

}  // namespace

v1::ClockStatus ToProto(const ClockStatus& status) {
  v1::ClockStatus proto;
  proto.set_state(status.suspect ? v1::CLOCK_STATE_SUSPECT : v1::CLOCK_STATE_SOUND);
  proto.set_reason(status.reason);
  *proto.mutable_now() = ToProto(status.time.now);
  if (status.wall.has_value()) *proto.mutable_wall() = ToProto(*status.wall);
  if (status.steady.has_value()) *proto.mutable_steady() = ToProto(*status.steady);
  if (status.suspect_since.has_value()) {
    *proto.mutable_suspect_since() = ToProto(*status.suspect_since);
  }
  return proto;
}

v1::StoreStatus ToProto(const StoreView& store) {
  v1::StoreStatus proto;
  proto.set_reachable(store.reachable);
  proto.set_store_id(store.store_id);
  if (store.clock_skew.has_value()) *proto.mutable_clock_skew() = ToProto(*store.clock_skew);
  proto.set_last_error(store.last_error);
  if (store.last_success_time.has_value()) {
    *proto.mutable_last_success_time() = ToProto(*store.last_success_time);
  }
  if (store.held_until.has_value()) *proto.mutable_held_until() = ToProto(*store.held_until);
  return proto;
}

v1::PauseState ToProto(const Pause& pause) {
  v1::PauseState proto;
  proto.set_reason(pause.reason);
  *proto.mutable_since() = ToProto(pause.since);
  return proto;
}

v1::DeleteTally ToProto(const DeleteTally& tally) {
  v1::DeleteTally proto;
  proto.set_sent(tally.sent);
  proto.set_deleted(tally.deleted);
  proto.set_not_found(tally.not_found);
  proto.set_modified(tally.modified);
  proto.set_not_expired(tally.not_expired);
  proto.set_throttled(tally.throttled);
  proto.set_failed(tally.failed);
  proto.set_unanswered(tally.unanswered);
  return proto;
}

void AddHolds(const std::vector<DeleteHold>& holds, google::protobuf::RepeatedField<int>& out) {
  for (const DeleteHold hold : holds) out.Add(static_cast<int>(hold));
}

std::optional<double> AllowedDeletesPerSecond(std::optional<double> own,
                                              std::optional<double> container_default,
                                              std::optional<double> overall) {
  const std::optional<double> container = own.has_value() ? own : container_default;
  if (!container.has_value()) return overall;
  if (!overall.has_value()) return container;
  return std::min(*container, *overall);
}

v1::ContainerExpiryStatus MakeContainerStatus(const Container& container, const Backlog& backlog,
                                              const ContainerSweepView& sweep,
                                              const std::vector<DeleteHold>& holds,
                                              std::optional<double> allowed_per_second,
                                              absl::Time now) {
  v1::ContainerExpiryStatus status;
  status.set_container(container.id);
  status.set_backlog(backlog.count);
  status.set_backlog_is_lower_bound(backlog.is_lower_bound);
  if (backlog.oldest_due_time.has_value()) {
    *status.mutable_oldest_due_age() = ToProto(AgeOf(*backlog.oldest_due_time, now));
  }
  AddHolds(holds, *status.mutable_holds());
  if (container.pause.has_value()) *status.mutable_pause() = ToProto(*container.pause);
  if (const auto until = GraceUntil(container, now); until.has_value()) {
    *status.mutable_grace_until() = ToProto(*until);
  }
  if (allowed_per_second.has_value()) status.set_allowed_deletes_per_second(*allowed_per_second);
  *status.mutable_deletes() = ToProto(sweep.deletes);
  *status.mutable_index_progress() = IndexProgressOf(container);
  status.set_early_entries(sweep.early_entries);
  return status;
}

}  // namespace ttl
