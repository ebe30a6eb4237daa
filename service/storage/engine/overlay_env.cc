#include "service/storage/engine/overlay_env.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "absl/strings/match.h"

namespace ttl {
namespace {

// LevelDB reads no file before it is written to its end, but for the one that it deletes.
class MemoryReader : public leveldb::RandomAccessFile {
 public:
  explicit MemoryReader(std::shared_ptr<const std::string> bytes) : bytes_(std::move(bytes)) {}

  leveldb::Status Read(uint64_t offset, size_t count, leveldb::Slice* result,
                       char* /*scratch*/) const override {
    const size_t begin = std::min<uint64_t>(offset, bytes_->size());
    *result = leveldb::Slice(bytes_->data() + begin, std::min(count, bytes_->size() - begin));
    return leveldb::Status::OK();
  }

 private:
  const std::shared_ptr<const std::string> bytes_;
};

class MemorySequence : public leveldb::SequentialFile {
 public:
  explicit MemorySequence(std::shared_ptr<const std::string> bytes) : bytes_(std::move(bytes)) {}

  leveldb::Status Read(size_t count, leveldb::Slice* result, char* /*scratch*/) override {
    const size_t size = std::min(count, bytes_->size() - position_);
    *result = leveldb::Slice(bytes_->data() + position_, size);
    position_ += size;
    return leveldb::Status::OK();
  }
  leveldb::Status Skip(uint64_t count) override {
    position_ += std::min<uint64_t>(count, bytes_->size() - position_);
    return leveldb::Status::OK();
  }

 private:
  const std::shared_ptr<const std::string> bytes_;
  size_t position_ = 0;
};

class ReadLock : public leveldb::FileLock {};

leveldb::Status LockErrorStatus(const std::string& path, int error) {
  return leveldb::Status::IOError(path, std::strerror(error));
}

bool IsReadOnly(const std::string& path) {
  const std::string directory = std::filesystem::path(path).parent_path().string();
  return access(directory.c_str(), W_OK) != 0 && errno == EROFS;
}

// Nobody can write to the file system, but it may be mounted elsewhere too. Returns a
// descriptor, or -1 if there is no file to lock.
leveldb::Status LockAgainstWriters(const std::string& path, int* file) {
  *file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (*file < 0) return errno == ENOENT ? leveldb::Status::OK() : LockErrorStatus(path, errno);
  struct flock lock = {};
  lock.l_type = F_RDLCK;
  lock.l_whence = SEEK_SET;
  if (fcntl(*file, F_SETLK, &lock) == 0) return leveldb::Status::OK();
  const int error = errno;
  close(*file);
  return LockErrorStatus("lock " + path, error);
}

}  // namespace

class OverlayEnv::MemoryFile : public leveldb::WritableFile {
 public:
  MemoryFile(OverlayEnv& env, Bytes bytes) : env_(env), bytes_(std::move(bytes)) {}

  leveldb::Status Append(const leveldb::Slice& data) override { return env_.Append(*bytes_, data); }
  leveldb::Status Close() override { return leveldb::Status::OK(); }
  leveldb::Status Flush() override { return leveldb::Status::OK(); }
  leveldb::Status Sync() override { return leveldb::Status::OK(); }

