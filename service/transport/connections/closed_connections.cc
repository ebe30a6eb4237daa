#include "service/transport/connections/closed_connections.h"

#include <spdlog/spdlog.h>

#include <array>
#include <atomic>
#include <cstddef>

namespace ttl {
namespace {

std::array<std::atomic<int64_t>, kCloseReasons> closed = {};

std::atomic<int64_t>& Count(CloseReason reason) { return closed[static_cast<size_t>(reason)]; }

}  // namespace

const char* CloseReasonName(CloseReason reason) {
  switch (reason) {
    case CloseReason::kTooManyConnections:
      return "too_many_connections";
    case CloseReason::kHeaderBlockTooLarge:
      return "header_block_too_large";
    case CloseReason::kSettingsNotAcknowledged:
      return "settings_not_acknowledged";
    case CloseReason::kTooManyResets:
      return "too_many_resets";
    case CloseReason::kTooManyPings:
      return "too_many_pings";
    case CloseReason::kTooManyIdleFrames:
      return "too_many_idle_frames";
    case CloseReason::kTooManyUnansweredBytes:
      return "too_many_unanswered_bytes";
    case CloseReason::kTooManyUnansweredCalls:
      return "too_many_unanswered_calls";
    case CloseReason::kTooManyReconnects:
      return "too_many_reconnects";
  }
  return "";
}

void CountClosedConnection(CloseReason reason) {
  const int64_t count = ++Count(reason);
  if ((count & (count - 1)) != 0) return;
  spdlog::warn("connection closed: reason={} closed={}", CloseReasonName(reason), count);
}

int64_t ClosedConnections(CloseReason reason) { return Count(reason).load(); }

}  // namespace ttl
