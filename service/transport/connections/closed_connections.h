#ifndef TTL_SERVICE_TRANSPORT_CONNECTIONS_CLOSED_CONNECTIONS_H_
#define TTL_SERVICE_TRANSPORT_CONNECTIONS_CLOSED_CONNECTIONS_H_

#include <cstdint>

namespace ttl {

// Why this process closed a connection that a client would have kept.
enum class CloseReason : uint8_t {
  kTooManyConnections,
  kHeaderBlockTooLarge,
  kSettingsNotAcknowledged,
  kTooManyResets,
  kTooManyPings,
  kTooManyIdleFrames,
  kTooManyUnansweredBytes,
  kTooManyUnansweredCalls,
  kTooManyReconnects,
};
inline constexpr int kCloseReasons = 9;

// As in the log and in metrics: "too_many_pings".
const char* CloseReasonName(CloseReason reason);

// Counts one more for the whole process, and logs the 1st, 2nd, 4th, 8th, ... of a reason: a
// flood must not flood the log. Both functions are for any thread.
void CountClosedConnection(CloseReason reason);

// Since the start of the process.
int64_t ClosedConnections(CloseReason reason);

}  // namespace ttl

#endif  // TTL_SERVICE_TRANSPORT_CONNECTIONS_CLOSED_CONNECTIONS_H_
