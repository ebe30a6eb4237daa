#ifndef TTL_SERVICE_SERVER_HTTP_HTTP_SERVER_H_
#define TTL_SERVICE_SERVER_HTTP_HTTP_SERVER_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "service/server/http/http_answer.h"
#include "service/transport/connections/unix_socket.h"
#include "service/transport/tls/tls_connection.h"
#include "service/transport/tls/tls_server.h"

namespace ttl {

// An HTTP/1.1 server on one thread of its own, which answers one request per connection. A
// connection lasts at most kPatience, and there are at most kMaxConnections; beyond that a new
// connection evicts the oldest, with TLS the oldest that has not presented its certificate yet, if
// there is one. So clients that hang, however many, neither exclude others nor use much memory.
//
// The server of prometheus-cpp is not used: in Debian's package it supports neither Unix sockets
// nor IPv6, and a client that sends nothing occupies one of its few threads.
class HttpServer {
 public:
  static constexpr absl::Duration kPatience = absl::Seconds(5);
  static constexpr size_t kMaxConnections = 64;

  // Answers what a client has sent so far; absent: more is needed, which must not go on for ever.
  // `tls` is the connection over which it came, which is established; null: in plain text. Called
  // on the server's thread.
  using Answerer = std::function<std::optional<HttpAnswer>(absl::string_view received,
                                                           const TlsConnection* tls)>;

  // Who may reach a server on TCP. The name localhost leads to whatever the system says, so
  // kLoopback is about the address that the host is resolved to.
  enum class Reach { kAny, kLoopback };

  // `address` is HOST:PORT, where port 0 picks a free port, or unix:PATH. INVALID_ARGUMENT if the
  // host cannot be resolved or `reach` does not allow its address, UNAVAILABLE if the address
  // cannot be listened on, both named by `flag`; for a path the errors of UnixSocket. A socket file
  // that is removed is recreated (SocketKeeper). With `tls` all connections are its own; null:
  // plain text.
  static absl::StatusOr<std::unique_ptr<HttpServer>> Start(
      absl::string_view flag, const std::string& address, Answerer answer,
      Reach reach = Reach::kAny, std::unique_ptr<TlsServer> tls = nullptr);

  // Closes all connections.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // 0 for a Unix socket.
  int port() const { return port_; }

 private:
  class Loop;

  HttpServer(std::unique_ptr<UnixSocket> socket, int port, std::unique_ptr<Loop> loop);

  const std::unique_ptr<UnixSocket> socket_;  // null: TCP
  const int port_;
  const std::unique_ptr<Loop> loop_;
  std::thread thread_;
};

}  // namespace ttl

#endif  // TTL_SERVICE_SERVER_HTTP_HTTP_SERVER_H_
