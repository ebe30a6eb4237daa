#include "service/rpc/status/delete_explanation.h"

#include <cstdint>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/rpc/test_now.h"

namespace ttl {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

const absl::Time kTime = absl::FromUnixSeconds(kNowSeconds);

Container WithPolicy(std::optional<int64_t> default_ttl, int64_t delay_seconds = 0) {
  Container container;
  container.settings.policy = {default_ttl, delay_seconds};
  return container;
}

TrackedItem Item(int64_t ts, std::optional<int64_t> ttl = std::nullopt) {
  TrackedItem item;
  item.version.times = {ts, ttl};
  return item;
}

std::string SentenceOf(const Container& container, const TrackedItem& item,
                       const std::vector<DeleteHold>& holds = {}) {
  return ExplainDelete(container, item, holds, kTime).sentence;
}

TEST(ExpectedDueTimeTest, ExpireTimeAndDelay) {
  EXPECT_EQ(ExpectedDueTime(WithPolicy(60), Item(kNowSeconds), kTime), kNowSeconds + 60);
  EXPECT_EQ(ExpectedDueTime(WithPolicy(60, 30), Item(kNowSeconds), kTime), kNowSeconds + 90);
  EXPECT_EQ(ExpectedDueTime(WithPolicy(60, 30), Item(kNowSeconds, 10), kTime), kNowSeconds + 40);
}

TEST(ExpectedDueTimeTest, AbsentIfTheItemNeverExpires) {
  EXPECT_EQ(ExpectedDueTime(WithPolicy(std::nullopt), Item(kNowSeconds, 10), kTime), std::nullopt);
  EXPECT_EQ(ExpectedDueTime(WithPolicy(60), Item(kNowSeconds, -1), kTime), std::nullopt);
  EXPECT_EQ(ExpectedDueTime(WithPolicy(-1), Item(kNowSeconds), kTime), std::nullopt);
}

TEST(ExpectedDueTimeTest, AReplacedPolicyKeepsUntilItsGraceEndsOrItAgrees) {
  const struct {
    const char* what;
    Policy replaced;
    absl::Duration until;
    int64_t due;
  } kCases[] = {
      {"TTL was off", {std::nullopt, 0}, absl::Seconds(60), kNowSeconds + 60},
      {"TTL was longer than the grace", {1000, 0}, absl::Seconds(60), kNowSeconds + 60},
      {"it agrees within the grace", {120, 0}, absl::Seconds(60), kNowSeconds + 20},
      {"it agreed long ago", {10, 0}, absl::Seconds(60), kNowSeconds - 90},
      {"its grace is over", {1000, 0}, absl::Seconds(-1), kNowSeconds - 90},
      {"a part of a second counts as one", {1000, 0}, absl::Milliseconds(59'001), kNowSeconds + 60},
      {"the delay was longer", {10, 125}, absl::Seconds(60), kNowSeconds + 35},
  };
  for (const auto& c : kCases) {
    Container container = WithPolicy(10);
    container.replaced_policies = {{c.replaced, kTime + c.until}};
    EXPECT_EQ(ExpectedDueTime(container, Item(kNowSeconds - 100), kTime), c.due) << c.what;
  }
}

TEST(ExpectedDueTimeTest, TheNextTryIsNotBeforeItsTime) {
  TrackedItem item = Item(kNowSeconds - 100, 10);
  item.retry_time = kNowSeconds + 30;
  EXPECT_EQ(ExpectedDueTime(WithPolicy(-1), item, kTime), kNowSeconds + 30);
  item.retry_time = kNowSeconds - 95;
  EXPECT_EQ(ExpectedDueTime(WithPolicy(-1), item, kTime), kNowSeconds - 90);
}

TEST(ExplainDeleteTest, ItemsThatNeverExpire) {
  EXPECT_EQ(SentenceOf(WithPolicy(std::nullopt), Item(kNowSeconds, 10)),
            "The item never expires, because its container has no default_ttl: TTL is off.");
  EXPECT_EQ(SentenceOf(WithPolicy(60), Item(kNowSeconds, -1)),
            "The item never expires, because its own ttl is -1.");
  EXPECT_EQ(SentenceOf(WithPolicy(-1), Item(kNowSeconds)),
            "The item never expires, because it has no ttl of its own and the default_ttl of its "
            "container is -1.");
}

TEST(ExplainDeleteTest, LiveItems) {
  EXPECT_EQ(SentenceOf(WithPolicy(60), Item(kNowSeconds, 10)),
            "The item is live and expires in 10 s, at 2027-01-15T08:00:10Z, by its own ttl "
            "of 10 s.");
  EXPECT_EQ(SentenceOf(WithPolicy(60), Item(kNowSeconds)),
            "The item is live and expires in 60 s, at 2027-01-15T08:01:00Z, by the "
            "container's default_ttl of 60 s.");
}

TEST(ExplainDeleteTest, ALiveItemSaysSinceWhenItsTtlCounts) {
  TrackedItem item = Item(kNowSeconds - 50, 60);
  item.version.times.touch_time = kNowSeconds;
  EXPECT_THAT(SentenceOf(WithPolicy(-1), item),
              HasSubstr("expires in 60 s, at 2027-01-15T08:01:00Z, by its own ttl of 60 s since it "
                        "was touched at 2027-01-15T08:00:00Z."));
  item.version.times.expire_at = kNowSeconds + 20;
  EXPECT_THAT(SentenceOf(WithPolicy(-1), item), HasSubstr("by its own expire_at."));
  item = Item(kNowSeconds, 60);
  item.version.times.touch_time = kNowSeconds - 10;
  EXPECT_THAT(SentenceOf(WithPolicy(-1), item), HasSubstr("by its own ttl of 60 s."))
      << "it was written since";
}

TEST(ExplainDeleteTest, HoldsOfAnItemThatIsNotDueAreNotItsOwn) {
  const DeleteExplanation live =
      ExplainDelete(WithPolicy(60), Item(kNowSeconds), {DeleteHold::kAllPaused}, kTime);
  EXPECT_THAT(live.holds, IsEmpty());
  EXPECT_EQ(live.due_time, kNowSeconds + 60);
}

TEST(ExplainDeleteTest, ExpiredButWaiting) {
  EXPECT_EQ(
      SentenceOf(WithPolicy(60, 300), Item(kNowSeconds - 60)),
      "The item expired at 2027-01-15T08:00:00Z and has been hidden since; it will be deleted "
      "from 2027-01-15T08:05:00Z on, when the container's delay of 300 s ends.");
  Container in_grace = WithPolicy(60);
  in_grace.replaced_policies = {{{std::nullopt, 0}, kTime + absl::Seconds(45)}};
  EXPECT_THAT(SentenceOf(in_grace, Item(kNowSeconds - 60)),
              HasSubstr("from 2027-01-15T08:00:45Z on, when the grace of a stricter policy ends."));
  TrackedItem failed = Item(kNowSeconds - 60);
  failed.attempts = 3;
  failed.retry_time = kNowSeconds + 40;
  EXPECT_THAT(SentenceOf(WithPolicy(60), failed),
              HasSubstr("on, when the delete is retried after 3 failed attempts."));
  TrackedItem throttled = failed;
  throttled.attempts = 0;
  EXPECT_THAT(SentenceOf(WithPolicy(60), throttled),
              HasSubstr("on, when the delete is retried after the store was too busy."));
}

TEST(ExplainDeleteTest, ItsNextTryHoldsOnlyTheItemThatWaitsForIt) {
  TrackedItem failed = Item(kNowSeconds - 60);
  failed.attempts = 3;
  failed.retry_time = kNowSeconds + 40;
  const std::vector<DeleteHold> of_container = {DeleteHold::kRetry};
  EXPECT_THAT(ExplainDelete(WithPolicy(60), failed, of_container, kTime).holds,
              ElementsAre(DeleteHold::kRetry));
  EXPECT_THAT(ExplainDelete(WithPolicy(60), Item(kNowSeconds - 60), of_container, kTime).holds,
              IsEmpty());
}

TEST(ExplainDeleteTest, DueAndHeld) {
  const DeleteExplanation held =
      ExplainDelete(WithPolicy(60), Item(kNowSeconds - 60),
                    {DeleteHold::kAllPaused, DeleteHold::kClockSuspect}, kTime);
  EXPECT_THAT(held.holds, ElementsAre(DeleteHold::kAllPaused, DeleteHold::kClockSuspect));
  EXPECT_EQ(held.due_time, kNowSeconds);
  EXPECT_EQ(held.sentence,
            "The item expired at 2027-01-15T08:00:00Z and has been hidden since; it is not deleted "
            "yet because all deletes are paused by an operator; the clock is suspect.");
}

TEST(ExplainDeleteTest, EveryHoldHasWords) {
  for (int hold = static_cast<int>(DeleteHold::kTtlOff);
       hold <= static_cast<int>(DeleteHold::kGate); ++hold) {
    // These are over for an item that is due in spite of them.
    if (hold == static_cast<int>(DeleteHold::kGrace)) continue;
    if (hold == static_cast<int>(DeleteHold::kBrake)) continue;
    if (hold == static_cast<int>(DeleteHold::kRetry)) continue;
    if (hold == static_cast<int>(DeleteHold::kGate)) continue;  // of other items
    EXPECT_THAT(SentenceOf(WithPolicy(60), Item(kNowSeconds - 60), {static_cast<DeleteHold>(hold)}),
                AllOf(HasSubstr("not deleted yet because "), testing::Not(HasSubstr("unknown"))))
        << hold;
  }
}

TEST(ExplainDeleteTest, HeldByTheBrake) {
  Container braked = WithPolicy(60);
  braked.replaced_policies = {{{std::nullopt, 0}, kTime + absl::Seconds(45)},
                              {{3600, 0}, kTime + absl::Minutes(30), 5}};
  EXPECT_THAT(SentenceOf(braked, Item(kNowSeconds - 60)),
              HasSubstr("from 2027-01-15T08:30:00Z on, when the container's brake releases it, "
                        "unless the policy change that pulled the brake is confirmed or reverted "
                        "earlier."));
}

TEST(ExplainDeleteTest, ABrakeThatDoesNotTouchTheItemIsNotItsHold) {
  const DeleteExplanation next =
      ExplainDelete(WithPolicy(60), Item(kNowSeconds - 60), {DeleteHold::kBrake}, kTime);
  EXPECT_THAT(next.holds, IsEmpty());
}

TEST(ExplainDeleteTest, AGraceThatDoesNotTouchTheItemIsNotItsHold) {
  const DeleteExplanation next =
      ExplainDelete(WithPolicy(60), Item(kNowSeconds - 60), {DeleteHold::kGrace}, kTime);
  EXPECT_THAT(next.holds, IsEmpty());
  EXPECT_THAT(next.sentence, HasSubstr("its delete is next in line."));
}

TEST(ExplainDeleteTest, WithAFeedAnItemIsNextOnlyWhenItsExpiryIsAnnounced) {
  Container container = WithPolicy(60);
  container.feed = {.number = 1, .first_sequence = 5};
  TrackedItem item = Item(kNowSeconds - 60);
  EXPECT_THAT(SentenceOf(container, item), HasSubstr("when the feed has announced its expiry."));
  item.expired_sequence = 5;  // of a feed that was switched off
  EXPECT_THAT(SentenceOf(container, item), HasSubstr("when the feed has announced its expiry."));
  item.expired_sequence = 6;
  EXPECT_THAT(SentenceOf(container, item), HasSubstr("its delete is next in line."));
  container.feed = {};
  item.expired_sequence = 0;
  EXPECT_THAT(SentenceOf(container, item), HasSubstr("its delete is next in line."));
}

TEST(ExplainDeleteTest, AnItemOfUnknownState) {
  TrackedItem item = Item(kNowSeconds - 60, 10);
  item.state_unknown = true;
  item.retry_time = kNowSeconds + 3600;
  EXPECT_THAT(SentenceOf(WithPolicy(60), item),
              HasSubstr("counts as untracked until it is reported again or retried at "
                        "2027-01-15T09:00:00Z."));
}

TEST(ExplainGatedItemTest, AnItemThatIsDueNamesTheGatesAndItsEvent) {
  const TrackedItem due = Item(kNowSeconds - 60);
  const DeleteExplanation one =
      ExplainDelete(WithPolicy(60), due, {DeleteHold::kGate}, kTime, {}, {{"archive"}, 123});
  EXPECT_THAT(one.holds, ElementsAre(DeleteHold::kGate));
  EXPECT_EQ(one.sentence,
            "The item expired at 2027-01-15T08:00:00Z and has been hidden since; it is not deleted "
            "yet because it waits for subscription \"archive\" to acknowledge event 123.");
  EXPECT_THAT(
      ExplainDelete(WithPolicy(60), due, {}, kTime, {}, {{"a", "b", "c", "d"}, 123}).sentence,
      HasSubstr("it waits for subscriptions \"a\", \"b\", \"c\" and others to acknowledge"));
  EXPECT_THAT(ExplainDelete(WithPolicy(60), due, {}, kTime, {}, {{"archive"}, 0}).sentence,
              HasSubstr("to acknowledge its EXPIRED, which is not logged yet."));
}

TEST(ExplainGatedItemTest, OtherHoldsAreNamedBesideTheGates) {
  const DeleteExplanation both =
      ExplainDelete(WithPolicy(60), Item(kNowSeconds - 60), {DeleteHold::kContainerPaused}, kTime,
                    {}, {{"archive"}, 5});
  EXPECT_THAT(both.holds, ElementsAre(DeleteHold::kContainerPaused, DeleteHold::kGate));
  EXPECT_THAT(both.sentence, HasSubstr("to acknowledge event 5; deletes of the container are "
                                       "paused by an operator."));
}

TEST(ExplainGatedItemTest, AnItemThatIsNotDueYetSaysWhatItWillWaitFor) {
  const DeleteExplanation waits = ExplainDelete(WithPolicy(60, 300), Item(kNowSeconds - 60), {},
                                                kTime, {}, {{"archive", "billing"}, 5});
  EXPECT_THAT(waits.holds, IsEmpty());
  EXPECT_THAT(waits.sentence,
              HasSubstr("when the container's delay of 300 s ends and subscriptions \"archive\", "
                        "\"billing\" have acknowledged event 5."));
}

TEST(ExplainGatedItemTest, AnItemThatNoGateKeepsIsNotHeldByThoseOfOthers) {
  EXPECT_THAT(
      ExplainDelete(WithPolicy(60), Item(kNowSeconds - 60), {DeleteHold::kGate}, kTime).sentence,
      HasSubstr("its delete is next in line."));
}

HoldPtr HoldNamed(const std::string& id, std::optional<absl::Time> until = std::nullopt) {
  Hold hold;
  hold.hold_id = id;
  hold.reason = absl::StrCat("case ", id);
  hold.until = until;
  return std::make_shared<const Hold>(hold);
}

TEST(ExplainHeldItemTest, AnItemThatIsDueNamesItsHoldsWithReasonAndEnd) {
  const TrackedItem due = Item(kNowSeconds - 60);
  const DeleteExplanation one =
      ExplainDelete(WithPolicy(60), due, {}, kTime, {HoldNamed("a", kTime + absl::Hours(1))});
  EXPECT_THAT(one.holds, ElementsAre(DeleteHold::kHeld));
  EXPECT_EQ(one.sentence,
            "The item expired at 2027-01-15T08:00:00Z and has been hidden since; it is not deleted "
            "yet because hold \"a\" (reason \"case a\", until 2027-01-15T09:00:00Z) covers it.");
  const DeleteExplanation two =
      ExplainDelete(WithPolicy(60), due, {DeleteHold::kContainerPaused, DeleteHold::kHeld}, kTime,
                    {HoldNamed("a"), HoldNamed("b")});
  EXPECT_THAT(two.holds, ElementsAre(DeleteHold::kContainerPaused, DeleteHold::kHeld));
  EXPECT_THAT(two.sentence,
              HasSubstr("because holds \"a\" (reason \"case a\", until it is released), \"b\" "
                        "(reason \"case b\", until it is released) cover it; deletes of the "
                        "container are paused by an operator."));
  EXPECT_THAT(ExplainDelete(WithPolicy(60), due, {}, kTime,
                            {HoldNamed("a"), HoldNamed("b"), HoldNamed("c"), HoldNamed("d")})
                  .sentence,
              AllOf(HasSubstr("\"c\" (reason \"case c\", until it is released) and others cover"),
                    Not(HasSubstr("\"d\""))));
}

TEST(ExplainHeldItemTest, AnItemThatIsNotDueYetSaysThatItsHoldsKeepItThen) {
  const DeleteExplanation waits =
      ExplainDelete(WithPolicy(60, 300), Item(kNowSeconds - 60), {}, kTime, {HoldNamed("a")});
  EXPECT_THAT(waits.holds, IsEmpty());
  EXPECT_THAT(waits.sentence,
              HasSubstr("it would be deleted from 2027-01-15T08:05:00Z on, when the container's "
                        "delay of 300 s ends, but hold \"a\" (reason \"case a\", until it is "
                        "released) covers it."));
  EXPECT_THAT(
      ExplainDelete(WithPolicy(60), Item(kNowSeconds), {}, kTime, {HoldNamed("a")}).sentence,
      HasSubstr("The item is live"));
}

TEST(ExplainHeldItemTest, AnItemThatAHoldKeepsVisibleIsNotCalledHidden) {
  Container container = WithPolicy(60);
  container.settings.show_held = true;
  const TrackedItem due = Item(kNowSeconds - 60);
  EXPECT_THAT(ExplainDelete(container, due, {}, kTime, {HoldNamed("a")}).sentence,
              HasSubstr("expired at 2027-01-15T08:00:00Z and is shown because of a hold; it is"));
  EXPECT_THAT(ExplainDelete(container, due, {}, kTime).sentence, HasSubstr("has been hidden"));
}

TEST(ExplainHeldItemTest, WhatHoldsAContainerIsSaidWithoutTheHoldsOfTheItem) {
  EXPECT_THAT(SentenceOf(WithPolicy(60), Item(kNowSeconds - 60), {DeleteHold::kHeld}),
              HasSubstr("because a hold covers all items of the container."));
  EXPECT_THAT(SentenceOf(WithPolicy(60), Item(kNowSeconds - 60), {DeleteHold::kHoldsInDoubt}),
              HasSubstr("because holds are not known to be complete, or cannot be read."));
}

}  // namespace
}  // namespace ttl
