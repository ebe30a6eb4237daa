#include "service/transport/connections/unix_socket.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <filesystem>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "service/base/status_macros.h"

namespace ttl {
namespace {

static_assert(sizeof(sockaddr_un::sun_path) == kMaxSocketPathBytes + 1);

absl::Status ValidatePath(const std::string& path) {
  if (path.empty() || path.size() > kMaxSocketPathBytes) {
    return absl::InvalidArgumentError(absl::StrCat("socket \"", path, "\" has a path of ",
                                                   path.size(), " bytes: must have 1 to ",
                                                   kMaxSocketPathBytes, " bytes"));
  }
  const std::filesystem::path parent = std::filesystem::path(path).parent_path();
  std::error_code error;
  if (!parent.empty() && !std::filesystem::is_directory(parent, error)) {
    return absl::NotFoundError(absl::StrCat("socket \"", path, "\": \"", parent.string(),
                                            "\" is not a directory: create it first"));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::optional<gid_t>> ResolveGroup(const std::string& group) {
  if (group.empty()) return std::optional<gid_t>();
  gid_t number = 0;
  if (absl::SimpleAtoi(group, &number)) return number;
  std::vector<char> buffer(1 << 16);
  struct group entry;
  struct group* found = nullptr;
  getgrnam_r(group.c_str(), &entry, buffer.data(), buffer.size(), &found);
  if (found == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("--socket-group or group=: group \"", group,
                     "\" does not exist: give the name or number of a group"));
  }
  return found->gr_gid;
}

std::string LockPath(const std::string& path) { return absl::StrCat(path, ".lock"); }

absl::StatusOr<Fd> OpenLock(const std::string& lock_path) {
  Fd fd(open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600));
  if (fd.get() >= 0) return fd;
  return absl::ErrnoToStatus(errno, absl::StrCat("cannot open \"", lock_path, "\""));
}

bool LeadsTo(const std::string& lock_path, const Fd& fd) {
  struct stat at_path = {};
  struct stat opened = {};
  return lstat(lock_path.c_str(), &at_path) == 0 && fstat(fd.get(), &opened) == 0 &&
         at_path.st_dev == opened.st_dev && at_path.st_ino == opened.st_ino;
}

// Returns the descriptor that holds the lock. If the previous holder removed the file before it was
// locked here, the lock is worthless, since a new file may exist in its place; tries again then.
absl::StatusOr<Fd> TakeLock(const std::string& path) {
  const std::string lock_path = LockPath(path);
  while (true) {
    TTL_ASSIGN_OR_RETURN(Fd fd, OpenLock(lock_path));
    const int error = flock(fd.get(), LOCK_EX | LOCK_NB) == 0 ? 0 : errno;
    if (error == 0 && LeadsTo(lock_path, fd)) return fd;
    if (error == EWOULDBLOCK) {
      return absl::FailedPreconditionError(absl::StrCat(
          "socket \"", path, "\" is in use: another process holds \"", lock_path, "\""));
    }
    if (error != 0) {
      return absl::ErrnoToStatus(error, absl::StrCat("cannot lock \"", lock_path, "\""));
    }
  }
}

// 0 if a server accepts connections at `path`, otherwise the errno of connect().
int TryConnect(const std::string& path) {
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return errno;
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  memcpy(address.sun_path, path.data(), path.size());
  const int result = connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address));
  const int error = result == 0 ? 0 : errno;
  close(fd);
  return error;
}

// Removes a stale socket from the path. FAILED_PRECONDITION if something else is there.
absl::Status RemoveStale(const std::string& path) {
  struct stat info;
  if (lstat(path.c_str(), &info) != 0) {
    if (errno == ENOENT) return absl::OkStatus();
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot stat \"", path, "\""));
  }
  if (!S_ISSOCK(info.st_mode)) {
    return absl::FailedPreconditionError(
        absl::StrCat("\"", path, "\" is not a socket and will not be removed: give another path"));
  }
  const int error = TryConnect(path);
  if (error == 0 || error == EAGAIN) {
    return absl::FailedPreconditionError(
        absl::StrCat("socket \"", path, "\" is in use: a server answers on it"));
  }
  if (error != ECONNREFUSED) {
    return absl::ErrnoToStatus(error,
                               absl::StrCat("cannot tell whether socket \"", path, "\" is in use"));
  }
  if (unlink(path.c_str()) != 0 && errno != ENOENT) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot remove the left-over \"", path, "\""));
  }
  return absl::OkStatus();
}

// Restricts new files to their owner while in scope.
class OwnerOnlyUmask {
 public:
  OwnerOnlyUmask() : previous_(umask(0077)) {}
  ~OwnerOnlyUmask() { umask(previous_); }

 private:
  const mode_t previous_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<UnixSocket>> UnixSocket::Claim(const UnixSocketOptions& options) {
  TTL_RETURN_IF_ERROR(ValidatePath(options.path));
  TTL_ASSIGN_OR_RETURN(const std::optional<gid_t> group, ResolveGroup(options.group));
  TTL_ASSIGN_OR_RETURN(Fd lock, TakeLock(options.path));
  TTL_ASSIGN_OR_RETURN(PinnedPath lock_path, PinnedPath::Take(LockPath(options.path)));
  std::unique_ptr<UnixSocket> claimed(
      new UnixSocket(options, group, std::move(lock), std::move(lock_path)));
  TTL_RETURN_IF_ERROR(RemoveStale(options.path));
  return claimed;
}

UnixSocket::UnixSocket(UnixSocketOptions options, std::optional<gid_t> group, Fd lock,
                       PinnedPath lock_path)
    : options_(std::move(options)),
      group_(group),
      lock_(std::move(lock)),
      lock_path_(std::move(lock_path)) {}

// Removed while it is locked: a process that opened it before will notice that the path has
// changed.
UnixSocket::~UnixSocket() {
  if (LeadsTo(LockPath(options_.path), lock_)) unlink(LockPath(options_.path).c_str());
}

absl::Status UnixSocket::Bind(absl::FunctionRef<absl::Status()> bind) {
  {
    const OwnerOnlyUmask umask;
    TTL_RETURN_IF_ERROR(bind());
  }
  // Group before mode: otherwise the old group could connect in between.
  if (group_.has_value() && lchown(options_.path.c_str(), -1, *group_) != 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot give socket \"", options_.path,
                                                   "\" to the group \"", options_.group, "\""));
  }
  if (chmod(options_.path.c_str(), options_.mode) != 0) {
    return absl::ErrnoToStatus(
        errno, absl::StrCat("cannot set the mode of socket \"", options_.path, "\""));
  }
  TTL_ASSIGN_OR_RETURN(bound_, PinnedPath::Take(options_.path));
  return absl::OkStatus();
}

absl::Status UnixSocket::BindAgain(absl::FunctionRef<absl::Status()> bind) {
  TTL_RETURN_IF_ERROR(ValidatePath(options_.path));
  TTL_RETURN_IF_ERROR(KeepLock());
  TTL_RETURN_IF_ERROR(RemoveStale(options_.path));
  return Bind(bind);
}

absl::Status UnixSocket::KeepLock() {
  if (lock_path_.Check().ok()) return absl::OkStatus();
  TTL_ASSIGN_OR_RETURN(Fd lock, TakeLock(options_.path));
  TTL_ASSIGN_OR_RETURN(lock_path_, PinnedPath::Take(LockPath(options_.path)));
  lock_ = std::move(lock);
  return absl::OkStatus();
}

void UnixSocket::Remove() {
  if (bound_.has_value() && bound_->Check().ok()) unlink(options_.path.c_str());
}

}  // namespace ttl
