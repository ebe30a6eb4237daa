#ifndef TTL_SERVICE_BASE_SATURATED_ADD_H_
#define TTL_SERVICE_BASE_SATURATED_ADD_H_

#include <cstdint>
#include <limits>

namespace ttl {

// a + b, clamped to the range of int64_t.
inline int64_t SaturatedAdd(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return b < 0 ? std::numeric_limits<int64_t>::min() : std::numeric_limits<int64_t>::max();
}

}  // namespace ttl

#endif  // TTL_SERVICE_BASE_SATURATED_ADD_H_
