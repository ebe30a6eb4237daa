#ifndef TTL_SERVICE_TRANSPORT_ACCESS_ACCESS_COUNTERS_H_
#define TTL_SERVICE_TRANSPORT_ACCESS_ACCESS_COUNTERS_H_

#include <array>
#include <atomic>
#include <cstdint>

#include "service/transport/access/role.h"

namespace ttl {

// Calls refused because the caller lacked a role, since the start of the process.
struct AccessCounters {
  // By the missing role; if several roles would do, the first in the order of kRoles.
  std::array<std::atomic<int64_t>, kRoles.size()> refused = {};

  std::atomic<int64_t>& RefusedFor(Role role) { return refused[static_cast<size_t>(role)]; }
};

}  // namespace ttl

#endif  // TTL_SERVICE_TRANSPORT_ACCESS_ACCESS_COUNTERS_H_
