#include "service/transport/connections/listening_socket.h"

#include <errno.h>
#include <linux/tcp.h>
#include <netdb.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "service/base/status_macros.h"

namespace ttl {
namespace {

// The kernel limits this to net.core.somaxconn.
constexpr int kBacklog = 4096;

constexpr absl::string_view kEveryIpv4 = "0.0.0.0:";

using AddressList = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

absl::Status CannotListen(absl::string_view address) {
  return absl::UnavailableError(
      absl::ErrnoToStatus(errno, absl::StrCat("cannot listen on ", address)).message());
}

// TCP_NODELAY is inherited by connections. Without IPV6_V6ONLY "::" also accepts IPv4.
void SetTcpOptions(int fd, int family) {
  const int on = 1;
  const int off = 0;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  if (family == AF_INET6) setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
}

absl::StatusOr<Fd> ListenAt(absl::string_view address, const sockaddr* name, socklen_t size) {
  Fd fd(socket(name->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (fd.get() < 0) return CannotListen(address);
  if (name->sa_family != AF_UNIX) SetTcpOptions(fd.get(), name->sa_family);
  if (bind(fd.get(), name, size) != 0 || listen(fd.get(), kBacklog) != 0) {
    return CannotListen(address);
  }
  return fd;
}

absl::StatusOr<AddressList> Resolve(const std::string& host_port) {
  const size_t colon = host_port.rfind(':');
  absl::string_view host = absl::string_view(host_port).substr(0, colon);
  if (absl::ConsumePrefix(&host, "[")) host = absl::StripSuffix(host, "]");
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE;
  addrinfo* found = nullptr;
  const int error =
      getaddrinfo(std::string(host).c_str(), host_port.c_str() + colon + 1, &hints, &found);
  if (error == 0) return AddressList(found, &freeaddrinfo);
  return absl::InvalidArgumentError(absl::StrCat("address \"", absl::CHexEscape(host_port),
                                                 "\" cannot be resolved: ", gai_strerror(error)));
}

void SetPort(addrinfo& address, int port) {
  const auto network_port = htons(static_cast<uint16_t>(port));
  if (address.ai_family == AF_INET) {
    reinterpret_cast<sockaddr_in*>(address.ai_addr)->sin_port = network_port;
  } else if (address.ai_family == AF_INET6) {
    reinterpret_cast<sockaddr_in6*>(address.ai_addr)->sin6_port = network_port;
  }
}

}  // namespace

absl::StatusOr<std::vector<Fd>> ListenOnTcp(const std::string& host_port) {
  absl::string_view port = host_port;
  if (absl::ConsumePrefix(&port, kEveryIpv4)) {
    absl::StatusOr<std::vector<Fd>> both = ListenOnTcp(absl::StrCat("[::]:", port));
    if (both.ok()) return both;
  }
  TTL_ASSIGN_OR_RETURN(const AddressList found, Resolve(host_port));
  std::vector<Fd> sockets;
  absl::Status failure = absl::UnavailableError(absl::StrCat("cannot listen on ", host_port));
  for (addrinfo* address = found.get(); address != nullptr; address = address->ai_next) {
    if (!sockets.empty()) SetPort(*address, PortOf(sockets.front()));
    absl::StatusOr<Fd> fd = ListenAt(host_port, address->ai_addr, address->ai_addrlen);
    if (fd.ok()) {
      sockets.push_back(*std::move(fd));
    } else {
      failure = fd.status();
    }
  }
  if (sockets.empty()) return failure;
  return sockets;
}

absl::StatusOr<Fd> ListenOnPath(const std::string& path) {
  sockaddr_un name = {};
  name.sun_family = AF_UNIX;
  path.copy(name.sun_path, sizeof(name.sun_path) - 1);
  return ListenAt(path, reinterpret_cast<const sockaddr*>(&name), sizeof(name));
}

bool IsOnLoopback(const Fd& socket) {
  sockaddr_storage name = {};
  socklen_t size = sizeof(name);
  if (getsockname(socket.get(), reinterpret_cast<sockaddr*>(&name), &size) != 0) return false;
  if (name.ss_family == AF_INET6) {
    return IN6_IS_ADDR_LOOPBACK(&reinterpret_cast<sockaddr_in6*>(&name)->sin6_addr);
  }
  if (name.ss_family != AF_INET) return false;
  return ntohl(reinterpret_cast<sockaddr_in*>(&name)->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
}

int PortOf(const Fd& socket) {
  sockaddr_storage name = {};
  socklen_t size = sizeof(name);
  if (getsockname(socket.get(), reinterpret_cast<sockaddr*>(&name), &size) != 0) return 0;
  if (name.ss_family == AF_INET) return ntohs(reinterpret_cast<sockaddr_in*>(&name)->sin_port);
  if (name.ss_family == AF_INET6) return ntohs(reinterpret_cast<sockaddr_in6*>(&name)->sin6_port);
  return 0;
}

}  // namespace ttl
