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

// What a backup file says of itself.
struct BackupSummary {
  absl::Time start_time;
  int64_t records = 0;
};

// Reads a backup file to its end and gives its changes, some at a time, in their order.
// DATA_LOSS if it is cut short, damaged, or has something behind its end;
// INVALID_ARGUMENT if it is no backup file, or one of a newer format; FAILED_PRECONDITION if
// its data is of a format that this program does not know; or what `take` says. `name` is for
// messages.
absl::StatusOr<BackupSummary> ReadBackup(std::istream& file, const std::string& name,
                                         absl::FunctionRef<absl::Status(WriteSet)> take);

}  // namespace ttl

#endif  // TTL_SERVICE_STORAGE_UPKEEP_BACKUP_FILE_H_
