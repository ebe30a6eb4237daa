#ifndef TTL_SERVICE_STORAGE_LOG_ENV_H_
#define TTL_SERVICE_STORAGE_LOG_ENV_H_

#include <leveldb/env.h>

#include <string>

namespace ttl {

// LevelDB's POSIX environment with write-ahead logs that are made for frequent
// syncs: zeros are written ahead of what is appended, a piece at a time, so that
// most syncs need not record a new file size, which about doubles what they take.
// A log that is closed is cut to its contents; one left behind by a killed
// process ends in zeros, which LevelDB takes for the end; if it was killed, or a write
// failed, in the middle of a write, that one is left out when the log is read (see
// log_tail.h). The entry of a new log in its directory is durable before the log is used;
// the sync of one that was removed fails.
//
// Thread-safe; so is each file as far as LevelDB's are.
class LogEnv : public leveldb::EnvWrapper {
 public:
  LogEnv() : EnvWrapper(leveldb::Env::Default()) {}

  leveldb::Status NewWritableFile(const std::string& path, leveldb::WritableFile** file) override;
  leveldb::Status NewSequentialFile(const std::string& path,
                                    leveldb::SequentialFile** file) override;
};

}  // namespace ttl

#endif  // TTL_SERVICE_STORAGE_LOG_ENV_H_
