#include "service/server/http/http_server.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <list>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "service/base/quoted.h"
#include "service/base/status_macros.h"
#include "service/transport/connections/fd.h"
#include "service/transport/connections/listening_socket.h"
#include "service/transport/connections/socket_keeper.h"

namespace ttl {
namespace {

// For timeouts only.
using WaitClock = std::chrono::steady_clock;

constexpr std::chrono::seconds kAcceptPause{1};

// Bytes that are read after the answer; a client that sends more would keep the thread busy.
constexpr size_t kMaxDiscardedBytes = size_t{64} << 10;

// Listens on the first of the host's addresses.
absl::StatusOr<Fd> ListenOnFirst(absl::string_view flag, const std::string& address) {
  absl::StatusOr<std::vector<Fd>> listening = ListenOnTcp(address);
  if (listening.ok()) return std::move(listening->front());
  return absl::Status(listening.status().code(),
                      absl::StrCat(flag, ": ", listening.status().message()));
}

using PollEvents = decltype(pollfd::events);

// One connection, which serves one request: the client sends it, is sent the answer, and closes. A
// connection that is closed with unread bytes would be reset, and the answer lost.
class Connection {
 public:
  Connection(Fd fd, WaitClock::time_point until) : fd_(std::move(fd)), until_(until) {}

  int fd() const { return fd_.get(); }
  WaitClock::time_point until() const { return until_; }
  PollEvents events() const { return state_ == State::kAnswering ? POLLOUT : POLLIN; }

  // Does what the client is ready for. Returns false when the client has disconnected.
  bool Proceed(const HttpServer::Answerer& answer) {
    switch (state_) {
      case State::kReading:
        return Read(answer);
      case State::kAnswering:
        return Write();
      case State::kClosing:
        return Discard();
    }
    return false;
  }

 private:
  enum class State { kReading, kAnswering, kClosing };

  bool Read(const HttpServer::Answerer& answer) {
    char buffer[4096];
    const ssize_t size = recv(fd(), buffer, sizeof(buffer), 0);
    if (size <= 0) return size < 0 && (errno == EAGAIN || errno == EINTR);
    received_.append(buffer, static_cast<size_t>(size));
    std::optional<HttpAnswer> made = answer(received_);
    if (!made.has_value()) return true;
    received_.clear();
    received_.shrink_to_fit();
    answer_ = *std::move(made);
    state_ = State::kAnswering;
    return Write();
  }

  // Sends as much as possible.
  bool Write() {
    const absl::string_view rest = Unsent();
    const ssize_t size = send(fd(), rest.data(), rest.size(), MSG_NOSIGNAL);
    if (size < 0) return errno == EAGAIN || errno == EINTR;
    sent_ += static_cast<size_t>(size);
    if (!Unsent().empty()) return true;
    answer_ = {};
    state_ = State::kClosing;
    shutdown(fd(), SHUT_WR);
    return true;
  }

  // The rest of the head or, once that is sent, of the body.
  absl::string_view Unsent() const {
    const size_t head_size = answer_.head.size();
    if (sent_ < head_size) return absl::string_view(answer_.head).substr(sent_);
    if (answer_.body == nullptr) return "";
    return absl::string_view(*answer_.body).substr(sent_ - head_size);
  }

  // Reads what the client still sends, until it closes the connection or has sent too much.
  bool Discard() {
    char buffer[4096];
    const ssize_t size = recv(fd(), buffer, sizeof(buffer), 0);
    if (size > 0) discarded_ += static_cast<size_t>(size);
    return (size > 0 && discarded_ <= kMaxDiscardedBytes) ||
           (size < 0 && (errno == EAGAIN || errno == EINTR));
  }

  Fd fd_;
  const WaitClock::time_point until_;
  State state_ = State::kReading;
  std::string received_;
  HttpAnswer answer_;
  size_t sent_ = 0;       // of head and body
  size_t discarded_ = 0;  // after the answer
};

}  // namespace

// The server's thread and its state.
class HttpServer::Loop {
 public:
  // `socket` is null for TCP.
  Loop(UnixSocket* socket, Fd listener, Answerer answer)
      : listener_(std::move(listener)), answer_(std::move(answer)) {
    if (socket != nullptr) keeper_.emplace(*socket);
  }

  void Run() {
    while (Wait()) {
      RestoreSocket();
      DropLate();
      for (auto it = connections_.begin(); it != connections_.end();) {
        it = it->Proceed(answer_) ? std::next(it) : connections_.erase(it);
      }
      Accept();
    }
  }