 private:
  OverlayEnv& env_;
  const Bytes bytes_;
};

void OverlayEnv::Begin() {
  const MutexLock lock(mutex_);
  state_ = State::kOpen;
}

void OverlayEnv::Seal() {
  const MutexLock lock(mutex_);
  if (state_ == State::kOpen) state_ = State::kSealed;
}

void OverlayEnv::End() {
  const MutexLock lock(mutex_);
  state_ = State::kOff;
  bytes_ = 0;
  files_.clear();
  removed_.clear();
}

bool OverlayEnv::IsOn() const {
  const MutexLock lock(mutex_);
  return state_ != State::kOff;
}

bool OverlayEnv::IsRemoved(const std::string& path) const {
  const MutexLock lock(mutex_);
  return removed_.contains(path);
}

OverlayEnv::Bytes OverlayEnv::Find(const std::string& path) const {
  const MutexLock lock(mutex_);
  const auto found = files_.find(path);
  return found == files_.end() ? nullptr : found->second;
}

leveldb::Status OverlayEnv::Append(std::string& bytes, const leveldb::Slice& data) {
  const MutexLock lock(mutex_);
  if (bytes_ + data.size() > max_bytes_) {
    return leveldb::Status::IOError(
        "the limit of data kept in memory while the volume accepts no writes is reached");
  }
  bytes_ += data.size();
  bytes.append(data.data(), data.size());
  return leveldb::Status::OK();
}

leveldb::Status OverlayEnv::NewSequentialFile(const std::string& path,
                                              leveldb::SequentialFile** file) {
  *file = nullptr;
  if (Bytes bytes = Find(path)) {
    *file = new MemorySequence(std::move(bytes));
    return leveldb::Status::OK();
  }
  if (IsRemoved(path)) return leveldb::Status::NotFound(path);
  return target()->NewSequentialFile(path, file);
}

leveldb::Status OverlayEnv::NewRandomAccessFile(const std::string& path,
                                                leveldb::RandomAccessFile** file) {
  *file = nullptr;
  if (Bytes bytes = Find(path)) {
    *file = new MemoryReader(std::move(bytes));
    return leveldb::Status::OK();
  }
  if (IsRemoved(path)) return leveldb::Status::NotFound(path);
  return target()->NewRandomAccessFile(path, file);
}

leveldb::Status OverlayEnv::NewWritableFile(const std::string& path, leveldb::WritableFile** file) {
  *file = nullptr;
  {
    const MutexLock lock(mutex_);
    if (state_ == State::kSealed) {
      return leveldb::Status::IOError(path, "the volume accepts no writes");
    }
    if (state_ == State::kOpen) {
      const Bytes bytes = std::make_shared<std::string>();
      files_[path] = bytes;
      *file = new MemoryFile(*this, bytes);
      return leveldb::Status::OK();
    }
  }
  return target()->NewWritableFile(path, file);
}

bool OverlayEnv::FileExists(const std::string& path) {
  return Find(path) != nullptr || (!IsRemoved(path) && target()->FileExists(path));
}

leveldb::Status OverlayEnv::GetChildren(const std::string& directory,
                                        std::vector<std::string>* names) {
  const leveldb::Status status = target()->GetChildren(directory, names);
  const std::string prefix = directory + "/";
  const MutexLock lock(mutex_);
  names->erase(std::remove_if(names->begin(), names->end(),
                              [&](const std::string& name) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
                                const std::string path = prefix + name;
                                return removed_.contains(path) || files_.contains(path);
                              }),
               names->end());
  for (const auto& [path, bytes] : files_) {
    if (absl::StartsWith(path, prefix)) names->push_back(path.substr(prefix.size()));
  }
  return status;
}

leveldb::Status OverlayEnv::RemoveFile(const std::string& path) {
  if (!IsOn()) return target()->RemoveFile(path);
  if (!FileExists(path)) return leveldb::Status::NotFound(path);
  const MutexLock lock(mutex_);
  const auto found = files_.find(path);
  if (found != files_.end()) {
    bytes_ -= found->second->size();
    files_.erase(found);
  }
  removed_.insert(path);
  return leveldb::Status::OK();
}

leveldb::Status OverlayEnv::GetFileSize(const std::string& path, uint64_t* size) {
  {
    const MutexLock lock(mutex_);
    const auto found = files_.find(path);
    if (found != files_.end()) {
      *size = found->second->size();
      return leveldb::Status::OK();
    }
    if (removed_.contains(path)) return leveldb::Status::NotFound(path);
  }
  return target()->GetFileSize(path, size);
}

leveldb::Status OverlayEnv::RenameFile(const std::string& from, const std::string& to) {
  if (!IsOn()) return target()->RenameFile(from, to);
  const MutexLock lock(mutex_);
  const auto found = files_.find(from);
  if (found == files_.end()) return leveldb::Status::IOError(from, "the volume accepts no writes");
  const Bytes bytes = found->second;
  files_.erase(found);
  files_[to] = bytes;
  return leveldb::Status::OK();
}

leveldb::Status OverlayEnv::LockFile(const std::string& path, leveldb::FileLock** lock) {
  const leveldb::Status status = target()->LockFile(path, lock);
  if (status.ok() || !IsOn() || !IsReadOnly(path)) return status;
  int file = -1;
  const leveldb::Status locked = LockAgainstWriters(path, &file);
  if (!locked.ok()) return locked;
  *lock = new ReadLock();
  const MutexLock guard(mutex_);
  read_locks_[*lock] = file;
  return locked;
}

leveldb::Status OverlayEnv::UnlockFile(leveldb::FileLock* lock) {
  {
    const MutexLock guard(mutex_);
    const auto found = read_locks_.find(lock);
    if (found != read_locks_.end()) {
      if (found->second >= 0) close(found->second);
      read_locks_.erase(found);
      delete lock;
      return leveldb::Status::OK();
    }
  }
  return target()->UnlockFile(lock);
}

}  // namespace ttl
