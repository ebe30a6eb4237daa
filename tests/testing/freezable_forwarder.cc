#include "tests/testing/freezable_forwarder.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <iostream>
#include <utility>
#include <vector>

namespace ttl {
namespace {

constexpr char kPrefix[] = "unix:";

int Check(int result, const char* what) {
  if (result >= 0) return result;
  std::cerr << "forwarder: " << what << " fails" << std::endl;
  std::abort();
}

sockaddr_un AddressOf(const std::string& path) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof(address.sun_path) - 1);
  return address;
}

int NewSocket() { return Check(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket"); }

struct Connection {
  std::array<int, 2> ends;  // of the client, of the target
  int epoch;
  bool is_open = true;
};

// Passes on what one end has to say. False at its end.
bool Pass(int from, int to) {
  std::array<char, 65536> buffer;
  const ssize_t count = recv(from, buffer.data(), buffer.size(), 0);
  if (count <= 0) return false;
  for (ssize_t sent = 0; sent < count;) {
    const ssize_t more =
        send(to, buffer.data() + sent, static_cast<size_t>(count - sent), MSG_NOSIGNAL);
    if (more <= 0) return false;
    sent += more;
  }
  return true;
}

void Close(Connection& connection) {
  for (const int end : connection.ends) close(end);
  connection.is_open = false;
}

}  // namespace

FreezableForwarder::FreezableForwarder(const std::string& target)
    : target_path_(target.substr(sizeof(kPrefix) - 1)), listener_(NewSocket()) {
  const sockaddr_un address = AddressOf(directory_.File("forwarder.sock"));
  Check(bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), "bind");
  Check(listen(listener_, 16), "listen");
  Check(pipe(wake_), "pipe");
  thread_ = std::thread([this] { Run(); });
}

FreezableForwarder::~FreezableForwarder() {
  ended_ = true;
  Check(static_cast<int>(write(wake_[1], "x", 1)), "write");
  thread_.join();
  for (const int file : {listener_, wake_[0], wake_[1]}) close(file);
}

std::string FreezableForwarder::address() const {
  return kPrefix + directory_.File("forwarder.sock");
}

void FreezableForwarder::Freeze() {
  ++epoch_;
  Check(static_cast<int>(write(wake_[1], "x", 1)), "write");
}

void FreezableForwarder::Run() {
  std::vector<Connection> connections;
  while (!ended_) {
    std::vector<pollfd> files = {{listener_, POLLIN, 0}, {wake_[0], POLLIN, 0}};
    std::vector<std::pair<size_t, size_t>> owners;  // connection and end of the files after those
    for (size_t i = 0; i < connections.size(); ++i) {
      if (!connections[i].is_open || connections[i].epoch != epoch_) continue;
      for (const size_t end : {0, 1}) {
        files.push_back({connections[i].ends[end], POLLIN, 0});
        owners.emplace_back(i, end);
      }
    }
    Check(poll(files.data(), files.size(), -1), "poll");
    if (char byte = 0; files[1].revents != 0) {
      Check(static_cast<int>(read(wake_[0], &byte, 1)), "read");
    }
    for (size_t i = 0; i < owners.size(); ++i) {
      Connection& connection = connections[owners[i].first];
      const size_t end = owners[i].second;
      if (files[i + 2].revents == 0 || !connection.is_open || connection.epoch != epoch_) continue;
      if (!Pass(connection.ends[end], connection.ends[1 - end])) Close(connection);
    }
    if (files[0].revents == 0) continue;
    Connection& added = connections.emplace_back();
    added.ends = {Check(accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC), "accept"), NewSocket()};
    added.epoch = deaf_ ? -1 : epoch_.load();
    const sockaddr_un address = AddressOf(target_path_);
    Check(connect(added.ends[1], reinterpret_cast<const sockaddr*>(&address), sizeof(address)),
          "connect");
    ++accepted_;
  }
  for (Connection& connection : connections) {
    if (connection.is_open) Close(connection);
  }
}

}  // namespace ttl
