#ifndef TTL_SERVICE_RPC_CHECK_COUNTERS_H_
#define TTL_SERVICE_RPC_CHECK_COUNTERS_H_

#include <atomic>
#include <cstdint>

namespace ttl {

// What visibility checks count for the status, since the start of the process.
struct CheckCounters {
  // Checks that carried an impossible ts or ttl.
  std::atomic<int64_t> impossible = 0;
};

}  // namespace ttl

#endif  // TTL_SERVICE_RPC_CHECK_COUNTERS_H_
