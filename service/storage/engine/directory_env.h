#ifndef TTL_SERVICE_STORAGE_ENGINE_DIRECTORY_ENV_H_
#define TTL_SERVICE_STORAGE_ENGINE_DIRECTORY_ENV_H_

#include <leveldb/env.h>

#include <optional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "service/base/mutex.h"
#include "service/base/pinned_path.h"

namespace ttl {

// An Env of the real file system for the database of one directory. Notices if the directory or
// LevelDB's lock in it was removed or replaced, and then changes nothing at its path. Thread-safe.
class DirectoryEnv final : public leveldb::EnvWrapper {
 public:
  // `target` must outlive this.
  explicit DirectoryEnv(leveldb::Env* target) : EnvWrapper(target) {}

  // Creates the directory if it is missing; its parent must exist. Call it once, before everything
  // else.
  absl::Status Enter(const std::string& directory);

  // UNAVAILABLE unless the path of the directory leads to the one that was entered.
  absl::Status CheckDirectory() const;
  // The same for the directory and, while it is held, the lock.
  absl::Status CheckPaths() const;

  leveldb::Status NewWritableFile(const std::string& path, leveldb::WritableFile** file) override;
  leveldb::Status RemoveFile(const std::string& path) override;
  leveldb::Status RenameFile(const std::string& from, const std::string& to) override;
  // Overridden because LevelDB would create the directory again in place of one that was removed.
  leveldb::Status CreateDir(const std::string& path) override;
  leveldb::Status LockFile(const std::string& path, leveldb::FileLock** lock) override;
  leveldb::Status UnlockFile(leveldb::FileLock* lock) override;

 private:
  leveldb::Status MayChange(const std::string& path) const;

  mutable Mutex mutex_;
  std::optional<PinnedPath> directory_ ABSL_GUARDED_BY(mutex_);
  std::optional<PinnedPath> lock_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace ttl

#endif  // TTL_SERVICE_STORAGE_ENGINE_DIRECTORY_ENV_H_
