#ifndef TTL_TESTS_INTEGRATION_RAW_TLS_H_
#define TTL_TESTS_INTEGRATION_RAW_TLS_H_

#include <openssl/ssl.h>

#include <memory>

#include "absl/strings/string_view.h"

namespace ttl {

// A client of HTTP/2 over TLS on a port of this host that sends what it is told and nothing
// else, and believes any server. Has no calls. Not thread-safe.
class RawTls {
 public:
  // Connects, with the preface and an empty SETTINGS frame. Gives up where the server lets
  // it wait for some seconds.
  explicit RawTls(int port);
  ~RawTls();
  RawTls(const RawTls&) = delete;
  RawTls& operator=(const RawTls&) = delete;

  bool is_connected() const { return is_connected_; }

  // False if the connection is gone, or nobody reads.
  bool Send(absl::string_view bytes);

  // Reads what comes. True once the server has hung up; false if it sent nothing for some
  // seconds.
  bool AwaitEnd();

 private:
  struct Free {
    void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
    void operator()(SSL* connection) const { SSL_free(connection); }
  };

  const int fd_;
  const std::unique_ptr<SSL_CTX, Free> context_;
  const std::unique_ptr<SSL, Free> tls_;
  bool is_connected_ = false;
};

}  // namespace ttl

#endif  // TTL_TESTS_INTEGRATION_RAW_TLS_H_
