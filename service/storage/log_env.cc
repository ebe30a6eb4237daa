#include "service/storage/log_env.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "service/storage/log_tail.h"

namespace ttl {
namespace {

// A sync that has to write this much more takes a few milliseconds; of larger
// pieces each would be felt, smaller ones save less.
constexpr size_t kZerosAhead = size_t{256} << 10;
constexpr size_t kBufferBytes = size_t{64} << 10;

leveldb::Status ErrnoStatus(const std::string& path, int error) {
  return error == ENOENT ? leveldb::Status::NotFound(path, std::strerror(error))
                         : leveldb::Status::IOError(path, std::strerror(error));
}

int OpenFile(const std::string& path, int flags) {
  while (true) {
    const int file = ::open(path.c_str(), flags | O_CLOEXEC, 0644);
    if (file >= 0 || errno != EINTR) return file;
  }
}

// 0, or the errno.
int WriteAt(int file, absl::string_view bytes, off_t position) {
  while (!bytes.empty()) {
    const ssize_t written = ::pwrite(file, bytes.data(), bytes.size(), position);
    if (written < 0) {
      if (errno == EINTR) continue;
      return errno;
    }
    bytes.remove_prefix(static_cast<size_t>(written));
    position += written;
  }
  return 0;
}

class LogFile : public leveldb::WritableFile {
 public:
  LogFile(std::string path, int file) : path_(std::move(path)), file_(file) {}
  ~LogFile() override { Close(); }

  leveldb::Status Append(const leveldb::Slice& data) override {
    buffer_.append(data.data(), data.size());
    return buffer_.size() < kBufferBytes ? leveldb::Status::OK() : Flush();
  }

  leveldb::Status Flush() override {
    if (buffer_.empty()) return leveldb::Status::OK();
    ZeroAhead(written_ + buffer_.size());
    const int error = WriteAt(file_, buffer_, static_cast<off_t>(written_));
    // Tried once: LevelDB takes what follows a failed append for lost.
    written_ += buffer_.size();
    buffer_.clear();
    return error == 0 ? leveldb::Status::OK() : ErrnoStatus(path_, error);
  }

  leveldb::Status Sync() override {
    const leveldb::Status flushed = Flush();
    if (!flushed.ok()) return flushed;
    if (::fdatasync(file_) != 0) return ErrnoStatus(path_, errno);
    return CheckLinked();
  }

  leveldb::Status Close() override {
    if (file_ < 0) return leveldb::Status::OK();
    leveldb::Status status = Flush();
    if (::ftruncate(file_, static_cast<off_t>(written_)) != 0 && status.ok()) {
      status = ErrnoStatus(path_, errno);
    }
    if (::close(std::exchange(file_, -1)) != 0 && status.ok()) status = ErrnoStatus(path_, errno);
    return status;
  }

 private:
  // What is written to a removed file is gone with the process.
  leveldb::Status CheckLinked() const {
    struct stat info;
    if (::fstat(file_, &info) != 0) return ErrnoStatus(path_, errno);
    if (info.st_nlink > 0) return leveldb::Status::OK();
    return leveldb::Status::IOError(path_, "the file was removed while it was written");
  }

  // Only saves time: where there is no space, the write itself will say so.
  void ZeroAhead(size_t end) {
    static const std::string* const zeros = new std::string(kZerosAhead, '\0');
    // Where zeros could not be written there may be contents by now.
    zeroed_ = std::max(zeroed_, written_);
    while (zeroed_ < end && WriteAt(file_, *zeros, static_cast<off_t>(zeroed_)) == 0) {
      zeroed_ += kZerosAhead;
    }
  }

  const std::string path_;
  int file_;
  std::string buffer_;
  size_t written_ = 0;
  size_t zeroed_ = 0;
};

// A log up to where it is torn.
class CutFile : public leveldb::SequentialFile {
 public:
  CutFile(std::unique_ptr<leveldb::SequentialFile> file, uint64_t bytes)
      : file_(std::move(file)), left_(bytes) {}

  leveldb::Status Read(size_t count, leveldb::Slice* result, char* scratch) override {
    const leveldb::Status status = file_->Read(std::min<uint64_t>(count, left_), result, scratch);
    left_ -= result->size();
    return status;
  }
  leveldb::Status Skip(uint64_t count) override {
    count = std::min(count, left_);
    left_ -= count;
    return file_->Skip(count);
  }

 private:
  const std::unique_ptr<leveldb::SequentialFile> file_;
  uint64_t left_;
};

leveldb::Status SyncDirectoryOf(const std::string& path) {
  const std::string directory = std::filesystem::path(path).parent_path().string();
  const int file = OpenFile(directory, O_RDONLY | O_DIRECTORY);
  if (file < 0) return ErrnoStatus(directory, errno);
  const int error = ::fsync(file) == 0 ? 0 : errno;
  ::close(file);
  return error == 0 ? leveldb::Status::OK() : ErrnoStatus(directory, error);
}

}  // namespace

leveldb::Status LogEnv::NewWritableFile(const std::string& path, leveldb::WritableFile** file) {
  if (!absl::EndsWith(path, ".log")) return target()->NewWritableFile(path, file);
  *file = nullptr;
  const int opened = OpenFile(path, O_CREAT | O_TRUNC | O_WRONLY);
  if (opened < 0) return ErrnoStatus(path, errno);
  auto log = std::make_unique<LogFile>(path, opened);
  const leveldb::Status synced = SyncDirectoryOf(path);
  if (synced.ok()) *file = log.release();
  return synced;
}

leveldb::Status LogEnv::NewSequentialFile(const std::string& path, leveldb::SequentialFile** file) {
  leveldb::Status opened = target()->NewSequentialFile(path, file);
  if (!opened.ok() || !absl::EndsWith(path, ".log")) return opened;
  std::optional<uint64_t> end;
  {
    const std::unique_ptr<leveldb::SequentialFile> log(std::exchange(*file, nullptr));
    end = FindTornWrite(*log);
  }
  opened = target()->NewSequentialFile(path, file);
  if (!opened.ok() || !end.has_value()) return opened;
  *file = new CutFile(std::unique_ptr<leveldb::SequentialFile>(*file), *end);
  return opened;
}

}  // namespace ttl
