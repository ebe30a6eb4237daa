#ifndef TTL_TESTS_INTEGRATION_HTTPS_CLIENT_H_
#define TTL_TESTS_INTEGRATION_HTTPS_CLIENT_H_

#include <openssl/ssl.h>

#include <memory>
#include <string>

#include "absl/strings/string_view.h"
#include "tests/testing/certificates.h"

namespace ttl {

// How a client connects.
struct HttpsOptions {
  std::string server_ca;       // PEM; another CA's servers are refused
  TestIdentity identity = {};  // empty: the client presents no certificate
  int max_version = TLS1_3_VERSION;
};

// A connection over TLS to a port of this host. Not thread-safe.
class HttpsClient {
 public:
  HttpsClient(int port, const HttpsOptions& options);
  ~HttpsClient();
  HttpsClient(const HttpsClient&) = delete;
  HttpsClient& operator=(const HttpsClient&) = delete;

  // Whether the client's part of the handshake has succeeded. With TLS 1.3 the server may refuse
  // its certificate later.
  bool is_connected() const { return is_connected_; }

  // Sends a request and reads until the server closes the connection; empty if it answers nothing.
  std::string Exchange(absl::string_view request);

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

// The answer to one request over a connection of its own.
std::string HttpsExchange(int port, const HttpsOptions& options, absl::string_view request);

}  // namespace ttl

#endif  // TTL_TESTS_INTEGRATION_HTTPS_CLIENT_H_
