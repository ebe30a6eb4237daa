#include "service/core/due_rules.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "service/core/container.h"
#include "service/core/ttl_rules.h"
#include "tests/unit/core/generators.h"

namespace ttl {
namespace {

constexpr std::optional<int64_t> kAbsent;
constexpr absl::Duration kGrace = absl::Seconds(60);

constexpr Policy kOff = {};
constexpr Policy kOwnOnly = {.default_ttl = kNeverExpires};

absl::Time At(int64_t second) { return absl::FromUnixSeconds(second); }

Policy DefaultTtl(int64_t seconds, int64_t delay = 0) { return {seconds, delay}; }

// A container whose policy is changed as time goes on.
class PolicyHistory {
 public:
  explicit PolicyHistory(const Policy& policy) : policy_(policy) {}

  void Change(int64_t second, const Policy& next) {
    replaced_ = ReplacePolicy(std::move(replaced_), policy_, next, At(second), kGrace);
    policy_ = next;
  }
  DueRule RuleAt(int64_t second) const { return ComputeDueRule(policy_, replaced_, At(second)); }
  // Whether an item without a ttl of its own may be deleted.
  bool IsDue(int64_t ts, int64_t second) const {
    const std::optional<int64_t> due = DueTime(RuleAt(second), {ts, std::nullopt});
    return due.has_value() && *due <= second;
  }
  const std::vector<ReplacedPolicy>& replaced() const { return replaced_; }

