#include "service/transport/connections/relayed_connection.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <utility>

namespace ttl {
namespace {

// Maximum reads of one side before other connections are handled.
constexpr int kReadsPerRound = 8;

// How long a client may take to read the last bytes after the server has closed.
constexpr int64_t kSecondsForLastBytes = 5;

constexpr bool kUntilNothingIsThere = false;

std::optional<CloseReason> ReasonToClose(FrameGuard::Verdict verdict) {
  switch (verdict) {
    case FrameGuard::Verdict::kHeaderBlockTooLarge:
      return CloseReason::kHeaderBlockTooLarge;
    case FrameGuard::Verdict::kSettingsNotAcknowledged:
      return CloseReason::kSettingsNotAcknowledged;
    case FrameGuard::Verdict::kTooManyResets:
      return CloseReason::kTooManyResets;
    case FrameGuard::Verdict::kTooManyPings:
      return CloseReason::kTooManyPings;
    case FrameGuard::Verdict::kTooManyIdleFrames:
      return CloseReason::kTooManyIdleFrames;
    case FrameGuard::Verdict::kKeeps:
      break;
  }
  return std::nullopt;
}

bool WouldBlock() { return errno == EAGAIN || errno == EINTR; }

}  // namespace

RelayedConnection::RelayedConnection(Fd client, Fd server, const FrameLimits& limits,
                                     absl::Span<char> buffer, int epoll, uint64_t id)
    : buffer_(buffer),
      epoll_(epoll),
      id_(id),
      guard_(limits),
      client_{.fd = std::move(client), .side = Side::kClient},
      server_{.fd = std::move(server), .side = Side::kServer} {
  Watch(client_, EPOLL_CTL_ADD, EPOLLIN);
  Watch(server_, EPOLL_CTL_ADD, EPOLLIN);
}

void RelayedConnection::Watch(const End& end, int operation, uint32_t events) const {
  epoll_event event = {.events = events | EPOLLRDHUP | EPOLLET,
                       .data = {.u64 = 2 * id_ + (end.side == Side::kServer ? 1 : 0)}};
  epoll_ctl(epoll_, operation, end.fd.get(), &event);
}

ClientConnection::Progress RelayedConnection::Proceed(Side side, uint32_t events, int64_t second) {
  End& told = side == Side::kClient ? client_ : server_;
  End& other = side == Side::kClient ? server_ : client_;
  bool has_more = false;
  // This side accepts bytes again, so the other side may be read.
  if ((events & EPOLLOUT) != 0 && SendPending(told)) {
    has_more = Pass(other, told, kUntilNothingIsThere, second) == Passed::kPart;
  }
  if ((events & ~static_cast<uint32_t>(EPOLLOUT)) != 0) {
    // Only bytes to read; epoll reports again when more arrive.
    const bool may_stop_early = events == EPOLLIN;
    has_more = Pass(told, other, may_stop_early, second) == Passed::kPart || has_more;
  }
  // Also reported while the server is not read because the client accepts nothing.
  const bool has_hung_up = side == Side::kServer && (events & (EPOLLHUP | EPOLLRDHUP)) != 0;
  if (has_hung_up && !server_ended_at_.has_value()) server_ended_at_ = second;
  return Now(has_more);
}

ClientConnection::Progress RelayedConnection::Review(int64_t second) {
  Progress progress = Now(false);
  progress.is_over = progress.is_over || (server_ended_at_.has_value() &&
                                          second - *server_ended_at_ > kSecondsForLastBytes);
  return progress;
}

void RelayedConnection::HangUp() {
  client_.has_ended = true;
  shutdown(server_.fd.get(), SHUT_WR);
}

// Bytes that the server has not read when it closes are lost, as they would be without a relay.
ClientConnection::Progress RelayedConnection::Now(bool has_more) const {
  const bool is_over = (server_.has_ended && client_.pending.empty()) || client_.is_gone ||
                       (client_.has_ended && server_.is_gone);
  return {.has_more = has_more, .is_over = is_over, .offence = offence_};
}

RelayedConnection::Passed RelayedConnection::Pass(End& from, End& to, bool may_stop_early,
                                                  int64_t second) {
  for (int i = 0; i < kReadsPerRound; ++i) {
    if (!to.pending.empty()) return Passed::kUntilBlocked;
    if (from.has_ended || offence_.has_value()) return Passed::kAll;
    const ssize_t size = recv(from.fd.get(), buffer_.data(), buffer_.size(), 0);
    if (size < 0 && WouldBlock()) return Passed::kAll;
    if (size <= 0) {
      from.has_ended = true;
      shutdown(to.fd.get(), SHUT_WR);
      return Passed::kAll;
    }
    const absl::string_view bytes(buffer_.data(), static_cast<size_t>(size));
    Note(from, bytes, second);
    if (offence_.has_value() || !Send(to, bytes)) return Passed::kAll;
    if (may_stop_early && bytes.size() < buffer_.size()) return Passed::kAll;
  }
  return Passed::kPart;
}

void RelayedConnection::Note(const End& from, absl::string_view bytes, int64_t second) {
  if (from.side == Side::kServer) {
    guard_.NoteAnswered(static_cast<int64_t>(bytes.size()));
  } else {
    offence_ = ReasonToClose(guard_.Take(bytes, second));
  }
}

// Returns false if the side has gone.
bool RelayedConnection::Send(End& to, absl::string_view bytes) {
  const ssize_t size = send(to.fd.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
  if (size < 0 && !WouldBlock()) {
    to.is_gone = true;
    return false;
  }
  bytes.remove_prefix(size < 0 ? 0 : static_cast<size_t>(size));
  if (bytes.empty()) return true;
  to.pending.assign(bytes.data(), bytes.size());
  Watch(to, EPOLL_CTL_MOD, EPOLLIN | EPOLLOUT);
  return true;
}

// Returns true once nothing is pending.
bool RelayedConnection::SendPending(End& to) {
  if (to.pending.empty()) return true;
  const std::string bytes = std::exchange(to.pending, {});
  if (!Send(to, bytes) || !to.pending.empty()) return false;
  Watch(to, EPOLL_CTL_MOD, EPOLLIN);
  return true;
}

}  // namespace ttl
