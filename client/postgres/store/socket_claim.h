#ifndef TTL_CLIENT_POSTGRES_STORE_SOCKET_CLAIM_H_
#define TTL_CLIENT_POSTGRES_STORE_SOCKET_CLAIM_H_

#include <string>

#include "absl/status/statusor.h"

namespace ttl::postgres {

// An exclusive claim to listen on a Unix socket; without it, gRPC silently replaces another
// listener. Backed by a lock on PATH.lock. The file is never removed, because removing it would
// allow two holders. Movable.
class SocketClaim {
 public:
  // `address` is in gRPC's syntax; other addresses than Unix sockets are not claimed.
  // FAILED_PRECONDITION if another process holds the claim.
  static absl::StatusOr<SocketClaim> Take(const std::string& address);

  SocketClaim() = default;
  ~SocketClaim();
  SocketClaim(SocketClaim&& other) noexcept;
  SocketClaim& operator=(SocketClaim&& other) noexcept;

 private:
  explicit SocketClaim(int file) : file_(file) {}

  int file_ = -1;
};

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_STORE_SOCKET_CLAIM_H_
