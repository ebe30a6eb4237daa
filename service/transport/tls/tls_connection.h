#ifndef TTL_SERVICE_TRANSPORT_TLS_TLS_CONNECTION_H_
#define TTL_SERVICE_TRANSPORT_TLS_TLS_CONNECTION_H_

#include <openssl/ssl.h>
#include <poll.h>
#include <sys/types.h>

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"
#include "service/transport/tls/certificate_names.h"

namespace ttl {

// The server's end of a TLS connection over a non-blocking socket, which the caller owns. Never
// waits: what cannot proceed says for what to poll. Not thread-safe.
//
// OpenSSL writes without MSG_NOSIGNAL, so the process must ignore SIGPIPE.
class TlsConnection {
 public:
  struct Free {
    void operator()(SSL* connection) const { SSL_free(connection); }
  };
  using Owned = std::unique_ptr<SSL, Free>;

  // Of an accepting connection that has its socket.
  explicit TlsConnection(Owned connection);

  // Like recv() and send(), after the handshake, which they perform first. With EAGAIN the
  // connection waits for events(), which may be the other direction: TLS sends while it reads.
  // EPROTO: the handshake has failed, or the client broke the protocol; nothing more can be sent or
  // received.
  ssize_t Receive(char* buffer, size_t size);
  ssize_t Send(absl::string_view bytes);

  // POLLIN or POLLOUT: what the last call waits for.
  short events() const { return events_; }

  // Why the handshake has failed, for a log line, once; empty if it has not, or if the client has
  // only hung up, as a probe does.
  std::string TakeFailure() { return std::exchange(failure_, ""); }

  // Tells the client that nothing more follows.
  void EndSending();

  // Whether the handshake has succeeded, and so the client's certificate is verified.
  bool is_established() const { return SSL_is_init_finished(connection_.get()) == 1; }

  // The client's address in the manner of gRPC, such as ipv4:10.0.0.3:51234; empty if it has none.
  const std::string& peer() const { return peer_; }

  // The names in the client's certificate; none before the connection is established.
  CertificateNames ClientNames() const;

  // Whether the certificate that this server has presented is for `host`, a name or an address
  // (IPv6 in brackets).
  bool IsFor(absl::string_view host) const;

 private:
  // `result` of an operation in the manner of recv().
  ssize_t Outcome(int result);
  // What OpenSSL says of a handshake that has failed.
  std::string Failure() const;

  const Owned connection_;
  const std::string peer_;
  short events_ = POLLIN;
  std::string failure_;
};

}  // namespace ttl

#endif  // TTL_SERVICE_TRANSPORT_TLS_TLS_CONNECTION_H_
