#ifndef TTL_SERVICE_TRANSPORT_CALLS_OF_CONNECTIONS_H_
#define TTL_SERVICE_TRANSPORT_CALLS_OF_CONNECTIONS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "service/base/stopwatch.h"

namespace ttl {

// The number of unanswered calls on each TCP connection of this process, from gRPC's channelz. A
// call that the client resets before its message has arrived never reaches its method, so only gRPC
// itself can count it. Not thread-safe.
class CallsOfConnections {
 public:
  // Calls begun so far on the connection of `client` (HOST:PORT without brackets), minus those that
  // the server answered with any status. Calls that gRPC itself ends, for example because a message
  // is too large, do not count as answered. Absent if gRPC does not know the connection, or not
  // yet. Looking up a new client reads the list of all connections, at most ten times a second.
  std::optional<int64_t> CountUnanswered(const std::string& client);

 private:
  void ReadConnections();

  absl::flat_hash_map<std::string, int64_t> sockets_;  // channelz socket ids by client
  std::optional<Stopwatch> since_read_;
};

}  // namespace ttl

#endif  // TTL_SERVICE_TRANSPORT_CALLS_OF_CONNECTIONS_H_
