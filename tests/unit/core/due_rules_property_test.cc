#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "rapidcheck/gtest.h"
#include "service/core/container.h"
#include "service/core/due_rules.h"
#include "service/core/ttl_rules.h"
#include "tests/unit/core/generators.h"

namespace ttl {
namespace {

using generators::AnyPolicy;
using generators::AnyTtl;
using generators::Item;
using generators::kMaxInt64;

constexpr int64_t kGraceSeconds = 60;

// Due under one policy, in the plainest way: expired, and the delay has passed.
std::optional<int64_t> DueUnder(const Policy& policy, const ItemTimes& item) {
  const std::optional<int64_t> expire_time = ExpireTime(policy.default_ttl, item);
  if (!expire_time.has_value()) return std::nullopt;
  const __int128 due = __int128{*expire_time} + policy.delay_seconds;
  return static_cast<int64_t>(std::min(due, __int128{kMaxInt64}));
}

bool IsDue(std::optional<int64_t> due_time, int64_t second) {
  return due_time.has_value() && *due_time <= second;
}

RC_GTEST_PROP(DueRuleProperty, DueMeansDueUnderEveryStandingPolicy, ()) {
  const Policy policy = *AnyPolicy();
  const int64_t now = 1000;
  std::vector<ReplacedPolicy> replaced;
  std::vector<Policy> standing = {policy};
  const int count = *rc::gen::inRange(0, 5);
  for (int i = 0; i < count; ++i) {
    const int64_t until = *rc::gen::inRange<int64_t>(now - 2, now + 3);
    replaced.push_back({*AnyPolicy(), absl::FromUnixSeconds(until)});
    if (until > now) standing.push_back(replaced.back().policy);
  }
  const ItemTimes item = *Item(AnyTtl());

  std::optional<int64_t> expected = 0;
  for (const Policy& each : standing) {
    const std::optional<int64_t> due = DueUnder(each, item);
    expected = due.has_value() && expected.has_value() ? std::max(expected, due) : std::nullopt;
  }
  const DueRule rule = ComputeDueRule(policy, replaced, absl::FromUnixSeconds(now));
  RC_ASSERT((DueTime(rule, item) == expected));
}

RC_GTEST_PROP(DueRuleProperty, NothingIsDueBeforeItIsExpired, ()) {
  const Policy policy = *AnyPolicy();
  const ItemTimes item = *Item(AnyTtl());
  const DueRule rule =
      ComputeDueRule(policy, {{*AnyPolicy(), absl::FromUnixSeconds(1)}}, absl::FromUnixSeconds(0));
  const std::optional<int64_t> due = DueTime(rule, item);
  if (!due.has_value()) return;
  const std::optional<int64_t> expire_time = ExpireTime(policy.default_ttl, item);
  RC_ASSERT(expire_time.has_value());
  RC_ASSERT(*expire_time <= *due);
}

// All policies that were ever in force, each until the next.
struct History {
  std::vector<std::pair<int64_t, Policy>> since;

