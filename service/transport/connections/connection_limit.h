#ifndef TTL_SERVICE_TRANSPORT_CONNECTIONS_CONNECTION_LIMIT_H_
#define TTL_SERVICE_TRANSPORT_CONNECTIONS_CONNECTION_LIMIT_H_

#include <cstdint>
#include <vector>

namespace ttl {

// How many connections to all servers of this process may be open, at most `wanted`: each takes
// descriptors. Raises the limit on open files as far as that needs and the system allows; if
// the system allows less, a warning says so.
int64_t ConnectionsWithinFileLimit(int64_t wanted);

// Who can connect to an address.
enum class AddressKind : uint8_t {
  kUnixSocket,  // whom file modes let in
  kTcp,         // everybody on the network
  kHealthOnly,  // the same, by a port that serves nothing but health
};

// How many of `connections` each address may have, in their order. Health-only addresses have
// an eighth, if there are others; of the rest Unix sockets and TCP have a half each, if there
// are both; addresses of a kind have equal shares. So nobody can use up the places of
// an address to which he cannot connect. Pure.
std::vector<int64_t> SharePlaces(int64_t connections, const std::vector<AddressKind>& addresses);

}  // namespace ttl

#endif  // TTL_SERVICE_TRANSPORT_CONNECTIONS_CONNECTION_LIMIT_H_
