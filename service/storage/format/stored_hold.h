#ifndef TTL_SERVICE_STORAGE_FORMAT_STORED_HOLD_H_
#define TTL_SERVICE_STORAGE_FORMAT_STORED_HOLD_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "service/core/hold/hold.h"

namespace ttl {

// A hold as it is stored. Immutable: every change makes a new object.
struct StoredHold {
  Hold hold;
  std::string container_id;  // not part of its record
  // Unix second at which it ended; absent while it stands. One that has ended is stored until no
  // index entry and no key is left under its number.
  std::optional<int64_t> end_time;

  bool stands() const { return !end_time.has_value(); }
};

// Null: no such hold.
using StoredHoldPtr = std::shared_ptr<const StoredHold>;

}  // namespace ttl

#endif  // TTL_SERVICE_STORAGE_FORMAT_STORED_HOLD_H_
