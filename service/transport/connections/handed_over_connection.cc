#include "service/transport/connections/handed_over_connection.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <utility>

namespace ttl {

HandedOverConnection::HandedOverConnection(Fd duplicate,
                                           std::optional<int64_t> most_unanswered_bytes, int epoll,
                                           uint64_t id)
    : socket_(std::move(duplicate)), most_unanswered_bytes_(most_unanswered_bytes), epoll_(epoll) {
  // Asks for nothing: of the end of both directions epoll tells unasked.
  epoll_event event = {.events = EPOLLET, .data = {.u64 = 2 * id}};
  epoll_ctl(epoll_, EPOLL_CTL_ADD, socket_.get(), &event);
}

// Closing a duplicate does not take the socket off epoll.
HandedOverConnection::~HandedOverConnection() {
  HangUp();
  epoll_ctl(epoll_, EPOLL_CTL_DEL, socket_.get(), nullptr);
}

ClientConnection::Progress HandedOverConnection::Proceed(Side, uint32_t events, int64_t) {
  return {.is_over = (events & (EPOLLHUP | EPOLLERR)) != 0};
}

ClientConnection::Progress HandedOverConnection::Review(int64_t) {
  if (!most_unanswered_bytes_.has_value()) return {};
  tcp_info info = {};
  socklen_t size = sizeof(info);
  if (getsockopt(socket_.get(), IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return {};
  const bool exceeds =
      unanswered_.Exceed(*most_unanswered_bytes_, static_cast<int64_t>(info.tcpi_bytes_received),
                         static_cast<int64_t>(info.tcpi_bytes_sent));
  if (!exceeds) return {};
  return {.offence = CloseReason::kTooManyUnansweredBytes};
}

// What the server has sent is on its way to the client, and stays there.
void HandedOverConnection::HangUp() { shutdown(socket_.get(), SHUT_RDWR); }

}  // namespace ttl
