#ifndef TTL_SERVICE_TRANSPORT_CONNECTIONS_CONNECTION_LIMIT_H_
#define TTL_SERVICE_TRANSPORT_CONNECTIONS_CONNECTION_LIMIT_H_

#include <cstdint>
#include <vector>

namespace ttl {

// Returns how many connections this process can have open, at most `wanted`. Raises the limit on
// open files as needed, since each connection takes descriptors; logs a warning if the system does
// not allow enough.
int64_t ConnectionsWithinFileLimit(int64_t wanted);

// Who can connect to an address.
enum class AddressKind : uint8_t {
  kUnixSocket,  // whoever the file mode admits
  kTcp,         // everyone on the network
  kHealthOnly,  // everyone on the network; serves health only
};

// Divides `connections` among the addresses and returns the share of each, in order. Health-only
// addresses get an eighth if there are others. Unix sockets and TCP addresses each get half of the
// rest if there are both. Addresses of one kind get equal shares. So a client can never exhaust the
// connections of an address that it cannot reach. Pure.
std::vector<int64_t> SharePlaces(int64_t connections, const std::vector<AddressKind>& addresses);

}  // namespace ttl

#endif  // TTL_SERVICE_TRANSPORT_CONNECTIONS_CONNECTION_LIMIT_H_