  // Whether the item is due at `second` under all policies that were in force
  // later than `window` ago.
  bool IsDueUnderAll(const ItemTimes& item, int64_t second, int64_t window) const {
    for (size_t i = 0; i < since.size(); ++i) {
      const bool in_window = i + 1 == since.size() || since[i + 1].first + window > second;
      if (in_window && !IsDue(DueUnder(since[i].second, item), second)) return false;
    }
    return true;
  }
};

// Policies whose waits are near each other, so that the order of changes counts.
Policy NearPolicy() {
  const int kind = *rc::gen::inRange(0, 10);
  const int64_t delay = *rc::gen::inRange<int64_t>(0, 30);
  if (kind == 0) return {std::nullopt, delay};
  if (kind == 1) return {kNeverExpires, delay};
  return {*rc::gen::inRange<int64_t>(1, 200), delay};
}

RC_GTEST_PROP(DueRuleProperty, ChangesOfPolicyDeferDeletesForOneToTwoGraces, ()) {
  int64_t second = 10'000;
  History history{{{0, NearPolicy()}}};
  std::vector<ReplacedPolicy> replaced;
  const int64_t longest_gap = *generators::OneOf({3, 12, 50});
  const int changes = *rc::gen::inRange(1, 40);
  for (int i = 0; i < changes; ++i) {
    second += *rc::gen::inRange<int64_t>(0, longest_gap);
    const Policy next = NearPolicy();
    replaced = ReplacePolicy(std::move(replaced), history.since.back().second, next,
                             absl::FromUnixSeconds(second), absl::Seconds(kGraceSeconds));
    history.since.emplace_back(second, next);
    RC_ASSERT(replaced.size() <= static_cast<size_t>(kMaxReplacedPolicies));

    second += *rc::gen::inRange<int64_t>(0, 3);
    const DueRule rule = ComputeDueRule(next, replaced, absl::FromUnixSeconds(second));
    ItemTimes item = {second - *rc::gen::inRange<int64_t>(0, 300), std::nullopt};
    if (*rc::gen::arbitrary<bool>()) item.ttl = *rc::gen::inRange<int64_t>(1, 200);
    const bool is_due = IsDue(DueTime(rule, item), second);
    if (is_due) RC_ASSERT(history.IsDueUnderAll(item, second, kGraceSeconds));
    if (history.IsDueUnderAll(item, second, 2 * kGraceSeconds)) RC_ASSERT(is_due);
    if (history.since.size() <= static_cast<size_t>(kMaxReplacedPolicies)) {
      RC_ASSERT(is_due == history.IsDueUnderAll(item, second, kGraceSeconds));
    }
  }
}

// A policy, and until when it holds deletes back by itself.
struct Hold {
  Policy policy;
  int64_t until;
};

// With brakes among the changes: nothing is due that a policy would keep which was
// replaced within its hold and not restored since, and what all of them allow is due in the
// end.
RC_GTEST_PROP(DueRuleProperty, ChangesHoldForAsLongAsTheirBrakesUnlessTakenBack, ()) {
  int64_t second = 10'000;
  Policy policy = NearPolicy();
  std::vector<Hold> holds;
  std::vector<ReplacedPolicy> replaced;
  const int changes = *rc::gen::inRange(1, 40);
  for (int i = 0; i < changes; ++i) {
    second += *rc::gen::inRange<int64_t>(0, 50);
    const Policy next = NearPolicy();
    const bool braked = *rc::gen::inRange(0, 4) == 0;
    const int64_t hold = braked ? 500 : kGraceSeconds;
    replaced =
        ReplacePolicy(std::move(replaced), policy, next, absl::FromUnixSeconds(second),
                      absl::Seconds(hold), braked ? std::optional<int64_t>(1) : std::nullopt);
    holds.push_back({policy, second + hold});
    policy = next;
    std::erase_if(holds, [&](const Hold& h) { return KeepsAllThat(policy, h.policy); });

    second += *rc::gen::inRange<int64_t>(0, 3);
    ItemTimes item = {second - *rc::gen::inRange<int64_t>(0, 300), std::nullopt};
    if (*rc::gen::arbitrary<bool>()) item.ttl = *rc::gen::inRange<int64_t>(1, 200);
    const auto due_in = [&](int64_t at) {
      const DueRule rule = ComputeDueRule(policy, replaced, absl::FromUnixSeconds(at));
      return IsDue(DueTime(rule, item), at);
    };
    const auto allowed_at = [&](int64_t at) {
      return IsDue(DueUnder(policy, item), at) &&
             std::all_of(holds.begin(), holds.end(), [&](const Hold& h) {
               return h.until <= at || IsDue(DueUnder(h.policy, item), at);
             });
    };
    RC_ASSERT(!due_in(second) || allowed_at(second));
    const int64_t end = second + 500;
    RC_ASSERT(due_in(end) == IsDue(DueUnder(policy, item), end));
  }
}

}  // namespace
}  // namespace ttl
