#ifndef TTL_SERVICE_SERVER_METRICS_METRICS_SERVER_H_
#define TTL_SERVICE_SERVER_METRICS_METRICS_SERVER_H_

#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "service/transport/connections/unix_socket.h"

namespace ttl {

// An HTTP/1.1 server that answers GET /metrics, on one thread of its own. A connection lasts at
// most kPatience, and there are at most kMaxConnections; beyond that a new connection evicts the
// oldest. So clients that hang, however many, neither exclude others nor use much memory.
//
// The server of prometheus-cpp is not used: in Debian's package it supports neither Unix sockets
// nor IPv6, and a client that sends nothing occupies one of its few threads.
class MetricsServer {
 public:
  static constexpr absl::Duration kPatience = absl::Seconds(5);
  static constexpr size_t kMaxConnections = 64;
  // A text up to this old is sent again, so that many clients cost no more than one.
  static constexpr absl::Duration kMaxAge = absl::Milliseconds(100);

  // Makes the text. Called on the server's thread.
  using MakeText = std::function<std::string()>;

  // `address` is HOST:PORT, where port 0 picks a free port, or unix:PATH. INVALID_ARGUMENT if the
  // host cannot be resolved, UNAVAILABLE if the address cannot be listened on; for a path the
  // errors of UnixSocket. A socket file that is removed is recreated (SocketKeeper).
  static absl::StatusOr<std::unique_ptr<MetricsServer>> Start(const std::string& address,
                                                              MakeText make_text);

  // Closes all connections.
  ~MetricsServer();
  MetricsServer(const MetricsServer&) = delete;
  MetricsServer& operator=(const MetricsServer&) = delete;

  // 0 for a Unix socket.
  int port() const { return port_; }

 private:
  class Loop;

  MetricsServer(std::unique_ptr<UnixSocket> socket, int port, std::unique_ptr<Loop> loop);

  const std::unique_ptr<UnixSocket> socket_;  // null: TCP
  const int port_;
  const std::unique_ptr<Loop> loop_;
  std::thread thread_;
};

}  // namespace ttl

#endif  // TTL_SERVICE_SERVER_METRICS_METRICS_SERVER_H_
