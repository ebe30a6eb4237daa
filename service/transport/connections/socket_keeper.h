#ifndef TTL_SERVICE_TRANSPORT_CONNECTIONS_SOCKET_KEEPER_H_
#define TTL_SERVICE_TRANSPORT_CONNECTIONS_SOCKET_KEEPER_H_

#include <optional>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "service/base/mutex.h"
#include "service/transport/connections/fd.h"
#include "service/transport/connections/unix_socket.h"

namespace ttl {

// Recreates the file of a Unix socket that was removed or replaced, unless another process has
// taken the path; logs either. Only one thread may call Review(); state() is thread-safe.
class SocketKeeper {
 public:
  // Interval of Review() in seconds.
  static constexpr int kSeconds = 1;

  // `socket` must be bound and outlive this.
  explicit SocketKeeper(UnixSocket& socket) : socket_(socket) {}

  // Checks the path. If the socket had to be recreated, returns the one to listen on from now on.
  std::optional<Fd> Review();

  // UNAVAILABLE, with the reason, while clients cannot connect to the path.
  absl::Status state() const;

 private:
  absl::Status BindAgain(std::optional<Fd>& made);

  UnixSocket& socket_;
  mutable Mutex mutex_;
  absl::Status state_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace ttl

#endif  // TTL_SERVICE_TRANSPORT_CONNECTIONS_SOCKET_KEEPER_H_
