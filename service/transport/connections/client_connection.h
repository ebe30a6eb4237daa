#ifndef TTL_SERVICE_TRANSPORT_CONNECTIONS_CLIENT_CONNECTION_H_
#define TTL_SERVICE_TRANSPORT_CONNECTIONS_CLIENT_CONNECTION_H_

#include <sys/epoll.h>

#include <cstdint>
#include <optional>

#include "service/transport/connections/closed_connections.h"

namespace ttl {

// An accepted connection of a client, as seen by the listener's thread. Closed when destroyed. Not
// thread-safe.
class ClientConnection {
 public:
  enum class Side : uint8_t { kClient, kServer };

  struct Progress {
    bool has_more = false;                    // call Proceed() with kReadOn after other connections
    bool is_over = false;                     // the connection has ended
    std::optional<CloseReason> offence = {};  // the limit that the client has exceeded
  };

  virtual ~ClientConnection() = default;

  // Passed instead of epoll's events: there may be more to read.
  static constexpr uint32_t kReadOn = EPOLLRDNORM;

  // Handles epoll events of one side. `second` is a reading of any monotonic clock.
  virtual Progress Proceed(Side side, uint32_t events, int64_t second) = 0;

  // Checks the limits. To be called at least once a second.
  virtual Progress Review(int64_t second) = 0;

  // Closes the connection for the server, as if the client had. What the server has sent before
  // still reaches the client.
  virtual void HangUp() = 0;
};

}  // namespace ttl

#endif  // TTL_SERVICE_TRANSPORT_CONNECTIONS_CLIENT_CONNECTION_H_
