#ifndef TTL_SERVICE_TRANSPORT_CONNECTIONS_HANDED_OVER_CONNECTION_H_
#define TTL_SERVICE_TRANSPORT_CONNECTIONS_HANDED_OVER_CONNECTION_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "service/transport/connections/client_connection.h"
#include "service/transport/connections/fd.h"
#include "service/transport/connections/unanswered_bytes.h"
#include "service/transport/connections/unanswered_calls.h"

namespace ttl {

// Most that a client may do on a connection that the server reads from itself, over TCP.
struct UnseenLimits {
  int64_t unanswered_bytes = 0;             // see UnansweredBytes
  int64_t unanswered_calls_per_second = 0;  // see UnansweredCalls
  // Calls begun on the connection of `client`, HOST:PORT without brackets, less those answered;
  // absent if the server does not know.
  std::function<std::optional<int64_t>(const std::string& client)> count_unanswered_calls;
};

// A connection that the server reads from itself. Over TCP what the client sends is counted.
class HandedOverConnection final : public ClientConnection {
 public:
  // `duplicate` is of the same socket as the descriptor that the server has. `epoll`, which must
  // outlive this, gives back `id` times two for it. `client`, as UnseenLimits has it, is held to
  // `limits`, which must outlive this, too, and are null for a Unix socket. Made at `second`.
  HandedOverConnection(Fd duplicate, std::string client, const UnseenLimits* limits, int epoll,
                       uint64_t id, int64_t second);
  // Hangs up, whatever the server does.
  ~HandedOverConnection() override;

  Progress Proceed(Side side, uint32_t events, int64_t second) override;
  Progress Review(int64_t second) override;
  void HangUp() override;

 private:
  Progress CutOff(CloseReason reason);
  bool HasTooManyCalls(int64_t received, int64_t second);

  const Fd socket_;
  const std::string client_;
  const UnseenLimits* const limits_;
  const int epoll_;
  UnansweredBytes bytes_;
  UnansweredCalls calls_;
  int64_t received_when_counted_ = 0;  // when the server was asked for calls_
};

}  // namespace ttl

#endif  // TTL_SERVICE_TRANSPORT_CONNECTIONS_HANDED_OVER_CONNECTION_H_
