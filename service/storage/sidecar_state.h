#ifndef TTL_SERVICE_STORAGE_SIDECAR_STATE_H_
#define TTL_SERVICE_STORAGE_SIDECAR_STATE_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "service/base/done.h"
#include "service/core/guarded_clock.h"
#include "service/storage/format/sidecar_facts.h"

namespace ttl {

class CommitQueue;
class Database;

// Small durable facts about the sidecar itself. A load is absent if the fact was never stored, and
// returns DATA_LOSS if it cannot be read. Errors of changes are those of Items. Thread-safe.
class SidecarState {
 public:
  SidecarState(const Database& database, CommitQueue& queue);

  absl::StatusOr<std::optional<ClockMemory>> LoadClockMemory() const;
  void SaveClockMemory(const ClockMemory& memory, DoneStatus done);

  // Identity of the primary store that the tracked items belong to.
  absl::StatusOr<std::optional<std::string>> LoadStoreId() const;
  void SaveStoreId(std::string store_id, DoneStatus done);

  // Why deletes wait until the store is confirmed; absent if they do not; never empty.
  absl::StatusOr<std::optional<std::string>> LoadStoreDoubt() const;
  void SaveStoreDoubt(std::string reason, DoneStatus done);
  // Identity of the store that answered last, if it is not the one that the tracked items belong
  // to; absent otherwise.
  absl::StatusOr<std::optional<std::string>> LoadOtherStoreId() const;
  void SaveOtherStoreId(std::string store_id, DoneStatus done);
  void ClearOtherStoreId(DoneStatus done);

  // An operator states that the store with this identity is the right one, although it may have
  // been restored. Stores the identity, ends both doubts about the store, begins a new store epoch
  // (see IsOlder() in stored_item.h) and puts the data in doubt, all or nothing. Answers that
  // doubt, which the caller passes to DataTrust.
  void ConfirmStore(std::string store_id, Done<DataDoubt> done);

  // The limit on all deletes that was set at run time; absent: the server's option applies.
  absl::StatusOr<std::optional<StoredDeleteLimit>> LoadDeleteLimit() const;
  void SaveDeleteLimit(const StoredDeleteLimit& limit, DoneStatus done);
  void ClearDeleteLimit(DoneStatus done);

  // The longest time after sending for which a delete of this run of the process, or of an earlier
  // one, may still be carried out; absent if none was stored.
  absl::StatusOr<std::optional<absl::Duration>> LoadDeleteDeadline() const;
  void SaveDeleteDeadline(absl::Duration deadline, DoneStatus done);

  // How far the changes of the store have been reported, in the store's own format; absent if the
  // store never said; never empty.
  absl::StatusOr<std::optional<std::string>> LoadSourcePosition() const;
  void SaveSourcePosition(absl::string_view position, DoneStatus done);

  // Why the tracked data may be incomplete; absent if it is complete.
  absl::StatusOr<std::optional<DataDoubt>> LoadDataDoubt() const;
  void SaveDataDoubt(const DataDoubt& doubt, DoneStatus done);
  // Stores the progress of the rebuild, unless the doubt has another reason by now or has ended.
  void UpdateDataDoubt(const DataDoubt& doubt, DoneStatus done);
  // Ends the doubt if it has this reason. Then all feeds get a RESYNC.
  void ClearDataDoubt(std::string reason, DoneStatus done);

  // Whether no container was ever created here.
  absl::StatusOr<bool> IsNew() const;

  // The normal form of a container's entry in the containers file, as last applied.
  absl::StatusOr<std::optional<std::string>> LoadAppliedEntry(absl::string_view container_id) const;
  void SaveAppliedEntry(std::string container_id, std::string entry, DoneStatus done);

 private:
  const Database& database_;
  CommitQueue& queue_;
};

}  // namespace ttl

#endif  // TTL_SERVICE_STORAGE_SIDECAR_STATE_H_
