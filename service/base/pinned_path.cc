#include "service/base/pinned_path.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"

namespace ttl {
namespace {

absl::Status Unusable(const std::string& path, absl::string_view what) {
  return absl::UnavailableError(absl::StrCat("\"", path, "\" ", what));
}

}  // namespace

absl::StatusOr<PinnedPath> PinnedPath::Take(std::string path) {
  // O_PATH, because closing any other descriptor releases the process's POSIX locks on the file.
  const int fd = open(path.c_str(), O_PATH | O_CLOEXEC);
  if (fd < 0) return absl::ErrnoToStatus(errno, absl::StrCat("cannot open \"", path, "\""));
  return PinnedPath(std::move(path), fd);
}

PinnedPath::PinnedPath(PinnedPath&& other) noexcept
    : path_(std::move(other.path_)), fd_(std::exchange(other.fd_, -1)) {}

PinnedPath& PinnedPath::operator=(PinnedPath&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(fd_, other.fd_);
  return *this;
}

PinnedPath::~PinnedPath() {
  if (fd_ >= 0) close(fd_);
}

absl::Status PinnedPath::Check() const {
  struct stat pinned;
  struct stat present;
  if (fstat(fd_, &pinned) != 0 || stat(path_.c_str(), &present) != 0) {
    if (errno == ENOENT || errno == ENOTDIR) return Unusable(path_, "is not there any more");
    return Unusable(path_,
                    absl::StrCat("cannot be looked at: ", std::generic_category().message(errno)));
  }
  if (pinned.st_dev == present.st_dev && pinned.st_ino == present.st_ino) return absl::OkStatus();
  return Unusable(path_, "is another one than was opened");
}

}  // namespace ttl
