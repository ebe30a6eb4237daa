#include "tests/integration/raw_http2.h"

#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>

#include "absl/time/clock.h"
#include "tests/integration/http2_frames.h"

namespace ttl {
namespace {

constexpr size_t kFrameHeaderBytes = 9;
constexpr int kPing = 6;
constexpr int kGoaway = 7;

int NewSocket(int family) {
  const int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const timeval patience = {.tv_sec = 5, .tv_usec = 0};
  setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
  return fd;
}

sockaddr_un NameOf(const std::string& path) {
  sockaddr_un name = {};
  name.sun_family = AF_UNIX;
  memcpy(name.sun_path, path.data(), path.size());
  return name;
}

sockaddr_in NameOf(int port) {
  sockaddr_in name = {};
  name.sin_family = AF_INET;
  name.sin_port = htons(static_cast<uint16_t>(port));
  name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return name;
}

}  // namespace

RawHttp2::RawHttp2(const std::string& socket_path, Opening opening)
    : RawHttp2(NewSocket(AF_UNIX), NameOf(socket_path), opening) {}

RawHttp2::RawHttp2(int port, Opening opening)
    : RawHttp2(NewSocket(AF_INET), NameOf(port), opening) {}

template <typename Name>
RawHttp2::RawHttp2(int fd, const Name& name, Opening opening) : fd_(fd) {
  is_connected_ =
      connect(fd_, reinterpret_cast<const sockaddr*>(&name), sizeof(name)) == 0 &&
      (opening == Opening::kNothing ||
       (Send(http2::kPreface) && Send(http2::Frame(http2::kSettings, http2::kNone, 0, ""))));
}

RawHttp2::~RawHttp2() { close(fd_); }

bool RawHttp2::Send(absl::string_view bytes) {
  return send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size());
}

bool RawHttp2::SendPing() { return Send(http2::Frame(http2::kPing, http2::kNone, 0, "pingping")); }

bool RawHttp2::AwaitPong(absl::Duration deadline) {
  const absl::Time end = absl::Now() + deadline;
  while (true) {
    int type = 0;
    std::string payload;
    while (TakeFrame(type, payload)) {
      if (type == kPing) return true;
    }
    if (ReadMore(end).value_or(0) == 0) return false;
  }
}

std::string RawHttp2::ReadGoaway(absl::Duration duration) {
  const absl::Time deadline = absl::Now() + duration;
  while (true) {
    int type = 0;
    std::string payload;
    while (TakeFrame(type, payload)) {
      if (type == kGoaway) return payload.size() > 8 ? payload.substr(8) : "no reason";
    }
    const std::optional<size_t> read = ReadMore(deadline);
    if (!read.has_value()) return "";
    if (*read == 0) return "connection closed";
  }
}

std::optional<size_t> RawHttp2::ReadMore(absl::Time deadline) {
  const absl::Duration left = std::max(deadline - absl::Now(), absl::ZeroDuration());
  pollfd readable = {.fd = fd_, .events = POLLIN, .revents = 0};
  if (poll(&readable, 1, static_cast<int>(absl::ToInt64Milliseconds(left))) <= 0) {
    return std::nullopt;
  }
  char buffer[4096];
  const ssize_t n = read(fd_, buffer, sizeof(buffer));
  if (n <= 0) return 0;
  read_.append(buffer, static_cast<size_t>(n));
  return static_cast<size_t>(n);
}

bool RawHttp2::TakeFrame(int& type, std::string& payload) {
  if (read_.size() < kFrameHeaderBytes) return false;
  const auto byte = [&](size_t i) {
    return static_cast<size_t>(static_cast<unsigned char>(read_[i]));
  };
  const size_t length = byte(0) << 16 | byte(1) << 8 | byte(2);
  if (read_.size() < kFrameHeaderBytes + length) return false;
  type = static_cast<int>(byte(3));
  payload = read_.substr(kFrameHeaderBytes, length);
  read_.erase(0, kFrameHeaderBytes + length);
  return true;
}

}  // namespace ttl
