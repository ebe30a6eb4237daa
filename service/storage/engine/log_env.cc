#include "service/storage/engine/log_env.h"

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
#include "absl/strings/strip.h"
#include "service/storage/engine/log_tail.h"
#include "service/storage/engine/sync_directory.h"

namespace ttl {
namespace {

// A sync that has to write this much more takes a few milliseconds; of larger
// pieces each would be felt, smaller ones save less.
constexpr size_t kZerosAhead = size_t{256} << 10;

bool IsLog(const std::string& path) { return absl::EndsWith(path, ".log"); }

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

// A write-ahead log. After a kill or a power loss it ends in zeros, because the zeros behind a
// write are durable before the write begins. Most writes need no extra sync for that, because the
// sync of an earlier write has made enough zeros durable.
class LogFile : public leveldb::WritableFile {
 public:
  LogFile(std::string path, int file) : path_(std::move(path)), file_(file) {}
  ~LogFile() override { Close(); }

  // Makes the first zeros, durably.
  leveldb::Status Begin() { return NeedZeros(0); }

  leveldb::Status Append(const leveldb::Slice& data) override {
    buffer_.append(data.data(), data.size());
    return leveldb::Status::OK();
  }

  // LevelDB flushes each piece of a write, and syncs when it is whole.
  leveldb::Status Flush() override { return leveldb::Status::OK(); }

  leveldb::Status Sync() override {
    const leveldb::Status written = WriteBuffer();
    if (!written.ok()) return written;
    ZeroAhead();
    if (::fdatasync(file_) != 0) return ErrnoStatus(path_, errno);
    return CheckLinked();
  }

  leveldb::Status Close() override {
    if (file_ < 0) return leveldb::Status::OK();
    leveldb::Status status = buffer_.empty() ? leveldb::Status::OK() : WriteBuffer();
    if (::ftruncate(file_, static_cast<off_t>(written_ + kLogEndZeros)) != 0 && status.ok()) {
      status = ErrnoStatus(path_, errno);
    }
    if (::close(std::exchange(file_, -1)) != 0 && status.ok()) status = ErrnoStatus(path_, errno);
    return status;
  }

 private:
  leveldb::Status WriteBuffer() {
    const leveldb::Status written = WriteBytes(buffer_);
    // Tried once: LevelDB considers everything behind a failed write lost.
    buffer_.clear();
    return written;
  }

  leveldb::Status WriteBytes(absl::string_view bytes) {
    largest_write_ = std::max(largest_write_, bytes.size());
    const leveldb::Status zeroed = NeedZeros(written_ + bytes.size());
    if (!zeroed.ok()) return zeroed;
    const int error = WriteAt(file_, bytes, static_cast<off_t>(written_));
    written_ += bytes.size();
    return error == 0 ? leveldb::Status::OK() : ErrnoStatus(path_, error);
  }

  // Ensures that data written up to `end` is followed by durable zeros.
  leveldb::Status NeedZeros(size_t end) {
    const size_t needed = end + kLogEndZeros;
    if (needed <= zeroed_) return leveldb::Status::OK();
    int error = ZeroTo(needed + kZerosAhead);
    // If there is only room for the write itself, it must not fail.
    if (error != 0) error = ZeroTo(needed);
    if (error == 0 && ::fdatasync(file_) != 0) error = errno;
    return error == 0 ? leveldb::Status::OK() : ErrnoStatus(path_, error);
  }

  // Writes zeros for the next writes, to be made durable by the sync of this one. Next writes that
  // are as large as any before then need no extra sync. Only saves time, and the more the fewer
  // syncs change the length of the file.
  void ZeroAhead() {
    const size_t enough = std::max(kZerosAhead / 2, largest_write_ + kLogEndZeros);
    if (zeroed_ < written_ + enough) ZeroTo(written_ + enough + kZerosAhead);
  }

  // 0, or the errno. REQUIRES: nothing was written behind zeroed_.
  int ZeroTo(size_t end) {
    static const std::string* const zeros = new std::string(kZerosAhead, '\0');
    while (zeroed_ < end) {
      const absl::string_view piece = absl::string_view(*zeros).substr(0, end - zeroed_);
      const int error = WriteAt(file_, piece, static_cast<off_t>(zeroed_));
      if (error != 0) return error;
      zeroed_ += piece.size();
    }
    return 0;
  }

  // Fails if the file was removed: its data would be lost when the process ends. Asks for nothing
  // else: once somebody has read the times of a file, Linux 6.13 and later note the exact time of
  // its next write, and the sync of that write takes a third longer.
  leveldb::Status CheckLinked() const {
    struct statx info;
    if (::statx(file_, "", AT_EMPTY_PATH, STATX_NLINK, &info) != 0) {
      return ErrnoStatus(path_, errno);
    }
    if (info.stx_nlink > 0) return leveldb::Status::OK();
    return leveldb::Status::IOError(path_, "the file was removed while it was written");
  }

  const std::string path_;
  int file_;
  std::string buffer_;
  size_t written_ = 0;
  size_t zeroed_ = 0;  // never less than written_
  size_t largest_write_ = 0;
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
  const absl::Status synced = SyncDirectory(std::filesystem::path(path).parent_path().string());
  if (synced.ok()) return leveldb::Status::OK();
  return leveldb::Status::IOError(path, std::string(synced.message()));
}

}  // namespace

absl::Status LogEnv::LoadLiveLogs(const std::string& directory) {
  return live_logs_.Load(directory);
}

absl::Status LogEnv::CheckLiveLogs() const { return live_logs_.Check(); }

leveldb::Status LogEnv::NewWritableFile(const std::string& path, leveldb::WritableFile** file) {
  if (!IsLog(path)) return target()->NewWritableFile(path, file);
  *file = nullptr;
  const int opened = OpenFile(path, O_CREAT | O_TRUNC | O_WRONLY);
  if (opened < 0) return ErrnoStatus(path, errno);
  auto log = std::make_unique<LogFile>(path, opened);
  leveldb::Status status = log->Begin();
  if (status.ok()) status = SyncDirectoryOf(path);
  if (status.ok()) status = live_logs_.Add(path);
  if (status.ok()) {
    *file = log.release();
  } else {
    target()->RemoveFile(path);
  }
  return status;
}

leveldb::Status LogEnv::RemoveFile(const std::string& path) {
  if (IsLog(path)) {
    const leveldb::Status noted = live_logs_.Remove(path);
    if (!noted.ok()) return noted;
  }
  return target()->RemoveFile(path);
}

leveldb::Status LogEnv::RenameFile(const std::string& from, const std::string& to) {
  if (absl::EndsWith(to, "/CURRENT")) {
    std::string current;
    leveldb::Status status = leveldb::ReadFileToString(target(), from, &current);
    if (status.ok()) status = live_logs_.SetManifest(absl::StripSuffix(current, "\n"));
    if (!status.ok()) return status;
  }
  return target()->RenameFile(from, to);
}

leveldb::Status LogEnv::NewSequentialFile(const std::string& path, leveldb::SequentialFile** file) {
  leveldb::Status opened = target()->NewSequentialFile(path, file);
  if (!opened.ok() || !IsLog(path)) return opened;
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
