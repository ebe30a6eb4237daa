#ifndef TTL_SERVICE_TRANSPORT_CONNECTIONS_CLIENT_CONNECTION_H_
#define TTL_SERVICE_TRANSPORT_CONNECTIONS_CLIENT_CONNECTION_H_

#include <sys/epoll.h>

#include <cstdint>
#include <optional>

#include "service/transport/connections/closed_connections.h"

namespace ttl {

// One connection of a client to a server of this process, as the thread that accepted it sees
// it. Closed when destroyed. Not thread-safe.
class ClientConnection {
 public:
  enum class Side : uint8_t { kClient, kServer };

  struct Progress {
    bool has_more = false;  // Proceed() with kReadOn once others had their turn
    bool is_over = false;
    std::optional<CloseReason> offence = {};  // the client has broken a bound
  };

  virtual ~ClientConnection() = default;

  // In place of what epoll says: there may be more to read.
  static constexpr uint32_t kReadOn = EPOLLRDNORM;

  // To be called with what epoll says of a side, at `second` of any clock that goes on.
  virtual Progress Proceed(Side side, uint32_t events, int64_t second) = 0;

  // To be called once a second, or more often.
  virtual Progress Review(int64_t second) = 0;

  // Ends the connection for the server, as if the client had hung up. What the server has sent
  // by now still reaches the client.
  virtual void HangUp() = 0;
};

}  // namespace ttl

#endif  // TTL_SERVICE_TRANSPORT_CONNECTIONS_CLIENT_CONNECTION_H_