 private:
  Policy policy_;
  std::vector<ReplacedPolicy> replaced_;
};

TEST(DueRuleTest, SinglePolicy) {
  EXPECT_EQ(ComputeDueRule(kOff, {}, At(0)), (DueRule{kAbsent, kAbsent}));
  EXPECT_EQ(ComputeDueRule({kAbsent, 30}, {}, At(0)), (DueRule{kAbsent, kAbsent}));
  EXPECT_EQ(ComputeDueRule(kOwnOnly, {}, At(0)), (DueRule{kAbsent, 0}));
  EXPECT_EQ(ComputeDueRule({kNeverExpires, 30}, {}, At(0)), (DueRule{kAbsent, 30}));
  EXPECT_EQ(ComputeDueRule({60, 0}, {}, At(0)), (DueRule{60, 0}));
  EXPECT_EQ(ComputeDueRule({60, 30}, {}, At(0)), (DueRule{90, 30}));
}

TEST(DueRuleTest, WaitsAreTheMaximumOverThePolicies) {
  EXPECT_EQ(ComputeDueRule({10, 50}, {{{100, 0}, At(60)}}, At(0)), (DueRule{100, 50}));
  EXPECT_EQ(ComputeDueRule({100, 0}, {{{10, 50}, At(60)}}, At(0)), (DueRule{100, 50}));
  EXPECT_EQ(ComputeDueRule({10, 0}, {{{20, 0}, At(60)}, {{15, 3}, At(70)}}, At(0)),
            (DueRule{20, 3}));
}

TEST(DueRuleTest, NobodyIsDueWhileAReplacedPolicyHadTtlOff) {
  EXPECT_EQ(ComputeDueRule({1, 0}, {{kOff, At(60)}}, At(0)), (DueRule{kAbsent, kAbsent}));
}

TEST(DueRuleTest, NobodyIsDueWhileTtlIsOffWhateverWasBefore) {
  EXPECT_EQ(ComputeDueRule(kOff, {{{1, 0}, At(60)}}, At(0)), (DueRule{kAbsent, kAbsent}));
}

TEST(DueRuleTest, InheritedIsNeverDueWhileAReplacedPolicyHadNoDefault) {
  EXPECT_EQ(ComputeDueRule({1, 0}, {{kOwnOnly, At(60)}}, At(0)), (DueRule{kAbsent, 0}));
}

TEST(DueRuleTest, ReplacedPolicyHoldsUntilItsInstantAndNotFromItOn) {
  const std::vector<ReplacedPolicy> replaced = {{{100, 0}, At(60)}};
  EXPECT_EQ(ComputeDueRule({10, 0}, replaced, At(59)).inherited_wait, 100);
  EXPECT_EQ(ComputeDueRule({10, 0}, replaced, At(60) - absl::Nanoseconds(1)).inherited_wait, 100);
  EXPECT_EQ(ComputeDueRule({10, 0}, replaced, At(60)).inherited_wait, 10);
  EXPECT_EQ(ComputeDueRule({10, 0}, replaced, At(61)).inherited_wait, 10);
}

TEST(DueRuleTest, PolicyThatMakesNoSenseDeletesNothing) {
  EXPECT_EQ(ComputeDueRule({0, 0}, {}, At(0)), (DueRule{kAbsent, kAbsent}));
  EXPECT_EQ(ComputeDueRule({-2, 0}, {}, At(0)), (DueRule{kAbsent, kAbsent}));
  EXPECT_EQ(ComputeDueRule({kMaxTtl + 1, 0}, {}, At(0)), (DueRule{kAbsent, kAbsent}));
  EXPECT_EQ(ComputeDueRule({60, -30}, {}, At(0)), (DueRule{60, 0}));
  EXPECT_EQ(ComputeDueRule({60, kMaxInt64}, {}, At(0)), (DueRule{kMaxInt64, kMaxInt64}));
}

TEST(DueTimeTest, ByKindOfItem) {
  const DueRule rule = {.inherited_wait = 90, .own_extra = 30};
  EXPECT_EQ(DueTime(rule, {1000, kAbsent}), 1090);
  EXPECT_EQ(DueTime(rule, {1000, 10}), 1040);
  EXPECT_EQ(DueTime(rule, {1000, -1}), kAbsent);
  EXPECT_EQ(DueTime({kAbsent, 30}, {1000, kAbsent}), kAbsent);
  EXPECT_EQ(DueTime({kAbsent, 30}, {1000, 10}), 1040);
  EXPECT_EQ(DueTime({kAbsent, kAbsent}, {1000, 10}), kAbsent);
}

TEST(DueTimeTest, ValuesThatCannotBeAreNeverDue) {
  const DueRule rule = {.inherited_wait = 90, .own_extra = 30};
  for (const int64_t ttl : {int64_t{0}, int64_t{-2}, kMaxTtl + 1, kMaxInt64}) {
    EXPECT_EQ(DueTime(rule, {1000, ttl}), kAbsent) << ttl;
  }
  EXPECT_EQ(DueTime(rule, {0, kAbsent}), kAbsent);
  EXPECT_EQ(DueTime(rule, {-5, 10}), kAbsent);
}

TEST(DueTimeTest, LargestValuesDoNotWrap) {
  const DueRule rule = {kMaxTtl + kMaxDelaySeconds, kMaxDelaySeconds};
  EXPECT_EQ(DueTime(rule, {kMaxInt64, kAbsent}), kMaxInt64);
  EXPECT_EQ(DueTime(rule, {kMaxInt64, kMaxTtl}), kMaxInt64);
  EXPECT_EQ(DueTime(rule, {kMaxInt64 - kMaxTtl, kMaxTtl}), kMaxInt64);
  EXPECT_EQ(DueTime(rule, {4'300'000'000, kMaxTtl}), 4'300'000'000 + kMaxTtl + kMaxDelaySeconds);
}

// Field report B44.
TEST(ReplacePolicyTest, ChangeRevertedWithinTheGraceDeletesNothing) {
  PolicyHistory history(kOff);
  history.Change(1000, DefaultTtl(1));
  for (int64_t second = 1000; second < 1020; ++second) EXPECT_FALSE(history.IsDue(1, second));
  history.Change(1020, kOff);
  for (int64_t second = 1020; second < 1200; ++second) EXPECT_FALSE(history.IsDue(1, second));
}

// Field report B44.
TEST(ReplacePolicyTest, StricterPolicyActsAfterTheGrace) {
  PolicyHistory history(kOff);
  history.Change(1000, DefaultTtl(1));
  EXPECT_FALSE(history.IsDue(1, 1059));
  EXPECT_TRUE(history.IsDue(1, 1060));
}

TEST(ReplacePolicyTest, MistakeTakenBackDoesNotShortenTheGraceOfTheNextChange) {
  PolicyHistory history(DefaultTtl(7200));
  history.Change(1000, DefaultTtl(1));
  history.Change(1020, DefaultTtl(7200));
  history.Change(1030, DefaultTtl(1));
  const int64_t ts = 500;
  EXPECT_FALSE(history.IsDue(ts, 1061));
  EXPECT_FALSE(history.IsDue(ts, 1089));
  EXPECT_TRUE(history.IsDue(ts, 1090));
}

// Field report B45.
TEST(ReplacePolicyTest, LooseningActsAtOnce) {
  PolicyHistory history(DefaultTtl(7200));
  EXPECT_TRUE(history.IsDue(1000, 10'000));
  history.Change(10'000, kOff);
  EXPECT_FALSE(history.IsDue(1000, 10'000));
  EXPECT_FALSE(history.IsDue(1000, 20'000));
}

TEST(ReplacePolicyTest, TighteningAgainAndAgainDoesNotStarveWhatWasDueAnyway) {
  PolicyHistory history(DefaultTtl(1000));
  int64_t second = 10'000;
  for (int64_t ttl = 999; ttl > 500; --ttl, ++second) {
    history.Change(second, DefaultTtl(ttl));
    EXPECT_TRUE(history.IsDue(second - 1000, second)) << ttl;
    // What expired under a policy that ended two graces ago is due by now.
    if (second > 10'000 + 120) {
      EXPECT_TRUE(history.IsDue(second - ttl - 120, second)) << ttl;
    }
  }
}

TEST(ReplacePolicyTest, NoPolicyIsHeldForLongerThanTwoGracesHoweverOftenPoliciesChange) {
  PolicyHistory history(kOff);
  history.Change(1000, DefaultTtl(1000));
  for (int64_t i = 1; i <= 200; ++i) {
    history.Change(1000 + i, DefaultTtl(1000 - i));
    ASSERT_LE(history.replaced().size(), static_cast<size_t>(kMaxReplacedPolicies));
  }
  EXPECT_TRUE(history.RuleAt(1000 + 120).inherited_wait.has_value());
}

TEST(ReplacePolicyTest, ChainOfLooseningsIsHarmless) {
  PolicyHistory history(DefaultTtl(100));
  for (int64_t i = 1; i <= 50; ++i) {
    history.Change(1000 + i, DefaultTtl(100 + i));
    EXPECT_EQ(history.RuleAt(1000 + i), (DueRule{100 + i, 0}));
    EXPECT_LE(history.replaced().size(), size_t{1});
  }
}

TEST(ReplacePolicyTest, ChangingBackAndForthTakesTwoEntries) {
  PolicyHistory history(DefaultTtl(100));
  for (int64_t i = 1; i <= 50; ++i) history.Change(1000 + i, DefaultTtl(i % 2 == 0 ? 100 : 10));
  EXPECT_LE(history.replaced().size(), size_t{2});
  EXPECT_FALSE(history.IsDue(1000, 1060));
  EXPECT_TRUE(history.IsDue(1000, 1100));
}

TEST(ReplacePolicyTest, SamePolicyIsNotReplaced) {
  PolicyHistory history(DefaultTtl(100, 5));
  history.Change(1000, DefaultTtl(100, 5));
  EXPECT_TRUE(history.replaced().empty());
  history.Change(1000, DefaultTtl(100, 4));
  EXPECT_EQ(history.replaced().size(), size_t{1});
}

TEST(ReplacePolicyTest, ShorterDelayActsAfterTheGrace) {
  PolicyHistory history(DefaultTtl(100, 500));
  history.Change(2000, DefaultTtl(100, 0));
  EXPECT_FALSE(history.IsDue(1800, 2059));
  EXPECT_TRUE(history.IsDue(1800, 2060));
}

TEST(ReplacePolicyTest, EntriesPastTheirTimeAreDropped) {
  PolicyHistory history(DefaultTtl(100));
  history.Change(1000, DefaultTtl(50));
  history.Change(1060, DefaultTtl(40));
  ASSERT_EQ(history.replaced().size(), size_t{1});
  EXPECT_EQ(history.replaced().front().policy, DefaultTtl(50));
  EXPECT_EQ(history.replaced().front().until, At(1120));
}

constexpr absl::Duration kReleaseAfter = absl::Hours(24);

// The policies of the entries, for tables.
std::vector<Policy> PoliciesOf(const std::vector<ReplacedPolicy>& replaced) {
  std::vector<Policy> policies;
  for (const ReplacedPolicy& entry : replaced) policies.push_back(entry.policy);
  return policies;
}

// Field report B44.
TEST(ReplacePolicyTest, RevertedChangeLeavesNeitherGraceNorBrake) {
  for (const std::optional<int64_t> braked :
       {std::optional<int64_t>(), std::optional<int64_t>(9)}) {
    std::vector<ReplacedPolicy> replaced =
        ReplacePolicy({}, DefaultTtl(100), DefaultTtl(1), At(1000), kReleaseAfter, braked);
    ASSERT_EQ(replaced.size(), size_t{1});
    replaced = ReplacePolicy(replaced, DefaultTtl(1), DefaultTtl(100), At(1010), kGrace);
    EXPECT_TRUE(replaced.empty());
  }
}

TEST(ReplacePolicyTest, TakingBackHalfOfAMistakeKeepsTheBrake) {
  std::vector<ReplacedPolicy> replaced =
      ReplacePolicy({}, DefaultTtl(100), DefaultTtl(1), At(1000), kReleaseAfter, 9);
  replaced = ReplacePolicy(replaced, DefaultTtl(1), DefaultTtl(50), At(1010), kGrace);
  ASSERT_EQ(PoliciesOf(replaced), (std::vector<Policy>{DefaultTtl(100)}));
  EXPECT_EQ(replaced[0].braked_items, 9);
  EXPECT_EQ(replaced[0].until, At(1000) + kReleaseAfter);
}

TEST(ReplacePolicyTest, ABrakeStandsWhileOtherChangesComeAndGo) {
  std::vector<ReplacedPolicy> replaced =
      ReplacePolicy({}, DefaultTtl(100), DefaultTtl(50), At(1000), kReleaseAfter, 9);
  Policy policy = DefaultTtl(50);
  for (int64_t i = 1; i <= 40; ++i) {
    const Policy next = DefaultTtl(50 - i);
    replaced = ReplacePolicy(std::move(replaced), policy, next, At(1000 + i), kGrace);
    policy = next;
  }
  EXPECT_EQ(replaced.size(), static_cast<size_t>(kMaxReplacedPolicies) + 1);
  EXPECT_EQ(replaced.front().policy, DefaultTtl(100));
  EXPECT_EQ(replaced.front().braked_items, 9);
  EXPECT_EQ(ComputeDueRule(policy, replaced, At(2000)), (DueRule{100, 0}));
  EXPECT_EQ(ComputeDueRule(policy, replaced, At(1000) + kReleaseAfter), (DueRule{10, 0}));
}

// A grace that outlasts a brake keeps what the brake keeps, but not that it is one.
TEST(ReplacePolicyTest, ABrakeIsNotForgottenForALongerGrace) {
  std::vector<ReplacedPolicy> replaced =
      ReplacePolicy({}, DefaultTtl(100), DefaultTtl(50), At(1000), kGrace, 9);
  replaced = ReplacePolicy(replaced, {100, 7}, DefaultTtl(40), At(1030), kGrace);
  EXPECT_EQ(PoliciesOf(replaced), (std::vector<Policy>{DefaultTtl(100), {100, 7}}));
  replaced = ReplacePolicy(replaced, {100, 9}, DefaultTtl(30), At(1031), kGrace, 5);
  EXPECT_EQ(PoliciesOf(replaced), (std::vector<Policy>{{100, 9}}));
  EXPECT_EQ(replaced[0].braked_items, 5);
}

TEST(ReplacePolicyTest, TooManyBrakesAreJoinedAndCountAllItems) {
  std::vector<ReplacedPolicy> replaced;
  for (int64_t i = 0; i < 20; ++i) {
    replaced = ReplacePolicy(std::move(replaced), DefaultTtl(100 - i), DefaultTtl(99 - i),
                             At(1000 + i), kReleaseAfter, 10);
  }
  EXPECT_EQ(replaced.size(), static_cast<size_t>(kMaxReplacedPolicies));
  EXPECT_EQ(replaced.back().braked_items, 130);
  EXPECT_EQ(ComputeDueRule(DefaultTtl(80), replaced, At(2000)), (DueRule{100, 0}));
}

TEST(ReplacePolicyTest, NoGraceKeepsNothing) {
  EXPECT_TRUE(
      ReplacePolicy({}, DefaultTtl(100), DefaultTtl(1), At(0), absl::ZeroDuration()).empty());
  EXPECT_TRUE(ReplacePolicy({}, DefaultTtl(100), DefaultTtl(1), At(0), -kGrace).empty());
}

TEST(ReplacePolicyTest, TooManyEntriesAreJoinedIntoOneThatKeepsWhatEachKept) {
  std::vector<ReplacedPolicy> replaced;
  const std::vector<Policy> policies = {{90, 0}, {80, 1}, {70, 2}, {60, 3}, {50, 4},
                                        {40, 5}, {30, 6}, {20, 7}, {10, 8}, {5, 9}};
  for (size_t i = 0; i + 1 < policies.size(); ++i) {
    replaced = ReplacePolicy(std::move(replaced), policies[i], policies[i + 1],
                             At(static_cast<int64_t>(i)), kGrace);
  }
  ASSERT_EQ(replaced.size(), static_cast<size_t>(kMaxReplacedPolicies));
  EXPECT_EQ(replaced.front().policy, (Policy{90, 0}));
  EXPECT_EQ(replaced.back().policy, (Policy{19, 8}));
  EXPECT_EQ(replaced.back().until, At(68));
  EXPECT_EQ(ComputeDueRule(policies.back(), replaced, At(9)), (DueRule{90, 9}));
}

}  // namespace
}  // namespace ttl
