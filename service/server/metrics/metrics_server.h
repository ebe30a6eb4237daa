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

// Answers GET /metrics of HTTP/1.1 with one text, in one thread of its own. A client may
// take as long as kPatience, and there is room for kMaxConnections; who comes then takes
// the place of who is there for longest. So nobody who hangs, and no number of them, keeps
// others out or costs more than a little memory.
//
// Why not the server that comes with prometheus-cpp: in Debian's package it knows neither
// Unix sockets nor IPv6, and a client that sends nothing holds one of its few threads.
class MetricsServer {
 public:
  static constexpr absl::Duration kPatience = absl::Seconds(5);
  static constexpr size_t kMaxConnections = 64;
  // A text that is so old may be sent again: a crowd of clients costs no more than one.
  static constexpr absl::Duration kMaxAge = absl::Milliseconds(100);

  // Gives the text; called on the server's thread.
  using MakeText = std::function<std::string()>;

  // `address`: HOST:PORT, where port 0 takes a free one, or unix:PATH. INVALID_ARGUMENT if
  // the host cannot be resolved, UNAVAILABLE if the address cannot be listened on; for a
  // path the errors of UnixSocket. A socket file that is removed is made again (SocketKeeper).
  static absl::StatusOr<std::unique_ptr<MetricsServer>> Start(const std::string& address,
                                                              MakeText make_text);

  // Drops the clients that are there.
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
