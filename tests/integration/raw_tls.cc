#include "tests/integration/raw_tls.h"

#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/integration/http2_frames.h"

namespace ttl {
namespace {

constexpr unsigned char kHttp2[] = {2, 'h', '2'};

int Connect(int port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const timeval patience = {.tv_sec = 30, .tv_usec = 0};
  setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address));
  return fd;
}

}  // namespace

RawTls::RawTls(int port)
    : fd_(Connect(port)),
      context_(SSL_CTX_new(TLS_client_method())),
      tls_(SSL_new(context_.get())) {
  // OpenSSL writes without MSG_NOSIGNAL, also to those who have hung up.
  signal(SIGPIPE, SIG_IGN);
  SSL_set_alpn_protos(tls_.get(), kHttp2, sizeof(kHttp2));
  SSL_set_fd(tls_.get(), fd_);
  is_connected_ = SSL_connect(tls_.get()) == 1 && Send(http2::kPreface) &&
                  Send(http2::Frame(http2::kSettings, http2::kNone, 0, ""));
}

RawTls::~RawTls() { close(fd_); }

bool RawTls::Send(absl::string_view bytes) {
  return SSL_write(tls_.get(), bytes.data(), static_cast<int>(bytes.size())) ==
         static_cast<int>(bytes.size());
}

bool RawTls::AwaitEnd() {
  char buffer[4096];
  while (true) {
    errno = 0;
    if (SSL_read(tls_.get(), buffer, sizeof(buffer)) <= 0) return errno != EAGAIN;
  }
}

}  // namespace ttl
