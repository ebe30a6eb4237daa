#include "service/rpc/mapping/expiry_mapping.h"

#include "service/base/proto_time.h"

namespace ttl {
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
  proto.set_unconfirmed(store.unconfirmed);
  return proto;
}

v1::PauseState ToProto(const Pause& pause) {
  v1::PauseState proto;
  proto.set_reason(pause.reason);
  *proto.mutable_since() = ToProto(pause.since);
  proto.set_author(pause.author);
  return proto;
}

v1::DeleteTally ToProto(const DeleteTally& tally) {
  v1::DeleteTally proto;
  proto.set_sent(tally.sent);
  proto.set_deleted(tally.deleted);
  proto.set_not_found(tally.not_found);
  proto.set_modified(tally.modified);
  proto.set_not_expired(tally.not_expired);
  proto.set_throttled(tally.throttled + tally.out_of_time);
  proto.set_out_of_time(tally.out_of_time);
  proto.set_failed(tally.failed);
  proto.set_unanswered(tally.unanswered);
  return proto;
}

void AddHolds(const std::vector<DeleteHold>& holds, google::protobuf::RepeatedField<int>& out) {
  for (const DeleteHold hold : holds) out.Add(static_cast<int>(hold));
}

}  // namespace ttl
