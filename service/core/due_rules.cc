#include "service/core/due_rules.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/time/time.h"
#include "service/base/saturated_add.h"
#include "service/core/container.h"
#include "service/core/ttl_rules.h"

namespace ttl {
namespace {

DueRule RuleOf(const Policy& policy) {
  if (!policy.default_ttl.has_value() || !IsLegalTtl(*policy.default_ttl)) return {};
  const int64_t delay = std::max<int64_t>(policy.delay_seconds, 0);
  if (*policy.default_ttl == kNeverExpires) return {std::nullopt, delay};
  return {SaturatedAdd(*policy.default_ttl, delay), delay};
}

std::optional<int64_t> LongerWait(std::optional<int64_t> a, std::optional<int64_t> b) {
  if (!a.has_value() || !b.has_value()) return std::nullopt;
  return std::max(*a, *b);
}

// The policy with this very rule. The longest inherited wait is at least one
// second more than any of the delays that are part of such waits, so that the
// difference is a legal default_ttl.
Policy PolicyOf(const DueRule& rule) {
  if (!rule.own_extra.has_value()) return {};
  if (!rule.inherited_wait.has_value()) return {kNeverExpires, *rule.own_extra};
  return {*rule.inherited_wait - *rule.own_extra, *rule.own_extra};
}

Policy Join(const Policy& a, const Policy& b) { return PolicyOf(StricterOf(RuleOf(a), RuleOf(b))); }

// Joins `newer` into `older`, of the same kind.
void JoinInto(ReplacedPolicy& older, const ReplacedPolicy& newer) {
  older.policy = Join(older.policy, newer.policy);
  older.until = std::max(older.until, newer.until);
  if (newer.braked_items.has_value()) {
    older.braked_items = SaturatedAdd(older.braked_items.value_or(0), *newer.braked_items);
  }
}

// The newest are joined, not the oldest: joining the oldest again and again would hold
// the first policy for as long as changes keep coming. And the kinds are kept apart:
// what waits for its grace must not wait for a brake.
void JoinNewest(std::vector<ReplacedPolicy>& replaced, bool braked) {
  const auto is_kind = [braked](const ReplacedPolicy& entry) {
    return entry.braked_items.has_value() == braked;
  };
  while (std::count_if(replaced.begin(), replaced.end(), is_kind) > kMaxReplacedPolicies) {
    const auto newest = std::find_if(replaced.rbegin(), replaced.rend(), is_kind);
    JoinInto(*std::find_if(newest + 1, replaced.rend(), is_kind), *newest);
    replaced.erase(newest.base() - 1);
  }
}

}  // namespace

DueRule StricterOf(const DueRule& a, const DueRule& b) {
  return {LongerWait(a.inherited_wait, b.inherited_wait), LongerWait(a.own_extra, b.own_extra)};
}

bool KeepsAllThat(const Policy& a, const Policy& b) {
  return StricterOf(RuleOf(a), RuleOf(b)) == RuleOf(a);
}

DueRule ComputeDueRule(const Policy& policy, const std::vector<ReplacedPolicy>& replaced,
                       absl::Time now) {
  DueRule rule = RuleOf(policy);
  for (const ReplacedPolicy& entry : replaced) {
    if (now < entry.until) rule = StricterOf(rule, RuleOf(entry.policy));
  }
  return rule;
}

std::optional<int64_t> DueTime(const DueRule& rule, const ItemTimes& item) {
  const OwnEnd own = ComputeOwnEnd(item);
  const bool inherits = own.kind == OwnEnd::Kind::kInherited;
  const std::optional<int64_t>& wait = inherits ? rule.inherited_wait : rule.own_extra;
  if (own.kind == OwnEnd::Kind::kNever || !wait.has_value()) return std::nullopt;
  return SaturatedAdd(inherits ? item.base() : own.time, *wait);
}

std::vector<ReplacedPolicy> ReplacePolicy(std::vector<ReplacedPolicy> replaced,
                                          const Policy& policy, const Policy& next, absl::Time now,
                                          absl::Duration hold,
                                          std::optional<int64_t> braked_items) {
  std::erase_if(replaced, [&](const ReplacedPolicy& entry) {
    return entry.until <= now || KeepsAllThat(next, entry.policy);
  });
  const ReplacedPolicy added = {policy, now + hold, braked_items};
  if (added.until > now && !KeepsAllThat(next, policy)) {
    std::erase_if(replaced, [&added](const ReplacedPolicy& entry) {
      const bool same_kind = added.braked_items.has_value() || !entry.braked_items.has_value();
      return same_kind && entry.until <= added.until && KeepsAllThat(added.policy, entry.policy);
    });
    replaced.push_back(added);
  }
  JoinNewest(replaced, /*braked=*/false);
  JoinNewest(replaced, /*braked=*/true);
  return replaced;
}

}  // namespace ttl
