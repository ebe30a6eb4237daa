#include "service/storage/engine/directory_env.h"

#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "service/base/status_macros.h"

namespace ttl {

absl::Status DirectoryEnv::Enter(const std::string& directory) {
  // Whether there is one now is seen next.
  target()->CreateDir(directory);
  absl::StatusOr<PinnedPath> pinned = PinnedPath::Take(directory);
  if (!pinned.ok()) {
    return absl::UnavailableError(
        absl::StrCat("opening the database in ", directory, ": ", pinned.status().message()));
  }
  const MutexLock lock(mutex_);
  directory_ = *std::move(pinned);
  return absl::OkStatus();
}

absl::Status DirectoryEnv::CheckDirectory() const {
  const MutexLock lock(mutex_);
  const absl::Status status = directory_->Check();
  if (status.ok()) return status;
  return absl::UnavailableError(absl::StrCat("the data directory ", status.message()));
}

absl::Status DirectoryEnv::CheckPaths() const {
  TTL_RETURN_IF_ERROR(CheckDirectory());
  const MutexLock lock(mutex_);
  return lock_.has_value() ? lock_->Check() : absl::OkStatus();
}

leveldb::Status DirectoryEnv::MayChange(const std::string& path) const {
  const absl::Status status = CheckDirectory();
  if (status.ok()) return leveldb::Status::OK();
  return leveldb::Status::IOError(path, std::string(status.message()));
}

leveldb::Status DirectoryEnv::NewWritableFile(const std::string& path,
                                              leveldb::WritableFile** file) {
  *file = nullptr;
  const leveldb::Status status = MayChange(path);
  return status.ok() ? target()->NewWritableFile(path, file) : status;
}

leveldb::Status DirectoryEnv::RemoveFile(const std::string& path) {
  const leveldb::Status status = MayChange(path);
  return status.ok() ? target()->RemoveFile(path) : status;
}

leveldb::Status DirectoryEnv::RenameFile(const std::string& from, const std::string& to) {
  const leveldb::Status status = MayChange(to);
  return status.ok() ? target()->RenameFile(from, to) : status;
}

leveldb::Status DirectoryEnv::CreateDir(const std::string& /*path*/) {
  return leveldb::Status::OK();
}

leveldb::Status DirectoryEnv::LockFile(const std::string& path, leveldb::FileLock** lock) {
  *lock = nullptr;
  leveldb::Status status = MayChange(path);
  if (status.ok()) status = target()->LockFile(path, lock);
  if (!status.ok()) return status;
  absl::StatusOr<PinnedPath> pinned = PinnedPath::Take(path);
  if (!pinned.ok()) {
    target()->UnlockFile(std::exchange(*lock, nullptr));
    return leveldb::Status::IOError(path, std::string(pinned.status().message()));
  }
  const MutexLock guard(mutex_);
  lock_ = *std::move(pinned);
  return status;
}

leveldb::Status DirectoryEnv::UnlockFile(leveldb::FileLock* lock) {
  {
    const MutexLock guard(mutex_);
    lock_.reset();
  }
  return target()->UnlockFile(lock);
}

}  // namespace ttl
