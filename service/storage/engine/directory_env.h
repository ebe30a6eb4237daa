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

// Another Env, of the real file system, for the database of one directory. Notices that
// the directory or LevelDB's lock in it went away, and changes nothing in what is in its
// place. Thread-safe.
class DirectoryEnv final : public leveldb::EnvWrapper {
 public:
  // `target` must outlive this.
  explicit DirectoryEnv(leveldb::Env* target) : EnvWrapper(target) {}

  // Makes the directory if it is missing; its parent must exist. Once, before all else.
  absl::Status Enter(const std::string& directory);

  // UNAVAILABLE unless the path of the directory leads to the one that was entered.
  absl::Status CheckDirectory() const;
  // The same for the directory, and the lock while it is held.
  absl::Status CheckPaths() const;

  leveldb::Status NewWritableFile(const std::string& path, leveldb::WritableFile** file) override;
  leveldb::Status RemoveFile(const std::string& path) override;
  leveldb::Status RenameFile(const std::string& from, const std::string& to) override;
  // LevelDB would make the directory anew in the place of one that went away.
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
