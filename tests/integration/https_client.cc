#include "tests/integration/https_client.h"

#include <netinet/in.h>
#include <openssl/bio.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

namespace ttl {
namespace {

int ConnectTo(int port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const timeval patience = {.tv_sec = 25, .tv_usec = 0};
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address));
  return fd;
}

X509* ReadCertificate(const std::string& pem) {
  BIO* bio = BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size()));
  X509* certificate = PEM_read_bio_X509(bio, nullptr, nullptr, nullptr);
  BIO_free(bio);
  return certificate;
}

void Trust(SSL_CTX* context, const std::string& ca) {
  X509* certificate = ReadCertificate(ca);
  X509_STORE_add_cert(SSL_CTX_get_cert_store(context), certificate);
  X509_free(certificate);
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
}

void Use(SSL_CTX* context, const TestIdentity& identity) {
  X509* certificate = ReadCertificate(identity.cert);
  SSL_CTX_use_certificate(context, certificate);
  X509_free(certificate);
  BIO* bio = BIO_new_mem_buf(identity.key.data(), static_cast<int>(identity.key.size()));
  EVP_PKEY* key = PEM_read_bio_PrivateKey(bio, nullptr, nullptr, nullptr);
  SSL_CTX_use_PrivateKey(context, key);
  EVP_PKEY_free(key);
  BIO_free(bio);
}

}  // namespace

HttpsClient::HttpsClient(int port, const HttpsOptions& options)
    : fd_(ConnectTo(port)), context_(SSL_CTX_new(TLS_client_method())), tls_([&] {
        Trust(context_.get(), options.server_ca);
        if (!options.identity.cert.empty()) Use(context_.get(), options.identity);
        SSL_CTX_set_max_proto_version(context_.get(), options.max_version);
        return SSL_new(context_.get());
      }()) {
  // OpenSSL writes without MSG_NOSIGNAL, also to those who have hung up.
  signal(SIGPIPE, SIG_IGN);
  SSL_set_fd(tls_.get(), fd_);
  is_connected_ = SSL_connect(tls_.get()) == 1;
}

HttpsClient::~HttpsClient() { close(fd_); }

std::string HttpsClient::Exchange(absl::string_view request) {
  if (!is_connected_) return "";
  SSL_write(tls_.get(), request.data(), static_cast<int>(request.size()));
  std::string answer;
  char buffer[4096];
  while (true) {
    const int size = SSL_read(tls_.get(), buffer, sizeof(buffer));
    if (size <= 0) return answer;
    answer.append(buffer, static_cast<size_t>(size));
  }
}

std::string HttpsExchange(int port, const HttpsOptions& options, absl::string_view request) {
  return HttpsClient(port, options).Exchange(request);
}

}  // namespace ttl
