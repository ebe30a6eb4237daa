#ifndef TTL_SERVICE_CORE_DUE_RULES_H_
#define TTL_SERVICE_CORE_DUE_RULES_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/time/time.h"
#include "service/core/container.h"
#include "service/core/ttl_rules.h"

// When expired items become due for deletion: after the delay, and, during the grace of a stricter
// policy, only if the replaced policies agree. Pure functions; times are Unix seconds.
namespace ttl {

// Waiting times in seconds on which all policies concerned agree. Absent: such items are never due.
struct DueRule {
  // For items that inherit: due at base() + inherited_wait.
  std::optional<int64_t> inherited_wait;
  // For items with an end of their own (see ComputeOwnEnd): due at that end + own_extra.
  std::optional<int64_t> own_extra;

  friend bool operator==(const DueRule&, const DueRule&) = default;
};

// The rule in force at `now` for a container with `policy`: an item is due once it is due under
// `policy` and under every policy of `replaced` that is still respected, which each is before its
// `until`. Under a policy whose default_ttl is absent or illegal no item is ever due; a negative
// delay counts as 0.
DueRule ComputeDueRule(const Policy& policy, const std::vector<ReplacedPolicy>& replaced,
                       absl::Time now);

// The rule under which an item is due once it is due under both.
DueRule StricterOf(const DueRule& a, const DueRule& b);

// Whether no item is ever due under `a` that is not due under `b`.
bool KeepsAllThat(const Policy& a, const Policy& b);

// First second at which the item may be deleted; absent if it never may.
std::optional<int64_t> DueTime(const DueRule& rule, const ItemTimes& item);

// The list of replaced policies after `policy` was replaced by `next` at `now`. `policy` is
// appended if it keeps any item that `next` does not, for `hold`: the grace, or, if the change
// pulled the brake and made `braked_items` due, the time until the brake is released. Dropped are
//
// - entries that have ended;
// - entries, braked or not, that keep nothing that `next` does not keep, so that a mistake that is
//   reverted leaves no trace;
// - entries that keep nothing that `policy` does not keep for longer; but a braked entry is dropped
//   only for a braked one.
//
// At most kMaxReplacedPolicies entries of each kind, braked and not, are left: the newest of a kind
// are merged into one policy that keeps what each of them kept, until the last of them ends. This
// only ever defers deletes, and no policy is respected for longer than two graces, or two release
// times if braked, however often policies change.
std::vector<ReplacedPolicy> ReplacePolicy(std::vector<ReplacedPolicy> replaced,
                                          const Policy& policy, const Policy& next, absl::Time now,
                                          absl::Duration hold,
                                          std::optional<int64_t> braked_items = std::nullopt);

// Maximum entries of one kind that ReplacePolicy() keeps.
inline constexpr int kMaxReplacedPolicies = 8;

}  // namespace ttl

#endif  // TTL_SERVICE_CORE_DUE_RULES_H_
