#include "tests/bench/speed/pipe_connections.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>

#include "absl/strings/str_cat.h"
#include "service/base/status_macros.h"

namespace ttl::bench {
namespace {

absl::StatusOr<int> Connect(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) {
    return absl::InvalidArgumentError(absl::StrCat("socket path \"", path, "\" is too long"));
  }
  memcpy(address.sun_path, path.data(), path.size());
  const int socket_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (socket_fd < 0) return absl::ErrnoToStatus(errno, "socket");
  if (connect(socket_fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0) {
    return socket_fd;
  }
  close(socket_fd);
  return absl::UnavailableError(absl::StrCat("connecting to ", path, ": ", strerror(errno)));
}

}  // namespace

absl::StatusOr<PipeConnections> PipeConnections::Open(const std::string& socket_path, int count) {
  PipeConnections connections;
  for (int i = 0; i < count; ++i) {
    TTL_ASSIGN_OR_RETURN(const int socket_fd, Connect(socket_path));
    connections.sockets_.push_back({socket_fd, POLLIN, 0});
    connections.expected_.emplace_back();
    connections.received_.push_back(0);
  }
  return connections;
}

PipeConnections::~PipeConnections() {
  for (const pollfd& socket : sockets_) close(socket.fd);
}

absl::Status PipeConnections::Send(int connection, absl::string_view request,
                                   absl::string_view answer) {
  const size_t i = static_cast<size_t>(connection);
  expected_[i].assign(answer.data(), answer.size());
  received_[i] = 0;
  while (!request.empty()) {
    const ssize_t sent = send(sockets_[i].fd, request.data(), request.size(), MSG_NOSIGNAL);
    if (sent < 0) return absl::ErrnoToStatus(errno, "sending");
    request.remove_prefix(static_cast<size_t>(sent));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<int>> PipeConnections::Wait() {
  std::vector<int> answered;
  while (answered.empty()) {
    if (poll(sockets_.data(), sockets_.size(), -1) < 0) return absl::ErrnoToStatus(errno, "poll");
    for (size_t i = 0; i < sockets_.size(); ++i) {
      if (sockets_[i].revents == 0) continue;
      TTL_ASSIGN_OR_RETURN(const bool is_complete, Receive(i));
      if (is_complete) answered.push_back(static_cast<int>(i));
    }
  }
  return answered;
}

absl::StatusOr<bool> PipeConnections::Receive(size_t connection) {
  char buffer[16384];
  const ssize_t bytes = recv(sockets_[connection].fd, buffer, sizeof(buffer), 0);
  if (bytes <= 0) return absl::UnavailableError("the server closed the connection");
  const absl::string_view got(buffer, static_cast<size_t>(bytes));
  const std::string& expected = expected_[connection];
  size_t& received = received_[connection];
  if (absl::string_view(expected).substr(received, got.size()) != got) {
    return absl::InternalError(absl::StrCat("a wrong answer: ", got.substr(0, 100)));
  }
  received += got.size();
  return received == expected.size();
}

}  // namespace ttl::bench
