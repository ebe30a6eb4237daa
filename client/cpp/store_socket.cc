#include "ttl/store_socket.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <string>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace ttl {
namespace {

// The path in the address; empty for another scheme.
std::string PathOf(absl::string_view address) {
  if (!absl::ConsumePrefix(&address, "unix:")) return "";
  if (absl::StartsWith(address, "///")) address.remove_prefix(2);
  return std::string(address);
}

absl::Status InUse(const std::string& path, absl::string_view why) {
  return absl::FailedPreconditionError(absl::StrCat("socket \"", path, "\" is in use: ", why));
}

// Returns the descriptor that holds the lock.
absl::StatusOr<int> LockPath(const std::string& path) {
  const std::string lock_path = absl::StrCat(path, ".lock");
  const int fd = open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) return absl::ErrnoToStatus(errno, absl::StrCat("cannot open \"", lock_path, "\""));
  if (flock(fd, LOCK_EX | LOCK_NB) == 0) return fd;
  const int error = errno;
  close(fd);
  if (error == EWOULDBLOCK) {
    return InUse(path, absl::StrCat("another process holds \"", lock_path, "\""));
  }
  return absl::ErrnoToStatus(error, absl::StrCat("cannot lock \"", lock_path, "\""));
}

// 0 if a server accepts connections at `path`, otherwise the errno of connect().
int Connect(const std::string& path) {
  sockaddr_un address = {};
  if (path.size() >= sizeof(address.sun_path)) return ENAMETOOLONG;
  address.sun_family = AF_UNIX;
  memcpy(address.sun_path, path.data(), path.size());
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return errno;
  const bool connected =
      connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
  const int error = connected ? 0 : errno;
  close(fd);
  return error;
}

absl::Status RequireStale(const std::string& path) {
  struct stat info;
  if (lstat(path.c_str(), &info) != 0) {
    if (errno == ENOENT) return absl::OkStatus();
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot stat \"", path, "\""));
  }
  if (!S_ISSOCK(info.st_mode)) {
    return InUse(path, "it is not a socket and will not be removed; give another path");
  }
  const int error = Connect(path);
  // EAGAIN: the accept queue of a server is full.
  if (error == 0 || error == EAGAIN) return InUse(path, "a server answers on it");
  if (error == ECONNREFUSED || error == ENOENT) return absl::OkStatus();
  return absl::ErrnoToStatus(error, absl::StrCat("cannot tell whether \"", path, "\" is in use"));
}

}  // namespace

absl::StatusOr<std::unique_ptr<StoreSocket>> StoreSocket::Claim(absl::string_view address) {
  const std::string path = PathOf(address);
  if (path.empty()) return std::unique_ptr<StoreSocket>(new StoreSocket(-1));
  const absl::StatusOr<int> lock_fd = LockPath(path);
  if (!lock_fd.ok()) return lock_fd.status();
  std::unique_ptr<StoreSocket> claimed(new StoreSocket(*lock_fd));
  if (absl::Status stale = RequireStale(path); !stale.ok()) return stale;
  return claimed;
}

StoreSocket::~StoreSocket() {
  if (lock_fd_ >= 0) close(lock_fd_);
}

}  // namespace ttl
