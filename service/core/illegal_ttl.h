#ifndef TTL_SERVICE_CORE_ILLEGAL_TTL_H_
#define TTL_SERVICE_CORE_ILLEGAL_TTL_H_

#include <cstdint>
#include <optional>

#include "service/core/container.h"

namespace ttl {

// What becomes of an item whose ttl or expire_at is not legal. While its container's TTL is off
// neither is interpreted: they are kept, and should TTL be switched on, the item never expires
// until it is written again.
enum class IllegalTtl { kRefused, kKept };

inline IllegalTtl IllegalTtlOf(const Policy& policy) {
  return policy.default_ttl.has_value() ? IllegalTtl::kRefused : IllegalTtl::kKept;
}

}  // namespace ttl

#endif  // TTL_SERVICE_CORE_ILLEGAL_TTL_H_
