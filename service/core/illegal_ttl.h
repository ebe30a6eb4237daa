#ifndef TTL_SERVICE_CORE_ILLEGAL_TTL_H_
#define TTL_SERVICE_CORE_ILLEGAL_TTL_H_

#include <cstdint>
#include <optional>

#include "service/core/container.h"

namespace ttl {

// How a report whose ttl or expire_at is illegal is treated: it is refused, or, while TTL of the
// container is off, it is kept. A kept one is not interpreted; if TTL is switched on later, the
// item never expires until it is written again.
enum class IllegalTtl { kRefused, kKept };

inline IllegalTtl IllegalTtlOf(const Policy& policy) {
  return policy.default_ttl.has_value() ? IllegalTtl::kRefused : IllegalTtl::kKept;
}

}  // namespace ttl

#endif  // TTL_SERVICE_CORE_ILLEGAL_TTL_H_
