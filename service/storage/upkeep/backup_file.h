#ifndef TTL_SERVICE_STORAGE_UPKEEP_BACKUP_FILE_H_
#define TTL_SERVICE_STORAGE_UPKEEP_BACKUP_FILE_H_

#include <cstdint>
#include <istream>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "service/storage/engine/database.h"

namespace ttl {

// The summary of a backup file.
struct BackupSummary {
  absl::Time start_time;
  int64_t records = 0;
};

// Reads a backup file to its end and passes its changes to `take`, in order and in several parts.
// DATA_LOSS if the file is truncated, damaged, or has bytes behind its end; INVALID_ARGUMENT if it
// is not a backup file, or has a newer file format; FAILED_PRECONDITION if its data has a format
// that this program does not know; or the error of `take`. `name` is used in messages.
absl::StatusOr<BackupSummary> ReadBackup(std::istream& file, const std::string& name,
                                         absl::FunctionRef<absl::Status(WriteSet)> take);

}  // namespace ttl

#endif  // TTL_SERVICE_STORAGE_UPKEEP_BACKUP_FILE_H_
