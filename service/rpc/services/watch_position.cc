#include "service/rpc/services/watch_position.h"

#include <vector>

#include "service/base/proto_time.h"
#include "service/rpc/mapping/container_mapping.h"

namespace ttl {

WatchPosition::WatchPosition(const Containers& containers, const Holds& holds,
                             const GuardedClock& clock)
    : containers_(containers), holds_(holds), clock_(clock) {}

bool WatchPosition::NextNews(v1::WatchContainersResponse& message) {
  if (!snapshot_position_.has_value()) {
    std::optional<ContainerChanges> changes;
    if (revision_.has_value())
      changes = containers_.ChangesAfter(*revision_, kMaxChangesPerMessage);
    if (changes.has_value() && changes->revision == *revision_) return false;
    if (changes.has_value()) {
      FillChanges(*changes, message);
      return true;
    }
    BeginSnapshot();
  }
  FillSnapshotPart(message);
  return true;
}

void WatchPosition::Heartbeat(v1::WatchContainersResponse& message) const {
  message.Clear();
  Stamp(v1::WATCH_EVENT_HEARTBEAT, message);
}

void WatchPosition::BeginSnapshot() {
  // Changes made while the parts are sent follow after them.
  revision_ = containers_.Revision();
  snapshot_position_.emplace();
}

void WatchPosition::FillSnapshotPart(v1::WatchContainersResponse& message) {
  message.Clear();
  // One more than a part holds, to tell whether it is the last.
  std::vector<ContainerPtr> part = containers_.List(*snapshot_position_, kMaxChangesPerMessage + 1);
  const bool is_last = part.size() <= kMaxChangesPerMessage;
  if (is_last) {
    snapshot_position_.reset();
  } else {
    part.pop_back();
    snapshot_position_ = part.back()->id;
  }
  for (const ContainerPtr& container : part) {
    if (MayTell(*container)) Tell(*container, message);
  }
  Stamp(is_last ? v1::WATCH_EVENT_SNAPSHOT_END : v1::WATCH_EVENT_SNAPSHOT_PART, message);
}

void WatchPosition::FillChanges(const ContainerChanges& changes,
                                v1::WatchContainersResponse& message) {
  revision_ = changes.revision;
  message.Clear();
  for (const ContainerPtr& container : changes.containers) {
    if (MayTell(*container)) {
      Tell(*container, message);
    } else {
      message.add_deleted_containers(container->id);
    }
  }
  for (const std::string& id : changes.deleted) message.add_deleted_containers(id);
  Stamp(v1::WATCH_EVENT_CHANGE, message);
}

void WatchPosition::Tell(const Container& container, v1::WatchContainersResponse& message) const {
  *message.add_containers() = ToProto(container, holds_.AreInDoubt(container));
}

void WatchPosition::Stamp(v1::WatchEvent event, v1::WatchContainersResponse& message) const {
  const ClockStatus clock = clock_.Status();
  message.set_event(event);
  message.set_revision(revision_.value_or(0));
  *message.mutable_server_time() = ToProto(clock.time.now);
  message.set_clock_state(clock.suspect ? v1::CLOCK_STATE_SUSPECT : v1::CLOCK_STATE_SOUND);
}

}  // namespace ttl
