#ifndef TTL_CLIENT_CPP_STORE_SOCKET_H_
#define TTL_CLIENT_CPP_STORE_SOCKET_H_

#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace ttl {

// The right of a store's server to the path of its Unix socket. gRPC removes whatever socket
// is at a path before it binds, and again when it ends: without this, a second server would
// take the socket of the first, and leave nothing behind. It is held by a lock on the file
// PATH.lock, which ends with the process and stays there for the next one. Not thread-safe.
class StoreSocket {
 public:
  // Takes the path in `address`, a gRPC address such as unix:PATH or unix:///PATH; of other
  // addresses there is nothing to take. FAILED_PRECONDITION if another process holds it, a
  // server answers on it, or it is no socket; what is there is never touched. What a killed
  // server left is for gRPC to remove.
  static absl::StatusOr<std::unique_ptr<StoreSocket>> Claim(absl::string_view address);

  // Gives the path back. To be destroyed after the server.
  ~StoreSocket();
  StoreSocket(const StoreSocket&) = delete;
  StoreSocket& operator=(const StoreSocket&) = delete;

 private:
  explicit StoreSocket(int lock_fd) : lock_fd_(lock_fd) {}

  const int lock_fd_;  // -1: none
};

}  // namespace ttl

#endif  // TTL_CLIENT_CPP_STORE_SOCKET_H_
