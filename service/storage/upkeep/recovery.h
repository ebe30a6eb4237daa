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

// What operators do to a data directory that no process has open. What is made by
// RestoreBackup and RepairCopy says so in its status: all deletes are paused, and what is
// tracked is in doubt (see DataTrust), because the store has changed since. One that did
// not finish leaves a directory that Storage::Open refuses.

// Makes the database in the directory of `options`, which must be missing or empty, from
// a backup file. The file is read to its end before anything is made. Errors are those of
// ReadBackup and Storage::Open; NOT_FOUND if the file cannot be opened; FAILED_PRECONDITION
// if the directory is not empty.
struct RestoreReport {
  absl::Time backup_time;
  int64_t records = 0;
};
absl::StatusOr<RestoreReport> RestoreBackup(const std::string& file, const StorageOptions& options,
                                            absl::Time now);

// Makes the database in the directory of `options`, which must be missing or empty, from
// what can still be read of the one in `source`, which stays as it is. What LevelDB cannot
// read is lost, and what was deleted may be back: so indexes are built anew, counts are
// taken anew, and no number is given out that was ever seen. FAILED_PRECONDITION also if
// `source` is in use; NOT_FOUND if there is no database, and then neither is touched.
struct RepairReport {
  int64_t containers = 0;
  int64_t items = 0;
  std::vector<std::string> losses;  // one sentence each
};
absl::StatusOr<RepairReport> RepairCopy(const std::string& source, const StorageOptions& options,
                                        absl::Time now);

// Makes a new database in the directory of `options` in place of one that is damaged, as
// `damage` says, and that no process has open. All deletes are paused and what is tracked is
// in doubt from its first write on. The files of the damaged one go into the folder
// "damaged", in place of what an earlier call put there. FAILED_PRECONDITION if another
// process has it open. One that did not finish leaves a directory that Storage::Open finds
// damaged, with the same words, and another one goes on with it.
absl::Status ReplaceDamaged(const StorageOptions& options, const std::string& damage,
                            absl::Time now);

// FAILED_PRECONDITION if a database was being made there by RestoreBackup or RepairCopy, and
// that did not finish; DATA_LOSS if it was by ReplaceDamaged.
absl::Status CheckFinished(const std::string& directory);

}  // namespace ttl

#endif  // TTL_SERVICE_STORAGE_UPKEEP_RECOVERY_H_
