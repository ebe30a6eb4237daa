#ifndef TTL_SERVICE_RPC_SERVICES_WATCH_POSITION_H_
#define TTL_SERVICE_RPC_SERVICES_WATCH_POSITION_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "service/core/guarded_clock.h"
#include "service/storage/containers.h"
#include "service/storage/holds.h"
#include "ttl/v1/container_service.pb.h"

namespace ttl {

// The position of one WatchContainers stream, which decides its next message; independent of the
// transport. It stores no containers: each message has them as they are when it is built. So a slow
// watcher gets each changed container once, and one that has fallen too far behind gets a snapshot.
// Not thread-safe.
class WatchPosition {
 public:
  static constexpr size_t kMaxChangesPerMessage = 500;

  // All must outlive this.
  WatchPosition(const Containers& containers, const Holds& holds, const GuardedClock& clock);

  // The watcher judges by expire_at, too. Without this, a container that has items with an
  // expire_at is left out, and one that gets its first is sent as deleted, because a watcher that
  // does not know expire_at would hide live items. REQUIRES: nothing has been sent yet.
  void TellExpireAt() { tells_expire_at_ = true; }

  // The same for show_held: without this a container with show_held is left out, because a watcher
  // that does not know it would hide items that a hold keeps visible.
  void TellShowHeld() { tells_show_held_ = true; }

  // The same for touches: without this a container whose items may have been touched is left out.
  void TellTouch() { tells_touch_ = true; }

  // Makes `message` the next part of a snapshot, at the start, or the next changes. Returns false
  // if there is nothing new.
  bool NextNews(v1::WatchContainersResponse& message);

  // Makes `message` a heartbeat. REQUIRES: NextNews() has just returned false.
  void Heartbeat(v1::WatchContainersResponse& message) const;

 private:
  bool MayTell(const Container& container) const {
    return (tells_expire_at_ || !container.has_expire_at) &&
           (tells_show_held_ || !container.settings.show_held) &&
           (tells_touch_ || !container.has_touches);
  }
  void Tell(const Container& container, v1::WatchContainersResponse& message) const;
  void BeginSnapshot();
  void FillSnapshotPart(v1::WatchContainersResponse& message);
  void FillChanges(const ContainerChanges& changes, v1::WatchContainersResponse& message);
  void Stamp(v1::WatchEvent event, v1::WatchContainersResponse& message) const;

  const Containers& containers_;
  const Holds& holds_;
  const GuardedClock& clock_;
  bool tells_expire_at_ = false;
  bool tells_show_held_ = false;
  bool tells_touch_ = false;
  // All changes up to this revision were sent, or are part of the present snapshot. Absent: none.
  std::optional<uint64_t> revision_;
  // The last container id sent of the present snapshot. Absent: no snapshot is being sent.
  std::optional<std::string> snapshot_position_;
};

}  // namespace ttl

#endif  // TTL_SERVICE_RPC_SERVICES_WATCH_POSITION_H_