  // Called on another thread.
  void Stop() { eventfd_write(stop_.get(), 1); }

 private:
  // Waits for events. Returns false after Stop().
  bool Wait() {
    const PollEvents listening = WaitClock::now() < accept_after_ ? 0 : POLLIN;
    std::vector<pollfd> polled = {{stop_.get(), POLLIN, 0}, {listener_.get(), listening, 0}};
    for (const Connection& connection : connections_) {
      polled.push_back({connection.fd(), connection.events(), 0});
    }
    while (poll(polled.data(), polled.size(), Timeout()) < 0 && errno == EINTR) continue;
    return polled[0].revents == 0;
  }

  void RestoreSocket() {
    if (!keeper_.has_value() || WaitClock::now() < next_look_) return;
    next_look_ = WaitClock::now() + std::chrono::seconds(SocketKeeper::kSeconds);
    if (std::optional<Fd> made = keeper_->Review()) listener_ = *std::move(made);
  }

  // In milliseconds; -1 if there is no deadline.
  int Timeout() const {
    auto until = WaitClock::time_point::max();
    if (!connections_.empty()) until = connections_.front().until();
    if (keeper_.has_value()) until = std::min(until, next_look_);
    if (accept_after_ > WaitClock::now()) until = std::min(until, accept_after_);
    if (until == WaitClock::time_point::max()) return -1;
    const auto left = until - WaitClock::now();
    const auto milliseconds = std::chrono::ceil<std::chrono::milliseconds>(left).count();
    return static_cast<int>(std::max<int64_t>(milliseconds, 0));
  }

  // The oldest connection is first, and the first to exceed its time.
  void DropLate() {
    const auto now = WaitClock::now();
    while (!connections_.empty() && connections_.front().until() <= now) connections_.pop_front();
  }

  void Accept() {
    while (true) {
      Fd fd(accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
      if (fd.get() < 0) {
        // Without free descriptors, poll() would report the same client again at once.
        if (errno != EAGAIN && errno != EINTR) accept_after_ = WaitClock::now() + kAcceptPause;
        return;
      }
      if (connections_.size() >= kMaxConnections) connections_.pop_front();
      connections_.emplace_back(std::move(fd),
                                WaitClock::now() + absl::ToChronoNanoseconds(kPatience));
    }
  }

  std::optional<SocketKeeper> keeper_;  // for a Unix socket
  WaitClock::time_point next_look_;     // when the socket's file is checked next
  Fd listener_;
  const Fd stop_{eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  const Answerer answer_;
  WaitClock::time_point accept_after_;  // accepts no connection before
  std::list<Connection> connections_;   // oldest first
};

absl::StatusOr<std::unique_ptr<HttpServer>> HttpServer::Start(absl::string_view flag,
                                                              const std::string& address,
                                                              Answerer answer, Reach reach) {
  std::unique_ptr<UnixSocket> socket;
  Fd listener;
  if (absl::string_view path = address; absl::ConsumePrefix(&path, "unix:")) {
    TTL_ASSIGN_OR_RETURN(socket, UnixSocket::Claim({.path = std::string(path)}));
    TTL_RETURN_IF_ERROR(socket->Bind([&]() -> absl::Status {
      TTL_ASSIGN_OR_RETURN(listener, ListenOnPath(socket->path()));
      return absl::OkStatus();
    }));
  } else {
    TTL_ASSIGN_OR_RETURN(listener, ListenOnFirst(flag, address));
    if (reach == Reach::kLoopback && !IsOnLoopback(listener)) {
      return absl::InvalidArgumentError(
          absl::StrCat(flag, ": ", Quoted(address),
                       " leads to an address that is not of loopback: use 127.0.0.1 or [::1]"));
    }
  }
  const int port = PortOf(listener);
  auto loop = std::make_unique<Loop>(socket.get(), std::move(listener), std::move(answer));
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(socket), port, std::move(loop)));
}

HttpServer::HttpServer(std::unique_ptr<UnixSocket> socket, int port, std::unique_ptr<Loop> loop)
    : socket_(std::move(socket)),
      port_(port),
      loop_(std::move(loop)),
      thread_([this] { loop_->Run(); }) {}

HttpServer::~HttpServer() {
  loop_->Stop();
  thread_.join();
  if (socket_ != nullptr) socket_->Remove();
}

}  // namespace ttl
