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
  // Identity of the store that has answered last, if that is another one than the tracked items
  // belong to; absent if it is not.
  absl::StatusOr<std::optional<std::string>> LoadOtherStoreId() const;
  void SaveOtherStoreId(std::string store_id, DoneStatus done);
  void ClearOtherStoreId(DoneStatus done);

  // The store of this identity is the right one, by an operator's word, although it may be
  // restored: keeps the identity, ends both doubts of the store, begins a new store epoch (see
  // IsOlder in stored_item.h) and puts the data in doubt, all or nothing. Answers the latter,
  // which the caller tells DataTrust.
  void ConfirmStore(std::string store_id, Done<DataDoubt> done);

  // Limit on all deletes; absent: what the server's option says.
  absl::StatusOr<std::optional<StoredDeleteLimit>> LoadDeleteLimit() const;
  void SaveDeleteLimit(const StoredDeleteLimit& limit, DoneStatus done);
  void ClearDeleteLimit(DoneStatus done);

  // The longest time for which a delete may still be carried out after it was sent, by this
  // run of the process or by one before; absent if none kept it.
  absl::StatusOr<std::optional<absl::Duration>> LoadDeleteDeadline() const;
  void SaveDeleteDeadline(absl::Duration deadline, DoneStatus done);

  // How far the store's changes have been reported, in the store's own form; absent if it
  // never said so, never empty.
  absl::StatusOr<std::optional<std::string>> LoadSourcePosition() const;
  void SaveSourcePosition(absl::string_view position, DoneStatus done);

  // Why what is tracked may not be whole; absent if it is.
  absl::StatusOr<std::optional<DataDoubt>> LoadDataDoubt() const;
  void SaveDataDoubt(const DataDoubt& doubt, DoneStatus done);
  // Keeps how far the rebuild has come, unless the doubt has another reason by now, or has
  // ended.
  void UpdateDataDoubt(const DataDoubt& doubt, DoneStatus done);
  // Ends it if it has this reason.
  void ClearDataDoubt(std::string reason, DoneStatus done);

  // Whether no container was ever made here.
  absl::StatusOr<bool> IsNew() const;

  // Normal form of a container's entry in the containers file, as last applied.
  absl::StatusOr<std::optional<std::string>> LoadAppliedEntry(absl::string_view container_id) const;
  void SaveAppliedEntry(std::string container_id, std::string entry, DoneStatus done);

 private:
  const Database& database_;
  CommitQueue& queue_;
};

}  // namespace ttl

#endif  // TTL_SERVICE_STORAGE_SIDECAR_STATE_H_
