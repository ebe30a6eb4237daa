#ifndef TTL_SERVICE_STORAGE_ENGINE_LOG_ENV_H_
#define TTL_SERVICE_STORAGE_ENGINE_LOG_ENV_H_

#include <leveldb/env.h>

#include <string>

#include "absl/status/status.h"
#include "service/storage/engine/live_logs.h"

namespace ttl {

// LevelDB's POSIX environment with write-ahead logs that are optimized for frequent syncs: zeros
// are written ahead of the data, a piece at a time, so that most syncs need not record a new file
// size, which would about double their duration. Appended data is written when it is synced or the
// log is closed.
//
// A log always ends in zeros, kLogEndZeros of them when it is closed, and LevelDB takes them for
// the end. If the process was killed, or a write failed, in the middle of a write, that write is
// left out when the log is read (see log_tail.h). So a log that is missing, empty or truncated can
// be detected (see live_logs.h). The directory entry of a new log is durable before the log is
// used; the sync of a log that was removed fails.
//
// For the database of one directory. Thread-safe; its files are as thread-safe as LevelDB's.
class LogEnv : public leveldb::EnvWrapper {
 public:
  LogEnv() : EnvWrapper(leveldb::Env::Default()), live_logs_(*target()) {}

  // Call it each time before LevelDB opens the database in `directory`; see LiveLogs::Load().
  // Without it no list is maintained.
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
