#include "client/examples/document_store/archive_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "spdlog/spdlog.h"

namespace documentstore {
namespace {

constexpr off_t kBlockBytes = 1 << 16;

// Makes the entry of a new file durable; returns an errno, or 0.
int SyncDirectoryOf(const std::string& path) {
  const std::string directory = std::filesystem::path(path).parent_path().string();
  const int file =
      open(directory.empty() ? "." : directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file < 0) return errno;
  const int error = fsync(file) == 0 ? 0 : errno;
  close(file);
  return error;
}

// The size up to the end of the last newline; -1 if the file cannot be read.
off_t SizeOfWholeLines(int file, off_t size) {
  std::string block;
  for (off_t end = size; end > 0; end -= static_cast<off_t>(block.size())) {
    block.resize(static_cast<size_t>(std::min(end, kBlockBytes)));
    const off_t begin = end - static_cast<off_t>(block.size());
    if (pread(file, block.data(), block.size(), begin) != static_cast<ssize_t>(block.size())) {
      return -1;
    }
    const size_t newline = block.rfind('\n');
    if (newline != std::string::npos) return begin + static_cast<off_t>(newline) + 1;
  }
  return 0;
}

}  // namespace

absl::StatusOr<std::unique_ptr<ArchiveFile>> ArchiveFile::Open(const std::string& path) {
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  std::unique_ptr<ArchiveFile> archive(new ArchiveFile(path, file));
  if (file < 0) return archive->Error(errno);
  if (const int error = SyncDirectoryOf(path); error != 0) return archive->Error(error);
  if (absl::Status status = archive->RemoveTornLine(); !status.ok()) return status;
  return archive;
}

ArchiveFile::ArchiveFile(std::string path, int file) : path_(std::move(path)), file_(file) {}

ArchiveFile::~ArchiveFile() {
  if (file_ >= 0) close(file_);
}

absl::Status ArchiveFile::Error(int error) const {
  return absl::UnavailableError(absl::StrCat(path_, ": ", std::generic_category().message(error)));
}

absl::Status ArchiveFile::RemoveTornLine() {
  struct stat state = {};
  if (fstat(file_, &state) != 0) return Error(errno);
  if (!S_ISREG(state.st_mode)) return absl::OkStatus();
  const off_t whole = SizeOfWholeLines(file_, state.st_size);
  if (whole < 0) return Error(errno);
  if (whole == state.st_size) return absl::OkStatus();
  spdlog::info("torn line removed from the archive: file=\"{}\" bytes={}", absl::CHexEscape(path_),
               state.st_size - whole);
  return ftruncate(file_, whole) == 0 ? absl::OkStatus() : Error(errno);
}

absl::Status ArchiveFile::Append(const std::string& lines) {
  if (absl::Status status = Write(lines); !status.ok()) return status;
  return fdatasync(file_) == 0 ? absl::OkStatus() : Error(errno);
}

absl::Status ArchiveFile::Write(const std::string& lines) {
  size_t done = 0;
  while (done < lines.size()) {
    const ssize_t written = write(file_, lines.data() + done, lines.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return Error(errno);
    done += static_cast<size_t>(written);
  }
  return absl::OkStatus();
}

}  // namespace documentstore
