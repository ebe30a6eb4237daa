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
#include "service/storage/items.h"
#include "service/storage/scanned_items.h"
#include "service/storage/sidecar_state.h"

namespace ttl {

class Backup;
class Verifier;

// Everything the sidecar keeps: the database and the parts that work on it. One
// process has it open at a time. Thread-safe once open.
class Storage {
 public:
  // Opens or creates the database. FAILED_PRECONDITION if another process has
  // it open or if it was written by a newer format; DATA_LOSS if files are
  // missing or damaged, or the directory was emptied (as far as that is known, see
  // directory_mark.h); UNAVAILABLE for other errors of the file system. One on a volume
  // that takes no writes, being full, read-only or broken, is opened for reads: see
  // WriteHealth.
  static absl::StatusOr<std::unique_ptr<Storage>> Open(const StorageOptions& options);

  // Commits what is queued, refuses what comes after, closes the database.
  ~Storage();

  Containers& containers();
  Items& items();
  ScannedItems& scanned_items();
  ExpiryIndex& expiry_index();
  SidecarState& sidecar_state();
  // Whether what is tracked is whole, as SidecarState has it.
  DataTrust& data_trust();
  DeleteGate& delete_gate();
  DueChanges& due_changes();
  const Tallies& tallies() const;
  // The store epoch in which reports are made now; see TrackedItem.
  uint64_t StoreEpoch() const;

  // OK, or why writes are refused: the first failed write latches it until the
  // database could be reopened, which RunHousekeeping tries. Reads go on meanwhile.
  absl::Status WriteHealth() const;

  // Looks whether the data directory is where it was opened: one that was removed, moved
  // away or replaced takes no writes, and is not made anew. Seldom waits; about once a
  // second.
  void CheckFiles();

  // OK, or why what becomes of deletes cannot be committed: writes are refused, or the
  // volume has less free space than outcomes need.
  absl::Status OutcomeHealth() const;

  // The facts that decide, here and in the status, whether items of `container` (a container
  // number) may be deleted now. Costs no look at the disk.
  StorageFacts FactsForDeletes(uint64_t container) const;

  // OK, or why reports are refused: writes are, or the volume has less free space than reports
  // need.
  absl::Status ReportHealth() const;

  // What was found damaged when the database was opened, and is left alone: one line
  // for each container whose record is unreadable. Nothing of it is hidden or deleted;
  // the others run.
  std::vector<std::string> Problems() const;

  // One bounded step of background work: free-space check, reopening after an
  // error, purging what deleted containers and old indexes left, building
  // indexes, counting items after a start, giving back the disk space of deleted
  // items. Returns whether there is more to do now. For one thread, about
  // once a second and at once while there is more.
  bool RunHousekeeping();

  // Walks the whole database and returns INTERNAL with the first violation of
  // what must always hold: every index entry names an item that claims it,
  // every claim in a living index has its entry, every item that can expire in
  // a container with a complete index has one, no entry is later than its item's
  // deadline, and the tallies agree with the items. Call it with nothing else going on.
  absl::Status CheckInvariants() const;

  // A backup, and a check of everything stored, while it is in use; see there. Must not
  // outlive the storage.
  absl::StatusOr<std::unique_ptr<Backup>> StartBackup(absl::Time now);
  std::unique_ptr<Verifier> StartVerification() const;

  // Operations made on LevelDB so far, for tests of what things cost.
  OperationCounts Counts() const;

  // What it counts and measures. Costs no look at the disk, and does not grow with what is
  // stored.
  StorageFigures Figures() const;

 private:
  struct Parts;
  explicit Storage(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace ttl

#endif  // TTL_SERVICE_STORAGE_STORAGE_H_
