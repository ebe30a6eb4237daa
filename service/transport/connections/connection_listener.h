#ifndef TTL_SERVICE_TRANSPORT_CONNECTIONS_CONNECTION_LISTENER_H_
#define TTL_SERVICE_TRANSPORT_CONNECTIONS_CONNECTION_LISTENER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "service/transport/connections/frame_guard.h"
#include "service/transport/connections/handed_over_connection.h"
#include "service/transport/connections/unix_socket.h"

namespace ttl {

struct ListenerOptions {
  // Where to listen: at the path of `socket`, which must outlive the listener, or, if that is null,
  // on `tcp`, HOST:PORT.
  UnixSocket* socket = nullptr;
  std::string tcp = {};
  // Maximum open connections; further ones are closed at once.
  int64_t places = 0;
  // For TCP: the connections use TLS, so that frames cannot be inspected.
  bool is_encrypted = false;
  FrameLimits frames = {};   // for TCP in plain text
  UnseenLimits unseen = {};  // for TCP with TLS
};

// Accepts the connections to one address on its own thread and hands them to a server. gRPC 1.51
// has no limit on connections, stops listening for good once the process has no free descriptors,
// and does not show what clients send. So this class closes connections that exceed a limit, counts
// them by reason, and slows down hosts that reconnect after that. The limits depend on the
// transport:
// - TCP in plain text: `frames`. The listener relays the bytes (RelayedConnection).
// - TCP with TLS: `unseen`, on unanswered bytes and calls. The server reads from the connection
// itself
//   (HandedOverConnection).
// - Unix socket: `places` only. The server reads from the connection itself, so that calls cost no
//   more than without a listener. Clients that the file mode admits, the store and the services
//   beside it, are trusted not to flood the server.
//
// A socket file that was removed or replaced is recreated within seconds, unless another process
// has taken the path; either is logged.
//
// Not thread-safe, except CheckSocket().
class ConnectionListener {
 public:
  // Takes ownership of a non-blocking descriptor. Called on the listener's thread.
  using HandOver = std::function<void(int connection)>;

  // Listens; connections are accepted after Serve(). Returns the errors of ListenOnTcp() and
  // UnixSocket.
  static absl::StatusOr<std::unique_ptr<ConnectionListener>> Listen(const ListenerOptions& options);

  // Like Close(), without waiting.
  ~ConnectionListener();
  ConnectionListener(const ConnectionListener&) = delete;
  ConnectionListener& operator=(const ConnectionListener&) = delete;

  // 0 for a Unix socket.
  int port() const { return port_; }

  // Starts to accept connections. To be called once.
  void Serve(HandOver hand_over);

  // UNAVAILABLE, with the reason, while clients cannot connect to the Unix socket; OK for TCP.
  absl::Status CheckSocket() const;

  // Stops listening and removes the socket file. After it returns no connection is handed over;
  // open connections stay. May be called again.
  void StopListening();

  // Calls StopListening(), closes all connections as if their clients had, passes on what the
  // server has sent, and waits until the server has closed them too, or until `deadline`. To be
  // called once.
  void Close(absl::Time deadline);

 private:
  class Loop;

  ConnectionListener(int port, std::unique_ptr<Loop> loop);

  const int port_;
  const std::unique_ptr<Loop> loop_;
  std::thread thread_;  // from Serve() to Close()
};

}  // namespace ttl

#endif  // TTL_SERVICE_TRANSPORT_CONNECTIONS_CONNECTION_LISTENER_H_
