#ifndef TTL_SERVICE_STORAGE_STORAGE_H_
#define TTL_SERVICE_STORAGE_STORAGE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "service/core/delete_holds.h"
#include "service/core/state/data_trust.h"
#include "service/storage/commit/due_changes.h"
#include "service/storage/commit/tallies.h"
#include "service/storage/containers.h"
#include "service/storage/delete_gate.h"
#include "service/storage/engine/storage_figures.h"
#include "service/storage/engine/storage_options.h"
#include "service/storage/expiry_index.h"
#include "service/storage/feed.h"
#include "service/storage/holds.h"
#include "service/storage/items.h"
#include "service/storage/scanned_items.h"
#include "service/storage/sidecar_state.h"
#include "service/storage/touches.h"
#include "service/storage/unannounced_items.h"

namespace ttl {

class Backup;
class Verifier;

// Everything that the sidecar stores: the database and the parts that work on it. One process can
// have it open at a time. Thread-safe once open.
class Storage {
 public:
  // Opens or creates the database. FAILED_PRECONDITION if another process has it open or if it was
  // written in a newer format; DATA_LOSS if files are missing or damaged, or if the directory was
  // emptied (as far as that is known, see directory_mark.h); UNAVAILABLE for other errors of the
  // file system. On a volume that accepts no writes, because it is full, read-only or broken, the
  // database is opened for reads: see WriteHealth().
  static absl::StatusOr<std::unique_ptr<Storage>> Open(const StorageOptions& options);

  // Commits what is queued, refuses further operations, and closes the database.
  ~Storage();

  Containers& containers();
  Items& items();
  Touches& touches();
  ScannedItems& scanned_items();
  ExpiryIndex& expiry_index();
  Holds& holds();
  Feed& feed();
  SidecarState& sidecar_state();
  // Whether the tracked data is complete, as loaded from SidecarState.
  DataTrust& data_trust();
  DeleteGate& delete_gate();
  DueChanges& due_changes();
  UnannouncedItems& unannounced_items();
  // The containers in which something may have to be announced earlier than known before, for the
  // announcer.
  DueChanges& unannounced_changes();
  const Tallies& tallies() const;
  // The present store epoch; see TrackedItem.
  uint64_t StoreEpoch() const;

  // OK, or why writes are refused. The first failed write latches the error until RunHousekeeping()
  // has reopened the database. Reads continue meanwhile.
  absl::Status WriteHealth() const;

  // Checks that the data directory is still the one that was opened. If it was removed, moved away
  // or replaced, writes are refused, and it is not created again. Rarely blocks; call it about once
  // a second.
  void CheckFiles();

  // OK, or why outcomes of deletes cannot be committed: writes are refused, or the volume has less
  // free space than outcomes need.
  absl::Status OutcomeHealth() const;

  // The facts that decide, here and in the status, whether items of `container` (a container
  // number) may be deleted now. Costs no look at the disk.
  StorageFacts FactsForDeletes(uint64_t container) const;

  // OK, or why reports are refused: writes are refused, or the volume has less free space than
  // reports need.
  absl::Status ReportHealth() const;

  // The damage found when the database was opened: one line for each container whose record is
  // unreadable, and for each unreadable hold and subscription. Nothing of such a container is
  // hidden or deleted, and nothing is deleted of the container of such a hold; the others work.
  std::vector<std::string> Problems() const;

  // One bounded step of background work: checks the free space, reopens the database after an
  // error, purges the remains of deleted containers and indexes, builds indexes, counts items and
  // events after a start, drops events that are too old or too many, and compacts the space of
  // deleted items. Returns whether there is more to do now. Call
  // it on one thread, about once a second, and at once while there is more.
  bool RunHousekeeping();

  // Walks the whole database and returns INTERNAL with the first violation of an invariant: every
  // index entry belongs to an item that names it, every position in an existing index has its
  // entry, every item that can expire in a container with a complete index has an entry, no entry
  // is later than the deadline of its item, an item that is set aside names a hold, the keys of
  // holds agree with the holds, the tallies agree with the items, each EXPIRED ends at most once,
  // and those that have not ended are exactly those that items name. REQUIRES: nothing else uses
  // the storage.
  absl::Status CheckInvariants() const;

  // A backup, and a verification of everything stored, while the storage is in use; see there.
  // Neither may outlive the storage.
  absl::StatusOr<std::unique_ptr<Backup>> StartBackup(absl::Time now);
  std::unique_ptr<Verifier> StartVerification() const;

  // The LevelDB operations so far, for tests of costs.
  OperationCounts Counts() const;

  // Counters and measurements. Reads nothing from disk; the cost does not grow with the data.
  StorageFigures Figures() const;

 private:
  struct Parts;
  explicit Storage(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace ttl

#endif  // TTL_SERVICE_STORAGE_STORAGE_H_
