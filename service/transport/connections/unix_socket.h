#ifndef TTL_SERVICE_TRANSPORT_CONNECTIONS_UNIX_SOCKET_H_
#define TTL_SERVICE_TRANSPORT_CONNECTIONS_UNIX_SOCKET_H_

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "service/base/pinned_path.h"
#include "service/transport/connections/fd.h"

namespace ttl {

// Maximum length of the path of a Unix socket, in bytes.
inline constexpr size_t kMaxSocketPathBytes = 107;

struct UnixSocketOptions {
  std::string path;
  mode_t mode = 0660;
  std::string group = {};  // name or number; empty: the group of the process
};

// Exclusive use of the path of a Unix socket, by a lock on the file PATH.lock. The lock file is
// removed when this is destroyed. Not thread-safe.
class UnixSocket {
 public:
  // Locks the path, and removes a socket that a dead server left there. A socket on which a server
  // answers, or a file that is not a socket, is never touched. INVALID_ARGUMENT for a path that is
  // too long or a group that does not exist; NOT_FOUND if the directory does not exist;
  // FAILED_PRECONDITION if the path is in use.
  static absl::StatusOr<std::unique_ptr<UnixSocket>> Claim(const UnixSocketOptions& options);

  // Releases the path.
  ~UnixSocket();
  UnixSocket(const UnixSocket&) = delete;
  UnixSocket& operator=(const UnixSocket&) = delete;

  // Runs `bind`, which creates the socket at the path, then sets its group and mode. At no time can
  // a process connect that the mode excludes. Meanwhile the umask of the process is stricter.
  absl::Status Bind(absl::FunctionRef<absl::Status()> bind);

  // UNAVAILABLE, naming the path, if the path is not that socket any more, so that clients cannot
  // connect. REQUIRES: Bind() has succeeded.
  absl::Status CheckInPlace() const { return bound_->Check(); }

  // Like Bind(), for a socket that is not in place any more. Also returns the errors of Claim():
  // the path may have been taken meanwhile, or the lock file removed with its directory.
  absl::Status BindAgain(absl::FunctionRef<absl::Status()> bind);

  // Removes the socket file, if it is still the one that Bind() created.
  void Remove();

  const std::string& path() const { return options_.path; }

 private:
  UnixSocket(UnixSocketOptions options, std::optional<gid_t> group, Fd lock, PinnedPath lock_path);

  absl::Status KeepLock();

  const UnixSocketOptions options_;
  const std::optional<gid_t> group_;
  Fd lock_;
  PinnedPath lock_path_;
  std::optional<PinnedPath> bound_;
};

}  // namespace ttl

#endif  // TTL_SERVICE_TRANSPORT_CONNECTIONS_UNIX_SOCKET_H_
