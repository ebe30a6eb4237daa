#ifndef TTL_SERVICE_STORAGE_ENGINE_LIVE_LOGS_H_
#define TTL_SERVICE_STORAGE_ENGINE_LIVE_LOGS_H_

#include <leveldb/env.h>

#include <cstdint>
#include <set>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "service/base/mutex.h"

namespace ttl {

// Keeps in the file "live-logs" of a database's directory which write-ahead logs LevelDB
// needs. LevelDB takes a log that is missing, empty or cut between two writes for one that
// never held more, and what was acknowledged with it for never written; with this it is
// noticed, after a kill too. The file is synced before a log gets its first record, and
// before one that is not needed any more is removed. Keeps none before Load(). Thread-safe.
class LiveLogs {
 public:
  // The directory has the files of one database, made by LogEnv.
  explicit LiveLogs(leveldb::Env& env) : env_(env) {}

  // Before the database in `directory` is opened, each time: reads the file. DATA_LOSS if a
  // log that it names is missing, or does not end in zeros as LogEnv makes it. OK if there
  // is no file, or if a program that does not keep it has had the database open since.
  absl::Status Load(const std::string& directory);

  // DATA_LOSS as Load() has it; changes nothing.
  absl::Status Check() const;

  // The log at `path` is there, durably, and about to be used.
  leveldb::Status Add(const std::string& path);
  // The log at `path` is about to be removed.
  leveldb::Status Remove(const std::string& path);
  // CURRENT is about to name the file `manifest`.
  leveldb::Status SetManifest(absl::string_view manifest);

 private:
  leveldb::Status Save(uint64_t manifest, const std::set<uint64_t>& logs)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  leveldb::Env& env_;
  mutable Mutex mutex_;
  std::string directory_ ABSL_GUARDED_BY(mutex_);
  // What CURRENT names, or is about to: numbers only grow, so that a file with a smaller one
  // is of an earlier run.
  uint64_t manifest_ ABSL_GUARDED_BY(mutex_) = 0;
  std::set<uint64_t> logs_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace ttl

#endif  // TTL_SERVICE_STORAGE_ENGINE_LIVE_LOGS_H_
