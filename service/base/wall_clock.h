#ifndef TTL_SERVICE_BASE_WALL_CLOCK_H_
#define TTL_SERVICE_BASE_WALL_CLOCK_H_

#include <functional>

#include "absl/time/time.h"

namespace ttl {

// Returns the time of day: absl::Now() in a program, a time of its own in a test. Must be
// thread-safe.
using WallClock = std::function<absl::Time()>;

}  // namespace ttl

#endif  // TTL_SERVICE_BASE_WALL_CLOCK_H_
