#ifndef TTL_SERVICE_STORAGE_SIDECAR_STATE_H_
#define TTL_SERVICE_STORAGE_SIDECAR_STATE_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "service/core/guarded_clock.h"
#include "service/storage/done.h"

namespace ttl {

class CommitQueue;
class Database;

// Small durable facts about the sidecar itself. Thread-safe. A fact that was
// never kept is absent; DATA_LOSS if it cannot be read.
class SidecarState {
 public:
  SidecarState(const Database& database, CommitQueue& queue);

  absl::StatusOr<std::optional<ClockMemory>> LoadClockMemory() const;
  void SaveClockMemory(const ClockMemory& memory, DoneStatus done);

  // Identity of the primary store that the tracked items belong to.
  absl::StatusOr<std::optional<std::string>> LoadStoreId() const;
  void SaveStoreId(std::string store_id, DoneStatus done);

  // Normal form of a container's entry in the containers file, as last applied.
  absl::StatusOr<std::optional<std::string>> LoadAppliedEntry(absl::string_view container_id) const;
  void SaveAppliedEntry(std::string container_id, std::string entry, DoneStatus done);

 private:
  const Database& database_;
  CommitQueue& queue_;
};

}  // namespace ttl

#endif  // TTL_SERVICE_STORAGE_SIDECAR_STATE_H_
