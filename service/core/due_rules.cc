#include "service/core/due_rules.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/time/time.h"
#include "service/core/container.h"
#include "service/core/saturated_add.h"
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

DueRule StricterOf(const DueRule& a, const DueRule& b) {
  return {LongerWait(a.inherited_wait, b.inherited_wait), LongerWait(a.own_extra, b.own_extra)};
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

// Whether `a` keeps all that `b` keeps.
bool Covers(const Policy& a, const Policy& b) {
  return StricterOf(RuleOf(a), RuleOf(b)) == RuleOf(a);
}

}  // namespace

DueRule ComputeDueRule(const Policy& policy, const std::vector<ReplacedPolicy>& replaced,
                       absl::Time now) {
  DueRule rule = RuleOf(policy);
  for (const ReplacedPolicy& entry : replaced) {
    if (now < entry.until) rule = StricterOf(rule, RuleOf(entry.policy));
  }
  return rule;
}

std::optional<int64_t> DueTime(const DueRule& rule, const ItemTimes& item) {
  if (item.ts < kMinTs) return std::nullopt;
  if (!item.ttl.has_value()) {
    if (!rule.inherited_wait.has_value()) return std::nullopt;
    return SaturatedAdd(item.ts, *rule.inherited_wait);
  }
  if (*item.ttl == kNeverExpires || !IsLegalTtl(*item.ttl)) return std::nullopt;
  if (!rule.own_extra.has_value()) return std::nullopt;
  return SaturatedAdd(SaturatedAdd(item.ts, *item.ttl), *rule.own_extra);
}

std::vector<ReplacedPolicy> ReplacePolicy(std::vector<ReplacedPolicy> replaced,
                                          const Policy& policy, const Policy& next, absl::Time now,
                                          absl::Duration grace) {
  std::erase_if(replaced, [now](const ReplacedPolicy& entry) { return entry.until <= now; });
  const ReplacedPolicy added = {policy, now + grace};
  if (policy != next && added.until > now) {
    std::erase_if(replaced, [&added](const ReplacedPolicy& entry) {
      return entry.until <= added.until && Covers(added.policy, entry.policy);
    });
    replaced.push_back(added);
  }
  // The newest are joined, not the oldest: joining the oldest again and again
  // would hold the first policy for as long as changes keep coming.
  while (replaced.size() > static_cast<size_t>(kMaxReplacedPolicies)) {
    const ReplacedPolicy last = replaced.back();
    replaced.pop_back();
    replaced.back() = {Join(replaced.back().policy, last.policy),
                       std::max(replaced.back().until, last.until)};
  }
  return replaced;
}

}  // namespace ttl
