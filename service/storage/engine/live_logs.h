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

// Maintains the file "live-logs" of a database's directory, which names the write-ahead logs that
// LevelDB needs. If a log is missing, empty or truncated between two writes, LevelDB takes it for
// one that never held more, and acknowledged writes are lost silently; the file detects this, also
// after a kill. It is synced before a log gets its first record, and before a log that is no longer
// needed is removed. Maintains nothing before Load(). Thread-safe.
class LiveLogs {
 public:
  // The directory contains the files of one database, written through LogEnv.
  explicit LiveLogs(leveldb::Env& env) : env_(env) {}

  // Reads the file. Call it each time before the database in `directory` is opened. DATA_LOSS if a
  // log that it names is missing, or does not end in the zeros that LogEnv writes. OK if there is
  // no file, or if a program that does not maintain it has opened the database since.
  absl::Status Load(const std::string& directory);

  // DATA_LOSS as in Load(); changes nothing.
  absl::Status Check() const;

  // The log at `path` exists, durably, and is about to be used.
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
  // The manifest that CURRENT names, or is about to name. Numbers only grow, so a file with a
  // smaller one is of an earlier run.
  uint64_t manifest_ ABSL_GUARDED_BY(mutex_) = 0;
  std::set<uint64_t> logs_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace ttl

#endif  // TTL_SERVICE_STORAGE_ENGINE_LIVE_LOGS_H_
