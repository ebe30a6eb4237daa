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
  // Where to listen: at the path that `socket` has claimed, which must outlive the listener, or,
  // if that is null, on `tcp`, HOST:PORT.
  UnixSocket* socket = nullptr;
  std::string tcp = {};
  // Connections that may be open at a time; those beyond are closed as soon as they come.
  int64_t places = 0;
  // Of TCP: what clients send is encrypted, so that frames are not seen.
  bool is_encrypted = false;
  FrameLimits frames = {};   // for TCP in plain text
  UnseenLimits unseen = {};  // for TCP with encryption
};

// Accepts the connections to one address, in a thread of its own, and hands them to a server.
// gRPC 1.51 knows no bound on connections, stops listening for good once the process may open
// no more files, and lets nobody look at what clients send. So this closes connections that
// break a bound, counts each by its reason, and slows down the hosts that connect again after
// that. What a client is held to depends on how it can connect:
// - TCP in plain text: to `frames`. The listener passes the bytes on (RelayedConnection).
// - TCP with encryption: to `unseen`, which is about bytes and calls that are not answered. The
//   server reads from the connection itself (HandedOverConnection).
// - Unix socket: to nothing but `places`. The server reads from the connection itself, so that
//   calls cost no more than without a listener. Whom file modes let in, the store and the
//   services beside it, is trusted not to send frames for their own sake.
//
// A socket file that was removed or replaced is made again within seconds, unless somebody else
// has taken the path; a warning or an error says which.
class ConnectionListener {
 public:
  // Takes a descriptor that does not block; it is the server's from now on. Called on the
  // listener's thread.
  using HandOver = std::function<void(int connection)>;

  // Listens; nobody is accepted before Serve(). Errors are those of ListenOnTcp() and of
  // UnixSocket.
  static absl::StatusOr<std::unique_ptr<ConnectionListener>> Listen(const ListenerOptions& options);

  // Close() without waiting.
  ~ConnectionListener();
  ConnectionListener(const ConnectionListener&) = delete;
  ConnectionListener& operator=(const ConnectionListener&) = delete;

  // 0 for a Unix socket.
  int port() const { return port_; }

  // Once.
  void Serve(HandOver hand_over);

  // Why nobody can connect to the path; OK while somebody can, and for TCP. On any thread.
  absl::Status CheckSocket() const;

  // Stops listening, and removes the socket file. Once it returns, nothing is handed over any
  // more; open connections stay. May be repeated.
  void StopListening();

  // StopListening(); then ends all connections as if their clients had hung up, passes on what
  // the server has answered by now, and waits until the server has closed them too, or until
  // `deadline`. Once.
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
