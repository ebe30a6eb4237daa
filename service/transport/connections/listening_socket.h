#ifndef TTL_SERVICE_TRANSPORT_CONNECTIONS_LISTENING_SOCKET_H_
#define TTL_SERVICE_TRANSPORT_CONNECTIONS_LISTENING_SOCKET_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "service/transport/connections/fd.h"

namespace ttl {

// Sockets that listen and do not block. Errors are UNAVAILABLE and name the address.
//
// One for each address that the host of "HOST:PORT" has and this machine can listen on, all on
// one port, also if that is 0: at least one. 0.0.0.0 and [::] are all addresses of IPv4 and of
// IPv6, where there is IPv6. INVALID_ARGUMENT if the host cannot be resolved.
absl::StatusOr<std::vector<Fd>> ListenOnTcp(const std::string& host_port);
// REQUIRES: the path is short enough for a Unix socket.
absl::StatusOr<Fd> ListenOnPath(const std::string& path);

// The port of a TCP socket; 0 for others.
int PortOf(const Fd& socket);

}  // namespace ttl

#endif  // TTL_SERVICE_TRANSPORT_CONNECTIONS_LISTENING_SOCKET_H_
