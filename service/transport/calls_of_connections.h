#ifndef TTL_SERVICE_TRANSPORT_CALLS_OF_CONNECTIONS_H_
#define TTL_SERVICE_TRANSPORT_CALLS_OF_CONNECTIONS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "service/base/stopwatch.h"

namespace ttl {

// What gRPC counts of the calls on each connection to the servers of this process over TCP. A call
// that is taken back before its message has come never gets to its method, so that nobody else
// can count it. Not thread-safe.
class CallsOfConnections {
 public:
  // Calls begun so far on the connection of `client`, HOST:PORT without brackets, less those that
  // the server answered, with whatever status; what gRPC itself ends, such as a call with too large
  // a message, is not among the answered. Absent if gRPC does not know such a connection (yet).
  // Reads the list of all connections when it does not know one, but no more than ten times a
  // second.
  std::optional<int64_t> CountUnanswered(const std::string& client);

 private:
  void ReadConnections();

  absl::flat_hash_map<std::string, int64_t> sockets_;  // their numbers, by client
  std::optional<Stopwatch> since_read_;
};

}  // namespace ttl

#endif  // TTL_SERVICE_TRANSPORT_CALLS_OF_CONNECTIONS_H_
