#include "service/server/http/http_server.h"

#include <poll.h>
#include <spdlog/spdlog.h>
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
#include "service/base/log_limiter.h"
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
  // `tls` is the TLS connection over `fd`; null: plain text.
  Connection(Fd fd, std::unique_ptr<TlsConnection> tls, WaitClock::time_point until)
      : fd_(std::move(fd)), tls_(std::move(tls)), until_(until) {}

  int fd() const { return fd_.get(); }
  WaitClock::time_point until() const { return until_; }
  PollEvents events() const { return events_; }
  // With TLS: has presented a good certificate.
  bool is_trusted() const { return tls_ == nullptr || tls_->is_established(); }

  // Why its TLS handshake has failed, once; otherwise empty.
  std::string TakeFailure() const { return tls_ == nullptr ? "" : tls_->TakeFailure(); }
  // REQUIRES: TLS.
  const std::string& peer() const { return tls_->peer(); }

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
    while (true) {
      char buffer[4096];
      const ssize_t size = tls_ == nullptr ? recv(fd(), buffer, sizeof(buffer), 0)
                                           : tls_->Receive(buffer, sizeof(buffer));
      if (size <= 0) return ContinueAfter(size, POLLIN);
      received_.append(buffer, static_cast<size_t>(size));
      std::optional<HttpAnswer> made = answer(received_, tls_.get());
      // TLS may have more of what it has read already, of which poll() knows nothing.
      if (!made.has_value()) continue;
      received_.clear();
      received_.shrink_to_fit();
      answer_ = *std::move(made);
      state_ = State::kAnswering;
      return Write();
    }
  }

  // Sends as much as possible.
  bool Write() {
    while (!Unsent().empty()) {
      const absl::string_view rest = Unsent();
      const ssize_t size =
          tls_ == nullptr ? send(fd(), rest.data(), rest.size(), MSG_NOSIGNAL) : tls_->Send(rest);
      if (size <= 0) return ContinueAfter(size, POLLOUT);
      sent_ += static_cast<size_t>(size);
    }
    if (tls_ != nullptr) tls_->EndSending();
    StartClosing();
    return true;
  }

  // What follows on a `size` of recv() or send() that says that nothing was moved: to wait in
  // `direction`, or for what TLS waits for, or to close the connection. TLS that has failed has
  // told the client why, which must reach it.
  bool ContinueAfter(ssize_t size, PollEvents direction) {
    if (size == 0) return false;
    events_ = tls_ == nullptr ? direction : tls_->events();
    if (errno == EAGAIN || errno == EINTR) return true;
    if (errno == EPROTO) StartClosing();
    return state_ == State::kClosing;
  }

  void StartClosing() {
    answer_ = {};
    received_.clear();
    state_ = State::kClosing;
    events_ = POLLIN;
    shutdown(fd(), SHUT_WR);
  }

  // The rest of the head or, once that is sent, of the body.
  absl::string_view Unsent() const {
    const size_t head_size = answer_.head.size();
    if (sent_ < head_size) return absl::string_view(answer_.head).substr(sent_);
    if (answer_.body == nullptr) return "";
    return absl::string_view(*answer_.body).substr(sent_ - head_size);
  }

  // Reads what the client still sends, as it comes, until it closes the connection or has sent too
  // much.
  bool Discard() {
    char buffer[4096];
    const ssize_t size = recv(fd(), buffer, sizeof(buffer), 0);
    if (size > 0) discarded_ += static_cast<size_t>(size);
    return (size > 0 && discarded_ <= kMaxDiscardedBytes) ||
           (size < 0 && (errno == EAGAIN || errno == EINTR));
  }

  Fd fd_;
  const std::unique_ptr<TlsConnection> tls_;
  const WaitClock::time_point until_;
  State state_ = State::kReading;
  PollEvents events_ = POLLIN;
  std::string received_;
  HttpAnswer answer_;
  size_t sent_ = 0;       // of head and body
  size_t discarded_ = 0;  // after the answer
};

}  // namespace

// The server's thread and its state.
class HttpServer::Loop {
 public:
  // `socket` is null for TCP, `tls` for plain text.
  Loop(std::string address, UnixSocket* socket, Fd listener, Answerer answer,
       std::unique_ptr<TlsServer> tls)
      : address_(std::move(address)),
        listener_(std::move(listener)),
        answer_(std::move(answer)),
        tls_(std::move(tls)) {
    if (socket != nullptr) keeper_.emplace(*socket);
  }

  void Run() {
    while (Wait()) {
      RestoreSocket();
      DropLate();
      for (auto it = connections_.begin(); it != connections_.end();) {
        const bool stays = it->Proceed(answer_);
        LogFailure(*it);
        it = stays ? std::next(it) : connections_.erase(it);
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

  // No more than there is room for, so that each connection is looked at before a newer one can
  // evict it, and clients that connect all the time do not hold up the others.
  void Accept() {
    for (size_t accepted = 0; accepted < kMaxConnections; ++accepted) {
      Fd fd(accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
      if (fd.get() < 0) {
        // Without free descriptors, poll() would report the same client again at once.
        if (errno != EAGAIN && errno != EINTR) accept_after_ = WaitClock::now() + kAcceptPause;
        return;
      }
      if (connections_.size() >= kMaxConnections) EvictOne();
      Add(std::move(fd));
    }
  }

  void EvictOne() {
    const auto untrusted =
        std::find_if(connections_.begin(), connections_.end(),
                     [](const Connection& connection) { return !connection.is_trusted(); });
    connections_.erase(untrusted == connections_.end() ? connections_.begin() : untrusted);
  }

  void Add(Fd fd) {
    std::unique_ptr<TlsConnection> tls = tls_ == nullptr ? nullptr : tls_->Accept(fd.get());
    if (tls_ != nullptr && tls == nullptr) return;
    connections_.emplace_back(std::move(fd), std::move(tls),
                              WaitClock::now() + absl::ToChronoNanoseconds(kPatience));
  }

  // If the connection's handshake has failed. A client whose certificate is refused learns only
  // that, and the operator has to say why.
  void LogFailure(const Connection& connection) {
    const std::string failure = connection.TakeFailure();
    if (failure.empty()) return;
    const std::optional<int64_t> left_out =
        log_limiter_.Admit(failure, absl::FromChrono(WaitClock::now().time_since_epoch()));
    if (!left_out.has_value()) return;
    spdlog::warn("TLS handshake failed: address={} peer={} reason={}{}", Quoted(address_),
                 Quoted(connection.peer()), Quoted(failure),
                 *left_out == 0 ? "" : absl::StrCat(" left_out=", *left_out));
  }

  const std::string address_;           // as given
  std::optional<SocketKeeper> keeper_;  // for a Unix socket
  WaitClock::time_point next_look_;     // when the socket's file is checked next
  Fd listener_;
  const Fd stop_{eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  const Answerer answer_;
  const std::unique_ptr<TlsServer> tls_;  // null: plain text
  WaitClock::time_point accept_after_;    // accepts no connection before
  std::list<Connection> connections_;     // oldest first
  LogLimiter log_limiter_{absl::Seconds(10)};
};

absl::StatusOr<std::unique_ptr<HttpServer>> HttpServer::Start(absl::string_view flag,
                                                              const std::string& address,
                                                              Answerer answer, Reach reach,
                                                              std::unique_ptr<TlsServer> tls) {
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
  auto loop = std::make_unique<Loop>(address, socket.get(), std::move(listener), std::move(answer),
                                     std::move(tls));
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
