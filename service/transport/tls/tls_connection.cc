#include "service/transport/tls/tls_connection.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <poll.h>

#include <algorithm>
#include <limits>
#include <string>

#include "absl/strings/match.h"

namespace ttl {
namespace {

int IntSize(size_t size) {
  return static_cast<int>(std::min<size_t>(size, std::numeric_limits<int>::max()));
}

}  // namespace

ssize_t TlsConnection::Receive(char* buffer, size_t size) {
  // What is left in the thread's queue of errors would be taken for an error of this call.
  ERR_clear_error();
  return Outcome(SSL_read(connection_.get(), buffer, IntSize(size)));
}

ssize_t TlsConnection::Send(absl::string_view bytes) {
  if (bytes.empty()) return 0;  // OpenSSL refuses it
  ERR_clear_error();
  return Outcome(SSL_write(connection_.get(), bytes.data(), IntSize(bytes.size())));
}

ssize_t TlsConnection::Outcome(int result) {
  if (result > 0) return result;
  const int error = SSL_get_error(connection_.get(), result);
  if (error == SSL_ERROR_ZERO_RETURN) return 0;
  const bool waits = error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE;
  if (waits) events_ = error == SSL_ERROR_WANT_READ ? POLLIN : POLLOUT;
  errno = waits ? EAGAIN : EPROTO;
  return -1;
}

void TlsConnection::EndSending() {
  ERR_clear_error();
  SSL_shutdown(connection_.get());
}

CertificateNames TlsConnection::ClientNames() const {
  const X509* certificate =
      is_established() ? SSL_get0_peer_certificate(connection_.get()) : nullptr;
  return certificate == nullptr ? CertificateNames() : NamesOf(*certificate);
}

bool TlsConnection::IsFor(absl::string_view host) const {
  X509* certificate = SSL_get_certificate(connection_.get());
  if (certificate == nullptr || host.empty()) return false;
  if (absl::StartsWith(host, "[") && absl::EndsWith(host, "]")) {
    host = host.substr(1, host.size() - 2);
  }
  const std::string text(host);
  return X509_check_ip_asc(certificate, text.c_str(), 0) == 1 ||
         X509_check_host(certificate, text.data(), text.size(), 0, nullptr) == 1;
}

}  // namespace ttl
