#ifndef TTL_SERVICE_STORAGE_UPKEEP_RECOVERY_H_
#define TTL_SERVICE_STORAGE_UPKEEP_RECOVERY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "service/storage/engine/database.h"
#include "service/storage/engine/storage_options.h"

namespace ttl {

// Operations on a data directory that no process has open. After RestoreBackup() and RepairCopy()
// all deletes are paused and the tracked data is in doubt (see DataTrust), because the store has
// changed since; the status says so. If one of them does not finish, it leaves a directory that
// Storage::Open() refuses.

// RestoreBackup() creates the database in the directory of `options`, which must be missing or
// empty, from a backup file. The file is read to its end before anything is created. Errors are
// those of ReadBackup() and Storage::Open(); NOT_FOUND if the file cannot be opened;
// FAILED_PRECONDITION if the directory is not empty.
struct RestoreReport {
  absl::Time backup_time;
  int64_t records = 0;
};
absl::StatusOr<RestoreReport> RestoreBackup(const std::string& file, const StorageOptions& options,
                                            absl::Time now);

// RepairCopy() creates the database in the directory of `options`, which must be missing or empty,
// from what can still be read of the one in `source`, which is not changed. What LevelDB cannot
// read is lost, and deleted keys may reappear; so indexes are rebuilt, items are counted anew, and
// no number that was ever seen is used again. FAILED_PRECONDITION also if `source` is in use;
// NOT_FOUND if it has no database, and then neither directory is changed.
struct RepairReport {
  int64_t containers = 0;
  int64_t items = 0;
  std::vector<std::string> losses;  // one sentence each
};
absl::StatusOr<RepairReport> RepairCopy(const std::string& source, const StorageOptions& options,
                                        absl::Time now);

// Creates a new database in the directory of `options` in place of a damaged one, as described by
// `damage`, that no process has open. All deletes are paused and the tracked data is in doubt from
// its first write on. The files of the damaged one are moved to the folder "damaged", replacing
// those of an earlier call. FAILED_PRECONDITION if another process has it open. If it does not
// finish, Storage::Open() reports the same damage, and another call continues.
absl::Status ReplaceDamaged(const StorageOptions& options, const std::string& damage,
                            absl::Time now);

// FAILED_PRECONDITION if RestoreBackup() or RepairCopy() did not finish in the directory; DATA_LOSS
// if ReplaceDamaged() did not.
absl::Status CheckFinished(const std::string& directory);

}  // namespace ttl

#endif  // TTL_SERVICE_STORAGE_UPKEEP_RECOVERY_H_
