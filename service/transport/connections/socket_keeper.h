#ifndef TTL_SERVICE_TRANSPORT_CONNECTIONS_SOCKET_KEEPER_H_
#define TTL_SERVICE_TRANSPORT_CONNECTIONS_SOCKET_KEEPER_H_

#include <optional>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "service/base/mutex.h"
#include "service/transport/connections/fd.h"
#include "service/transport/connections/unix_socket.h"

namespace ttl {

// Keeps a Unix socket where clients look for it: a file that was removed or replaced is made
// again, unless somebody else has taken the path. A warning or an error says which. Review() is
// for one thread, state() for any.
class SocketKeeper {
 public:
  // To be asked so often, in seconds.
  static constexpr int kSeconds = 1;

  // `socket`, which is bound, must outlive this.
  explicit SocketKeeper(UnixSocket& socket) : socket_(socket) {}

  // Looks at the path. Returns the socket to listen on from now on, if it had to be made again.
  std::optional<Fd> Review();

  // Why nobody can connect to the path; OK while somebody can.
  absl::Status state() const;

 private:
  absl::Status BindAgain(std::optional<Fd>& made);

  UnixSocket& socket_;
  mutable Mutex mutex_;
  absl::Status state_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace ttl

#endif  // TTL_SERVICE_TRANSPORT_CONNECTIONS_SOCKET_KEEPER_H_
