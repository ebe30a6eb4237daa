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

// A limit on all deletes that was set at run time.
struct StoredDeleteLimit {
  std::optional<double> max_deletes_per_second;  // absent: no limit

  friend bool operator==(const StoredDeleteLimit&, const StoredDeleteLimit&) = default;
};

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

  // Why deletes wait until the store is confirmed; absent if they do not, never empty.
  absl::StatusOr<std::optional<std::string>> LoadStoreDoubt() const;
  void SaveStoreDoubt(std::string reason, DoneStatus done);
  // Keeps the identity and ends the doubt, both or neither.
  void ConfirmStore(std::string store_id, DoneStatus done);

  // Limit on all deletes; absent: what the server's option says.
  absl::StatusOr<std::optional<StoredDeleteLimit>> LoadDeleteLimit() const;
  void SaveDeleteLimit(const StoredDeleteLimit& limit, DoneStatus done);
  void ClearDeleteLimit(DoneStatus done);

  // Normal form of a container's entry in the containers file, as last applied.
  absl::StatusOr<std::optional<std::string>> LoadAppliedEntry(absl::string_view container_id) const;
  void SaveAppliedEntry(std::string container_id, std::string entry, DoneStatus done);

 private:
  const Database& database_;
  CommitQueue& queue_;
};

}  // namespace ttl

#endif  // TTL_SERVICE_STORAGE_SIDECAR_STATE_H_
