#ifndef TTL_SERVICE_TRANSPORT_CONNECTIONS_RECONNECT_PACE_H_
#define TTL_SERVICE_TRANSPORT_CONNECTIONS_RECONNECT_PACE_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/container/flat_hash_map.h"

namespace ttl {

// Limits the connection rate of hosts that were cut off: a connection costs the server more than it
// costs them. Not thread-safe.
class ReconnectPace {
 public:
  // The rate allowed, and for how long after the host was last cut off it applies.
  static constexpr int64_t kSeconds = 60;
  static constexpr int64_t kConnectionsPerSecond = 5;
  // Maximum hosts remembered. Further ones are not limited until others are forgotten.
  static constexpr size_t kMaxHosts = 4096;

  // A connection of `host` was cut off at `second` of any monotonic clock.
  void CutOff(const std::string& host, int64_t second);

  // Whether a new connection of `host` is allowed; counts it.
  bool Admits(const std::string& host, int64_t second);

 private:
  struct Offender {
    int64_t cut_off_at = 0;
    int64_t second = 0;  // in which `connections` were counted
    int64_t connections = 0;
  };

  void Forget(int64_t second);

  absl::flat_hash_map<std::string, Offender> offenders_;
};

}  // namespace ttl

#endif  // TTL_SERVICE_TRANSPORT_CONNECTIONS_RECONNECT_PACE_H_
