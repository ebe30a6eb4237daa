#ifndef TTL_TESTS_TESTING_SCRAPE_H_
#define TTL_TESTS_TESTING_SCRAPE_H_

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace ttl {

// A client connection to a metrics server. Closed on destruction.
class HttpConnection {
 public:
  // `address`: PORT of 127.0.0.1, or the path of a Unix socket.
  static absl::StatusOr<HttpConnection> Open(const std::string& address);
  HttpConnection(HttpConnection&& other) noexcept : fd_(other.fd_) { other.fd_ = -1; }
  ~HttpConnection();

  // Returns how many bytes were sent: fewer if the server has closed the connection.
  size_t Send(absl::string_view bytes) const;
  // Reads until the server closes the connection, or until five times MetricsServer::kPatience has
  // passed.
  std::string ReadAll() const;

 private:
  explicit HttpConnection(int fd) : fd_(fd) {}
  int fd_;
};

// Sends a request as is and returns the response.
absl::StatusOr<std::string> HttpExchange(const std::string& address, absl::string_view request);

// Parsed metrics in Prometheus's text format.
class Scrape {
 public:
  // The response to GET /metrics.
  static absl::StatusOr<Scrape> Get(const std::string& address);
  // INVALID_ARGUMENT names a line that is malformed or duplicate.
  static absl::StatusOr<Scrape> Parse(const std::string& text);

  // The value of a series, such as `x{a="b"}`; absent if there is none.
  std::optional<double> Find(const std::string& series) const;
  // The same; -1 if there is none.
  double Value(const std::string& series) const { return Find(series).value_or(-1); }

  // The names of the metrics that have values, as in their TYPE lines.
  std::set<std::string> Metrics() const;
  // The values of a label, over all series.
  std::set<std::string> Labels(const std::string& label) const;

  const std::string& text() const { return text_; }

 private:
  std::string text_;
  std::map<std::string, double> series_;
  std::set<std::string> types_;
};

}  // namespace ttl

#endif  // TTL_TESTS_TESTING_SCRAPE_H_
