#ifndef TTL_STORE_SOCKET_H_
#define TTL_STORE_SOCKET_H_

#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace ttl {

// Exclusive use of the path of a Unix socket, for the server of a store. gRPC removes any socket at
// the path before it binds, and again when it ends: without this, a second server would take over
// the path of the first and leave no socket behind. Held by a lock on the file PATH.lock, which
// ends with the process; the file stays. Not thread-safe.
class StoreSocket {
 public:
  // Locks the path in `address`, a gRPC address such as unix:PATH or unix:///PATH; does nothing for
  // other addresses. FAILED_PRECONDITION if another process holds the lock, a server answers on the
  // socket, or the path is not a socket. Never removes anything: gRPC removes the socket of a
  // killed server.
  static absl::StatusOr<std::unique_ptr<StoreSocket>> Claim(absl::string_view address);

  // Releases the path. Must be destroyed after the server.
  ~StoreSocket();
  StoreSocket(const StoreSocket&) = delete;
  StoreSocket& operator=(const StoreSocket&) = delete;

 private:
  explicit StoreSocket(int lock_fd) : lock_fd_(lock_fd) {}

  const int lock_fd_;  // -1: none
};

}  // namespace ttl

#endif  // TTL_STORE_SOCKET_H_
