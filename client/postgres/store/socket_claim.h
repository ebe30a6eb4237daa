#ifndef TTL_CLIENT_POSTGRES_STORE_SOCKET_CLAIM_H_
#define TTL_CLIENT_POSTGRES_STORE_SOCKET_CLAIM_H_

#include <string>

#include "absl/status/statusor.h"

namespace ttl::postgres {

// The right to listen on a Unix socket: gRPC takes the place of whoever listens there without a
// word. It is held by a lock on PATH.lock, a file that stays, as removing it would allow two to
// hold it. Movable.
class SocketClaim {
 public:
  // `address` as gRPC takes it; of other than Unix sockets nothing is claimed. FAILED_PRECONDITION
  // if another process has the claim.
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
