#ifndef TTL_SERVICE_CORE_HOLD_HOLD_H_
#define TTL_SERVICE_CORE_HOLD_HOLD_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/time/time.h"
#include "service/core/item.h"

namespace ttl {

inline constexpr size_t kMaxHoldIdBytes = 255;
inline constexpr size_t kMaxHoldReasonBytes = 1024;
// Maximum number of holds in all containers.
inline constexpr int64_t kMaxHolds = 100'000;
// Maximum number of keys that one call adds to a hold.
inline constexpr size_t kMaxHoldKeysPerCall = 1000;

// What a hold covers, including items that are tracked later.
struct AllItems {};
struct ItemsOfPartition {
  std::string partition_key;
};
struct ItemsByKey {
  std::vector<ItemKey> keys;
};

// A hold as a caller asks for it; see HoldService in hold_service.proto.
struct HoldRequest {
  std::string hold_id;
  std::string reason;
  std::string author;
  std::optional<absl::Time> until;  // whole seconds; absent: until released
  std::variant<ItemsByKey, ItemsOfPartition, AllItems> scope;
};

// Keeps items of a container from being deleted until it ends. Immutable: every change makes a new
// object.
struct Hold {
  enum class Scope { kKeys = 1, kPartition = 2, kAll = 3 };

  uint64_t number = 0;     // never used twice
  uint64_t container = 0;  // container number
  std::string hold_id;
  std::string reason;
  std::string author;
  std::optional<absl::Time> until;
  absl::Time create_time;
  Scope scope = Scope::kKeys;
  std::string partition_key;  // kPartition
  int64_t key_count = 0;      // kKeys
};

using HoldPtr = std::shared_ptr<const Hold>;

}  // namespace ttl

#endif  // TTL_SERVICE_CORE_HOLD_HOLD_H_
