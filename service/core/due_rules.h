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

// Waiting times, in seconds, that all policies in question agree on. An absent value: such items
// are never due.
struct DueRule {
  // For items that inherit: due at ts + inherited_wait.
  std::optional<int64_t> inherited_wait;
  // For items with an end of their own (see ComputeOwnEnd): due at that end + own_extra.
  std::optional<int64_t> own_extra;

  friend bool operator==(const DueRule&, const DueRule&) = default;
};

// The rule in force at `now` for a container with `policy`: an item is due once
// it is due under `policy` and under every one of `replaced` that still stands.
// A replaced policy stands while now < until. Under a policy whose default_ttl is
// absent or not legal no item is ever due; a negative delay counts as none.
DueRule ComputeDueRule(const Policy& policy, const std::vector<ReplacedPolicy>& replaced,
                       absl::Time now);

// The rule by which an item is due once it is due by both.
DueRule StricterOf(const DueRule& a, const DueRule& b);

// Whether under `a` nothing is ever due that is not due under `b`.
bool KeepsAllThat(const Policy& a, const Policy& b);

// First second at which the item may be deleted; absent if it never may.
std::optional<int64_t> DueTime(const DueRule& rule, const ItemTimes& item);

// The list after `policy` was replaced by `next` at `now`, to be held for `hold`: for
// the grace, or, if that change pulled the brake and made `braked_items` due, until the
// brake lets go by itself. `policy` is appended if it keeps anything that `next` does not.
// Dropped are
//  - entries that no longer stand,
//  - entries, braked or not, that keep nothing which `next` does not keep: a mistake that
//    is taken back leaves nothing behind,
//  - entries that keep nothing which `policy` does not keep for longer; but a braked one
//    only for a braked one.
// Of each kind, braked and not, at most kMaxReplacedPolicies are left: the newest of the
// kind are joined into one policy that keeps what each of them kept until the last of
// them ends. That only ever defers deletes, and no policy is held for longer than two
// graces, or two releases if braked, however often policies change.
std::vector<ReplacedPolicy> ReplacePolicy(std::vector<ReplacedPolicy> replaced,
                                          const Policy& policy, const Policy& next, absl::Time now,
                                          absl::Duration hold,
                                          std::optional<int64_t> braked_items = std::nullopt);

// Most entries of one kind that ReplacePolicy keeps.
inline constexpr int kMaxReplacedPolicies = 8;

}  // namespace ttl

#endif  // TTL_SERVICE_CORE_DUE_RULES_H_
