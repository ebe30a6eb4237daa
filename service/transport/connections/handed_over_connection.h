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

// Limits on TCP connections that the server reads from itself, so that frames cannot be inspected.
struct UnseenLimits {
  int64_t unanswered_bytes = 0;             // see UnansweredBytes
  int64_t unanswered_calls_per_second = 0;  // see UnansweredCalls
  // Returns the calls begun on the connection of `client` (HOST:PORT without brackets), minus those
  // answered; absent if the server does not know the client.
  std::function<std::optional<int64_t>(const std::string& client)> count_unanswered_calls;
};

// A connection that the server reads from itself. Over TCP the bytes that the client sends are
// counted.
class HandedOverConnection final : public ClientConnection {
 public:
  // `duplicate` refers to the same socket as the server's descriptor and is registered with `epoll`
  // with the data 2 * `id`. `client` is as in UnseenLimits. `limits` is null for a Unix socket.
  // `epoll` and `limits` must outlive this. `second` is the present time.
  HandedOverConnection(Fd duplicate, std::string client, const UnseenLimits* limits, int epoll,
                       uint64_t id, int64_t second);
  // Closes the connection, also for the server.
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
  int64_t received_when_counted_ = 0;  // bytes received when calls_ was last updated
};

}  // namespace ttl

#endif  // TTL_SERVICE_TRANSPORT_CONNECTIONS_HANDED_OVER_CONNECTION_H_
