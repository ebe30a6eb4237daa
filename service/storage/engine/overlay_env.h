#ifndef TTL_SERVICE_STORAGE_ENGINE_OVERLAY_ENV_H_
#define TTL_SERVICE_STORAGE_ENGINE_OVERLAY_ENV_H_

#include <leveldb/env.h>

#include <cstddef>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "service/base/mutex.h"

namespace ttl {

// An Env that can keep what is written in memory. With it LevelDB, which needs a few new files to
// open a database, can open one on a volume that accepts no writes. Thread-safe.
class OverlayEnv final : public leveldb::EnvWrapper {
 public:
  // Keeps at most `max_bytes` in memory. `target` must outlive this.
  OverlayEnv(leveldb::Env* target, size_t max_bytes) : EnvWrapper(target), max_bytes_(max_bytes) {}

  // From now on new files are created in memory, files are removed there only, and a file that
  // cannot be locked because its file system is read-only is locked against writers.
  void Begin();
  // From now on creating files fails too, so that LevelDB's own background work fails and ends.
  void Seal();
  // Drops what is in memory, and passes everything on to the target again. REQUIRES: no file or
  // lock created since Begin() is in use.
  void End();

  leveldb::Status NewSequentialFile(const std::string& path,
                                    leveldb::SequentialFile** file) override;
  leveldb::Status NewRandomAccessFile(const std::string& path,
                                      leveldb::RandomAccessFile** file) override;
  leveldb::Status NewWritableFile(const std::string& path, leveldb::WritableFile** file) override;
  bool FileExists(const std::string& path) override;
  leveldb::Status GetChildren(const std::string& directory,
                              std::vector<std::string>* names) override;
  leveldb::Status RemoveFile(const std::string& path) override;
  leveldb::Status GetFileSize(const std::string& path, uint64_t* size) override;
  leveldb::Status RenameFile(const std::string& from, const std::string& to) override;
  leveldb::Status LockFile(const std::string& path, leveldb::FileLock** lock) override;
  leveldb::Status UnlockFile(leveldb::FileLock* lock) override;

 private:
  using Bytes = std::shared_ptr<std::string>;
  enum class State { kOff, kOpen, kSealed };

  class MemoryFile;

  bool IsOn() const;
  bool IsRemoved(const std::string& path) const;
  // Null: not in memory.
  Bytes Find(const std::string& path) const;
  leveldb::Status Append(std::string& bytes, const leveldb::Slice& data);

  const size_t max_bytes_;
  mutable Mutex mutex_;
  State state_ ABSL_GUARDED_BY(mutex_) = State::kOff;
  size_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  std::map<std::string, Bytes> files_ ABSL_GUARDED_BY(mutex_);
  std::set<std::string> removed_ ABSL_GUARDED_BY(mutex_);                 // of the target
  std::map<leveldb::FileLock*, int> read_locks_ ABSL_GUARDED_BY(mutex_);  // descriptors
};

}  // namespace ttl

#endif  // TTL_SERVICE_STORAGE_ENGINE_OVERLAY_ENV_H_
