#ifndef TTL_SERVICE_TRANSPORT_CONNECTIONS_HANDED_OVER_CONNECTION_H_
#define TTL_SERVICE_TRANSPORT_CONNECTIONS_HANDED_OVER_CONNECTION_H_

#include <cstdint>
#include <optional>

#include "service/transport/connections/client_connection.h"
#include "service/transport/connections/fd.h"
#include "service/transport/connections/unanswered_bytes.h"

namespace ttl {

// A connection that the server reads from itself. Over TCP what the client sends is counted.
class HandedOverConnection final : public ClientConnection {
 public:
  // `duplicate` is of the same socket as the descriptor that the server has. `epoll`, which must
  // outlive this, gives back `id` times two for it. `most_unanswered_bytes` is absent for a
  // Unix socket.
  HandedOverConnection(Fd duplicate, std::optional<int64_t> most_unanswered_bytes, int epoll,
                       uint64_t id);
  // Hangs up, whatever the server does.
  ~HandedOverConnection() override;

  Progress Proceed(Side side, uint32_t events, int64_t second) override;
  Progress Review(int64_t second) override;
  void HangUp() override;

 private:
  const Fd socket_;
  const std::optional<int64_t> most_unanswered_bytes_;
  const int epoll_;
  UnansweredBytes unanswered_;
};

}  // namespace ttl

#endif  // TTL_SERVICE_TRANSPORT_CONNECTIONS_HANDED_OVER_CONNECTION_H_
