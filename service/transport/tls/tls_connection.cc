#include "service/transport/tls/tls_connection.h"

#include <errno.h>
#include <netdb.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <limits>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace ttl {
namespace {

int IntSize(size_t size) {
  return static_cast<int>(std::min<size_t>(size, std::numeric_limits<int>::max()));
}

std::string PeerOf(int socket) {
  sockaddr_storage from = {};
  socklen_t size = sizeof(from);
  char host[NI_MAXHOST] = {};
  char port[NI_MAXSERV] = {};
  if (getpeername(socket, reinterpret_cast<sockaddr*>(&from), &size) != 0 ||
      (from.ss_family != AF_INET && from.ss_family != AF_INET6) ||
      getnameinfo(reinterpret_cast<const sockaddr*>(&from), size, host, sizeof(host), port,
                  sizeof(port), NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
    return "";
  }
  // A socket for both kinds has IPv4 addresses as ::ffff:10.0.0.3.
  absl::string_view address = host;
  if (absl::ConsumePrefix(&address, "::ffff:") || from.ss_family == AF_INET) {
    return absl::StrCat("ipv4:", address, ":", port);
  }
  return absl::StrCat("ipv6:[", address, "]:", port);
}

}  // namespace

// The peer is read now, since it is not known any more once the client has reset the connection.
TlsConnection::TlsConnection(Owned connection)
    : connection_(std::move(connection)), peer_(PeerOf(SSL_get_fd(connection_.get()))) {}

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
  if (error == SSL_ERROR_SSL && !is_established()) failure_ = Failure();
  errno = waits ? EAGAIN : EPROTO;
  return -1;
}

std::string TlsConnection::Failure() const {
  const unsigned long error = ERR_peek_error();
  if (ERR_GET_REASON(error) == SSL_R_UNEXPECTED_EOF_WHILE_READING) return "";
  if (ERR_GET_REASON(error) == SSL_R_CERTIFICATE_VERIFY_FAILED) {
    return absl::StrCat("client certificate: ",
                        X509_verify_cert_error_string(SSL_get_verify_result(connection_.get())));
  }
  const char* reason = ERR_reason_error_string(error);
  return reason == nullptr ? "unknown" : reason;
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
