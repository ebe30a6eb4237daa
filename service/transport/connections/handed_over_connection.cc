#include "service/transport/connections/handed_over_connection.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <utility>

namespace ttl {
namespace {

// The calls of a client are counted after this many received bytes: counting costs some
// microseconds, and a client that exceeds the limit sends that much for some hundred calls.
constexpr int64_t kBytesBetweenCounts = 16 << 10;

}  // namespace

HandedOverConnection::HandedOverConnection(Fd duplicate, std::string client,
                                           const UnseenLimits* limits, int epoll, uint64_t id,
                                           int64_t second)
    : socket_(std::move(duplicate)),
      client_(std::move(client)),
      limits_(limits),
      epoll_(epoll),
      calls_(second) {
  // No events requested: epoll always reports EPOLLHUP and EPOLLERR.
  epoll_event event = {.events = EPOLLET, .data = {.u64 = 2 * id}};
  epoll_ctl(epoll_, EPOLL_CTL_ADD, socket_.get(), &event);
}

// Closing a duplicate does not remove the socket from epoll.
HandedOverConnection::~HandedOverConnection() {
  HangUp();
  epoll_ctl(epoll_, EPOLL_CTL_DEL, socket_.get(), nullptr);
}

ClientConnection::Progress HandedOverConnection::Proceed(Side, uint32_t events, int64_t) {
  return {.is_over = (events & (EPOLLHUP | EPOLLERR)) != 0};
}

ClientConnection::Progress HandedOverConnection::Review(int64_t second) {
  if (limits_ == nullptr) return {};
  tcp_info info = {};
  socklen_t size = sizeof(info);
  if (getsockopt(socket_.get(), IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return {};
  const auto received = static_cast<int64_t>(info.tcpi_bytes_received);
  const auto sent = static_cast<int64_t>(info.tcpi_bytes_sent);
  if (HasTooManyCalls(received, second)) return CutOff(CloseReason::kTooManyUnansweredCalls);
  if (bytes_.Exceed(limits_->unanswered_bytes, received, sent)) {
    return CutOff(CloseReason::kTooManyUnansweredBytes);
  }
  return {};
}

// Resets the connection. After a mere shutdown the client would wait, with a zero window, until the
// server has read everything received.
ClientConnection::Progress HandedOverConnection::CutOff(CloseReason reason) {
  const sockaddr nobody = {.sa_family = AF_UNSPEC, .sa_data = {}};
  connect(socket_.get(), &nobody, sizeof(nobody));
  return {.offence = reason};
}

bool HandedOverConnection::HasTooManyCalls(int64_t received, int64_t second) {
  if (received - received_when_counted_ < kBytesBetweenCounts) return false;
  const std::optional<int64_t> unanswered = limits_->count_unanswered_calls(client_);
  if (!unanswered.has_value()) return false;
  received_when_counted_ = received;
  return calls_.Exceed(limits_->unanswered_calls_per_second, *unanswered, second);
}

// Data that the server has sent stays in the socket and still reaches the client.
void HandedOverConnection::HangUp() { shutdown(socket_.get(), SHUT_RDWR); }

}  // namespace ttl
