#ifndef TTL_SERVICE_SERVER_METRICS_METRICS_SERVER_H_
#define TTL_SERVICE_SERVER_METRICS_METRICS_SERVER_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "service/server/http/http_server.h"

namespace ttl {

// An HTTP/1.1 server that answers GET /metrics, with the limits of HttpServer.
class MetricsServer {
 public:
  static constexpr absl::Duration kPatience = HttpServer::kPatience;
  // A text up to this old is sent again, so that many clients cost no more than one.
  static constexpr absl::Duration kMaxAge = absl::Milliseconds(100);

  // Makes the text. Called on the server's thread.
  using MakeText = std::function<std::string()>;

  // As HttpServer::Start().
  static absl::StatusOr<std::unique_ptr<MetricsServer>> Start(absl::string_view flag,
                                                              const std::string& address,
                                                              MakeText make_text);
  MetricsServer(const MetricsServer&) = delete;
  MetricsServer& operator=(const MetricsServer&) = delete;

  // 0 for a Unix socket.
  int port() const { return server_->port(); }

 private:
  explicit MetricsServer(std::unique_ptr<HttpServer> server) : server_(std::move(server)) {}

  const std::unique_ptr<HttpServer> server_;
};

}  // namespace ttl

#endif  // TTL_SERVICE_SERVER_METRICS_METRICS_SERVER_H_
