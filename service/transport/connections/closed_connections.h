#ifndef TTL_SERVICE_TRANSPORT_CONNECTIONS_CLOSED_CONNECTIONS_H_
#define TTL_SERVICE_TRANSPORT_CONNECTIONS_CLOSED_CONNECTIONS_H_

#include <cstdint>

namespace ttl {

// Why this process closed a client's connection.
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

// The name in logs and metrics, such as "too_many_pings".
const char* CloseReasonName(CloseReason reason);

// Counts a closed connection, for the whole process. Logs the 1st, 2nd, 4th, 8th, ... of each
// reason, so that a flood of connections does not flood the log. Thread-safe.
void CountClosedConnection(CloseReason reason);

// The count since the start of the process. Thread-safe.
int64_t ClosedConnections(CloseReason reason);

}  // namespace ttl

#endif  // TTL_SERVICE_TRANSPORT_CONNECTIONS_CLOSED_CONNECTIONS_H_
