#ifndef TTL_SERVICE_STORAGE_UPKEEP_BACKUP_H_
#define TTL_SERVICE_STORAGE_UPKEEP_BACKUP_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "service/storage/commit/change_tap.h"
#include "service/storage/engine/database.h"

namespace ttl {

// Makes a backup file while the database is in use, without blocking it. Copies all records in key
// order, with short cursors, and between them the commits made meanwhile. Restoring the file means
// making its changes in order.
//
// The result is the state after the last commit in the file. For each key, the last record in the
// file is either a commit, or a copy read after all commits before it in the file were written. A
// commit written before a copy was read but drained after it comes later in the file, and changes
// nothing or adds what the copy missed. Nothing is copied after the last drain, and a drain
// contains all of whatever a copy saw (see ChangeTap); so no commit is in the file in part.
//
// The file: "TTLBACKUP", then frames (see BackupFrame in record.proto). For one thread.
class Backup {
 public:
  // Both must outlive this. RESOURCE_EXHAUSTED if a backup is already running.
  static absl::StatusOr<std::unique_ptr<Backup>> Start(const Database& database, ChangeTap& tap,
                                                       absl::Time now);
  ~Backup();
  Backup(const Backup&) = delete;
  Backup& operator=(const Backup&) = delete;

  // The next bytes of the file, some hundred KiB; empty at the end. DATA_LOSS if stored data is
  // damaged; otherwise the errors of ChangeTap::Drain().
  absl::StatusOr<std::string> Next();

  // Records in the file so far.
  int64_t records() const { return records_; }

 private:
  Backup(const Database& database, ChangeTap& tap, absl::Time now);

  absl::Status AddCommitted(std::string& bytes);
  absl::Status AddCopies(std::string& bytes);
  absl::Status AddEnd(std::string& bytes);
  void AddFrame(const std::string& frame, std::string& bytes);

  const Database& database_;
  ChangeTap& tap_;
  const absl::Time start_time_;
  std::string position_;  // where copying continues
  bool copied_all_ = false;
  bool ended_ = false;
  int64_t frames_ = 0;
  uint32_t crc_ = 0;
  int64_t records_ = 0;
};

// The first bytes of every backup file.
inline constexpr char kBackupMagic[] = "TTLBACKUP";

// Maximum frame size that a reader accepts.
inline constexpr uint32_t kMaxBackupFrameBytes = uint32_t{64} << 20;

}  // namespace ttl

#endif  // TTL_SERVICE_STORAGE_UPKEEP_BACKUP_H_
