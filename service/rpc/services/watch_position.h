#ifndef TTL_SERVICE_RPC_SERVICES_WATCH_POSITION_H_
#define TTL_SERVICE_RPC_SERVICES_WATCH_POSITION_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "service/core/guarded_clock.h"
#include "service/storage/containers.h"
#include "ttl/v1/container_service.pb.h"

namespace ttl {

// How far one watcher of the containers has been told, and so what it is to be told
// next, apart from any transport. Of the containers it keeps nothing: each message has
// them as they are when it is made, so that a watcher who is asked rarely hears of each
// once, and one who has fallen too far behind gets a snapshot. Not thread-safe.
class WatchPosition {
 public:
  static constexpr size_t kMaxChangesPerMessage = 500;

  // Both must outlive this.
  WatchPosition(const Containers& containers, const GuardedClock& clock);

  // Makes `message` the next one that says something new: at the start, parts of a
  // snapshot. False if there is nothing new.
  bool NextNews(v1::WatchContainersResponse& message);

  // Makes `message` one that says that there is nothing new. REQUIRES: NextNews() has
  // just said so.
  void Heartbeat(v1::WatchContainersResponse& message) const;

 private:
  void BeginSnapshot();
  void TellSnapshotPart(v1::WatchContainersResponse& message);
  void TellChanges(const ContainerChanges& changes, v1::WatchContainersResponse& message);
  void Stamp(v1::WatchEvent event, v1::WatchContainersResponse& message) const;

  const Containers& containers_;
  const GuardedClock& clock_;
  // All up to it is told, or is being told by the present snapshot. Absent: nothing is.
  std::optional<uint64_t> revision_;
  // While a snapshot is being told: the last id told. Absent: none is.
  std::optional<std::string> snapshot_position_;
};

}  // namespace ttl

#endif  // TTL_SERVICE_RPC_SERVICES_WATCH_POSITION_H_
