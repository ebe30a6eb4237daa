#ifndef TTL_SERVICE_STORAGE_ENGINE_LOG_ENV_H_
#define TTL_SERVICE_STORAGE_ENGINE_LOG_ENV_H_

#include <leveldb/env.h>

#include <string>

#include "absl/status/status.h"
#include "service/storage/engine/live_logs.h"

namespace ttl {

// LevelDB's POSIX environment with write-ahead logs that are made for frequent
// syncs: zeros are written ahead of what is appended, a piece at a time, so that
// most syncs need not record a new file size, which about doubles what they take.
// What is appended is written when it is synced or the log is closed.
//
// A log always ends in zeros, kLogEndZeros of them when it is closed, and LevelDB takes
// them for the end. If the process was killed, or a write failed, in the middle of a write,
// that one is left out when the log is read (see log_tail.h). That a log is missing, empty
// or cut short is told from that (see live_logs.h). The entry of a new log in its directory is
// durable before the log is used; the sync of one that was removed fails.
//
// For the database of one directory. Thread-safe; so is each file as far as LevelDB's are.
class LogEnv : public leveldb::EnvWrapper {
 public:
  LogEnv() : EnvWrapper(leveldb::Env::Default()), live_logs_(*target()) {}

  // Before LevelDB opens the database in `directory`, each time; see LiveLogs::Load. Without it
  // no list is kept.
  absl::Status LoadLiveLogs(const std::string& directory);
  // See LiveLogs::Check.
  absl::Status CheckLiveLogs() const;

  leveldb::Status NewWritableFile(const std::string& path, leveldb::WritableFile** file) override;
  leveldb::Status NewSequentialFile(const std::string& path,
                                    leveldb::SequentialFile** file) override;
  leveldb::Status RemoveFile(const std::string& path) override;
  leveldb::Status RenameFile(const std::string& from, const std::string& to) override;

 private:
  LiveLogs live_logs_;
};

}  // namespace ttl

#endif  // TTL_SERVICE_STORAGE_ENGINE_LOG_ENV_H_
