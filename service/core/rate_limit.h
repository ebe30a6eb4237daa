#ifndef TTL_SERVICE_CORE_RATE_LIMIT_H_
#define TTL_SERVICE_CORE_RATE_LIMIT_H_

#include <algorithm>
#include <optional>

namespace ttl {

// The stricter of two limits on a rate; absent is no limit.
inline std::optional<double> StricterLimit(std::optional<double> a, std::optional<double> b) {
  if (!a.has_value() || !b.has_value()) return a.has_value() ? a : b;
  return std::min(*a, *b);
}

}  // namespace ttl

#endif  // TTL_SERVICE_CORE_RATE_LIMIT_H_
