#ifndef TTL_SERVICE_CORE_DUE_RULES_H_
#define TTL_SERVICE_CORE_DUE_RULES_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/time/time.h"
#include "service/core/container.h"
#include "service/core/ttl_rules.h"

// When expired items become due for deletion: after the delay, and, within the
// grace of a stricter policy, only if the replaced policies agree. Pure.
namespace ttl {

// Waiting times after `_ts`, in seconds, that all policies in question agree
// on. An absent value: such items are never due.
struct DueRule {
  // For items without a ttl: due at ts + inherited_wait.
  std::optional<int64_t> inherited_wait;
  // For items with a positive ttl of their own: due at ts + ttl + own_extra.
  std::optional<int64_t> own_extra;

  friend bool operator==(const DueRule&, const DueRule&) = default;
};

// The rule in force at `now` for a container with `policy` whose policies in
// `replaced` were replaced less than a grace ago.
DueRule ComputeDueRule(const Policy& policy, const std::vector<ReplacedPolicy>& replaced,
                       absl::Time now);

// First second at which the item may be deleted; absent if it never may.
std::optional<int64_t> DueTime(const DueRule& rule, const ItemTimes& item);

// The list after `policy` was replaced by `next` at `now`: expired entries are
// dropped, `policy` is appended if the two differ, and the length stays within
// kMaxReplacedPolicies by letting a newer entry take the place of the one
// before it, which only ever defers deletes.
std::vector<ReplacedPolicy> ReplacePolicy(std::vector<ReplacedPolicy> replaced,
                                          const Policy& policy, const Policy& next, absl::Time now,
                                          absl::Duration grace);

// Most entries ReplacePolicy keeps.
inline constexpr int kMaxReplacedPolicies = 8;

}  // namespace ttl

#endif  // TTL_SERVICE_CORE_DUE_RULES_H_
