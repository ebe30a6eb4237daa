#ifndef TTL_TESTS_TESTING_SCRAPE_H_
#define TTL_TESTS_TESTING_SCRAPE_H_

#include <map>
#include <optional>
#include <set>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace ttl {

// A connection to a server of metrics, as a client has it. Closed on destruction.
class HttpConnection {
 public:
  // `address`: PORT of 127.0.0.1, or the path of a Unix socket.
  static absl::StatusOr<HttpConnection> Open(const std::string& address);
  HttpConnection(HttpConnection&& other) noexcept : fd_(other.fd_) { other.fd_ = -1; }
  ~HttpConnection();

  void Send(absl::string_view bytes) const;
  // All that comes until the server closes the connection, or until five times its
  // patience has passed.
  std::string ReadAll() const;

 private:
  explicit HttpConnection(int fd) : fd_(fd) {}
  int fd_;
};

// The answer to one request, which is sent as it is.
absl::StatusOr<std::string> HttpExchange(const std::string& address, absl::string_view request);

// Metrics in Prometheus's text format, read.
class Scrape {
 public:
  // What GET /metrics answers.
  static absl::StatusOr<Scrape> Get(const std::string& address);
  // INVALID_ARGUMENT names a line that is not of the format, or comes twice.
  static absl::StatusOr<Scrape> Parse(const std::string& text);

  // Of a series as it is written, as in `x{a="b"}`; absent if it is not there.
  std::optional<double> Find(const std::string& series) const;
  // The same; -1 if it is not there.
  double Value(const std::string& series) const { return Find(series).value_or(-1); }

  // The metrics that have values, as their TYPE lines name them.
  std::set<std::string> Metrics() const;
  // Values of one label, over all series.
  std::set<std::string> Labels(const std::string& label) const;

  const std::string& text() const { return text_; }

 private:
  std::string text_;
  std::map<std::string, double> series_;
  std::set<std::string> types_;
};

}  // namespace ttl

#endif  // TTL_TESTS_TESTING_SCRAPE_H_
