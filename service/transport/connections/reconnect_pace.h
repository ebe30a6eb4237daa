#ifndef TTL_SERVICE_TRANSPORT_CONNECTIONS_RECONNECT_PACE_H_
#define TTL_SERVICE_TRANSPORT_CONNECTIONS_RECONNECT_PACE_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/container/flat_hash_map.h"

namespace ttl {

// Slows down hosts that were cut off and connect again: each connection costs the server more
// than it costs them. Not thread-safe.
class ReconnectPace {
 public:
  // How often they may connect, and for how long after they were cut off last.
  static constexpr int64_t kSeconds = 60;
  static constexpr int64_t kConnectionsPerSecond = 5;
  // Hosts that are remembered at a time. Further ones are not, until some are forgotten.
  static constexpr size_t kMostHosts = 4096;

  // A connection of `host`, any name, was cut off at `second` of any clock that goes on.
  void CutOff(const std::string& host, int64_t second);

  // Whether one more connection of `host` may stay.
  bool Admits(const std::string& host, int64_t second);

 private:
  struct Offender {
    int64_t cut_off_at = 0;
    int64_t second = 0;  // in which `connections` came
    int64_t connections = 0;
  };

  void Forget(int64_t second);

  absl::flat_hash_map<std::string, Offender> offenders_;
};

}  // namespace ttl

#endif  // TTL_SERVICE_TRANSPORT_CONNECTIONS_RECONNECT_PACE_H_
