#ifndef TTL_SERVICE_TRANSPORT_CONNECTIONS_LISTENING_SOCKET_H_
#define TTL_SERVICE_TRANSPORT_CONNECTIONS_LISTENING_SOCKET_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "service/transport/connections/fd.h"

namespace ttl {

// Non-blocking listening sockets. Errors are UNAVAILABLE and name the address.
//
// Returns one socket, and at least one, for each address of the host in "HOST:PORT" on which this
// machine can listen. All use the same port, also if that is 0. Both 0.0.0.0 and [::] mean all IPv4
// and IPv6 addresses, if IPv6 is available. INVALID_ARGUMENT if the host cannot be resolved.
absl::StatusOr<std::vector<Fd>> ListenOnTcp(const std::string& host_port);
// REQUIRES: the path is short enough for a Unix socket.
absl::StatusOr<Fd> ListenOnPath(const std::string& path);

// Whether a TCP socket listens on an address of loopback: 127.0.0.0/8 or ::1. Unix sockets do not.
bool IsOnLoopback(const Fd& socket);

// The port of a TCP socket; 0 for others.
int PortOf(const Fd& socket);

}  // namespace ttl

#endif  // TTL_SERVICE_TRANSPORT_CONNECTIONS_LISTENING_SOCKET_H_
