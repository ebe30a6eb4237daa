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

// Longest path of a Unix socket, in bytes.
inline constexpr size_t kMaxSocketPathBytes = 107;

struct UnixSocketOptions {
  std::string path;
  mode_t mode = 0660;
  std::string group = {};  // name or number; empty: the group of the process
};

// The right to serve at the path of a Unix socket. It is held by a lock on the
// file PATH.lock, which is removed with it. Not thread-safe.
class UnixSocket {
 public:
  // Takes the path. What a dead server left there is removed; a socket on which
  // somebody answers, or anything that is no socket, is never touched.
  // INVALID_ARGUMENT for a path that is too long or a group that does not exist;
  // NOT_FOUND if the directory is missing: none is made; FAILED_PRECONDITION if
  // the path is in use.
  static absl::StatusOr<std::unique_ptr<UnixSocket>> Claim(const UnixSocketOptions& options);

  // Gives the path back.
  ~UnixSocket();
  UnixSocket(const UnixSocket&) = delete;
  UnixSocket& operator=(const UnixSocket&) = delete;

  // Runs `bind`, which makes the socket at the path, then sets group and mode.
  // At no instant can anyone connect whom the mode keeps out. Changes the umask
  // of the process meanwhile, towards stricter only.
  absl::Status Bind(absl::FunctionRef<absl::Status()> bind);

  // UNAVAILABLE, with the path, if it does not lead to what Bind() made there: nobody can
  // connect any more. REQUIRES: Bind() has succeeded.
  absl::Status CheckInPlace() const { return bound_->Check(); }

  // Bind() for a socket that is not in place any more. Errors are those of Claim() too: the
  // path may have been taken meanwhile, the lock removed, with the directory for example.
  absl::Status BindAgain(absl::FunctionRef<absl::Status()> bind);

  // Removes the socket from the path, if it is what Bind() made there.
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
