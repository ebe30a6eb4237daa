#include "service/core/adoption.h"

#include <gtest/gtest.h>

namespace ttl {
namespace {

constexpr int64_t kAdoptedAt = 1'800'000'000;
const absl::Time kTime = absl::FromUnixSeconds(kAdoptedAt);
constexpr int64_t kAdoptionGrace = 60;

// An hour old, with this default_ttl.
Container Old(std::optional<int64_t> default_ttl) {
  Container container;
  container.number = 1;
  container.settings.policy.default_ttl = default_ttl;
  container.create_time = kTime - absl::Hours(1);
  return container;
}

PolicyBrake Brake(int64_t max_newly_due_items) {
  return {max_newly_due_items, std::nullopt, /*release_after_seconds=*/600};
}

AdoptionTerms Terms(bool adopted) { return {kTime, kTime, absl::Seconds(kAdoptionGrace), adopted}; }

TEST(AdoptionTest, OnlyWhatIsAdoptedAndDueAlreadyWaits) {
  const Container container = Old(100);
  EXPECT_EQ(AdoptedUntil(container, Terms(true), {kAdoptedAt - 100, std::nullopt}),
            kAdoptedAt + kAdoptionGrace);
  EXPECT_EQ(AdoptedUntil(container, Terms(true), {kAdoptedAt - 99, std::nullopt}), 0);
  EXPECT_EQ(AdoptedUntil(container, Terms(true), {kAdoptedAt - 1000, 5}),
            kAdoptedAt + kAdoptionGrace);
  EXPECT_EQ(AdoptedUntil(container, Terms(true), {kAdoptedAt - 1000, kNeverExpires}), 0);
  EXPECT_EQ(AdoptedUntil(container, Terms(false), {kAdoptedAt - 100'000, std::nullopt}), 0);
  EXPECT_EQ(AdoptedUntil(Old(std::nullopt), Terms(true), {kAdoptedAt - 100'000, 5}), 0);
}

TEST(AdoptionTest, WhatIsExpiredButNotDueDoesNotWait) {
  Container container = Old(100);
  container.settings.policy.delay_seconds = 50;
  EXPECT_EQ(AdoptedUntil(container, Terms(true), {kAdoptedAt - 149, std::nullopt}), 0);
  EXPECT_EQ(AdoptedUntil(container, Terms(true), {kAdoptedAt - 150, std::nullopt}),
            kAdoptedAt + kAdoptionGrace);
}

TEST(AdoptionTest, EveryReportWithinAGraceOfTheCreationAdopts) {
  Container container = Old(100);
  container.create_time = kTime - absl::Seconds(kAdoptionGrace) + absl::Milliseconds(1);
  EXPECT_EQ(AdoptedUntil(container, Terms(false), {kAdoptedAt - 100, std::nullopt}),
            kAdoptedAt + kAdoptionGrace);
  container.create_time = kTime - absl::Seconds(kAdoptionGrace);
  EXPECT_EQ(AdoptedUntil(container, Terms(false), {kAdoptedAt - 100, std::nullopt}), 0);
}

TEST(AdoptionTest, WaitsForAWholeGrace) {
  AdoptionTerms terms = Terms(true);
  terms.now += absl::Milliseconds(1);
  EXPECT_EQ(AdoptedUntil(Old(100), terms, {kAdoptedAt - 100, std::nullopt}),
            kAdoptedAt + kAdoptionGrace + 1);
}

TEST(AdoptionTest, UnderASuspectClockWhatMayBeDueCounts) {
  AdoptionTerms terms = Terms(true);
  terms.latest = kTime + absl::Hours(24);
  EXPECT_EQ(AdoptedUntil(Old(100), terms, {kAdoptedAt, std::nullopt}), kAdoptedAt + kAdoptionGrace);
}

TEST(AdoptionTest, WithoutAGraceItWaitsOnlyToBeCountedForTheBrake) {
  Container container = Old(100);
  AdoptionTerms terms = Terms(true);
  terms.grace = absl::ZeroDuration();
  EXPECT_EQ(AdoptedUntil(container, terms, {kAdoptedAt - 100, std::nullopt}), 0);
  container.settings.brake = Brake(1);
  EXPECT_EQ(AdoptedUntil(container, terms, {kAdoptedAt - 100, std::nullopt}), kAdoptedAt);
}

TEST(AdoptionTest, ARunLastsUntilNothingOfItIsLeft) {
  AdoptionTally tally;
  tally.Add(10);
  tally.Add(20);
  tally.Remove();
  tally.Add(30);
  EXPECT_EQ(tally, (AdoptionTally{3, 0, 2, 30}));
  tally.Remove();
  tally.Remove();
  tally.Add(15);
  EXPECT_EQ(tally, (AdoptionTally{4, 3, 1, 15}));
}

TEST(AdoptionTest, TheWholeRunCountsForTheBrakeAndNothingElse) {
  Container container = Old(100);
  container.settings.brake = Brake(2);
  AdoptionTally tally{5, 3, 1, kAdoptedAt};  // two, of which one is deleted
  EXPECT_EQ(AdoptedItemsToConfirm(container, tally), 2);
  EXPECT_FALSE(AdoptionPullsBrake(container, tally, 1000));
  tally.Add(kAdoptedAt);
  EXPECT_TRUE(AdoptionPullsBrake(container, tally, 1000));
  container.settings.brake.reset();
  EXPECT_FALSE(AdoptionPullsBrake(container, tally, 1000));
}

TEST(AdoptionTest, APulledBrakeHoldsAllThatWaitUntilItLetsGo) {
  Container container = Old(100);
  container.settings.brake = Brake(2);
  const AdoptionTally tally{3, 0, 3, kAdoptedAt + 30};
  EXPECT_EQ(LastAdoptionEnded(container, kAdoptedAt), kAdoptedAt);
  container.adoption = PullBrake(container, tally, kTime);
  EXPECT_EQ(container.adoption.brake->items, 3);
  EXPECT_TRUE(AdoptionIsBraked(container, kTime + absl::Seconds(599)));
  EXPECT_EQ(AdoptionEnd(container, kAdoptedAt - 5), kAdoptedAt + 600);
  EXPECT_EQ(AdoptionEnd(container, 0), 0);
  EXPECT_EQ(LastAdoptionEnded(container, kAdoptedAt + 599), 0);
  EXPECT_FALSE(AdoptionIsBraked(container, kTime + absl::Seconds(600)));
  EXPECT_EQ(LastAdoptionEnded(container, kAdoptedAt + 600), kAdoptedAt + 600);
  // Those that pulled it do not pull it again; as many more do.
  EXPECT_FALSE(AdoptionPullsBrake(container, {5, 0, 5, kAdoptedAt + 40}, 1000));
  EXPECT_TRUE(AdoptionPullsBrake(container, {6, 0, 6, kAdoptedAt + 40}, 1000));
}

TEST(AdoptionTest, AConfirmationFreesWhatWaitsAndNothingThatComesLater) {
  Container container = Old(100);
  container.settings.brake = Brake(2);
  const AdoptionTally tally{3, 0, 3, kAdoptedAt + kAdoptionGrace};
  container.adoption = PullBrake(container, tally, kTime);
  container.adoption = ConfirmAdopted(container, tally, kTime);
  EXPECT_FALSE(AdoptionIsBraked(container, kTime));
  EXPECT_EQ(AdoptionEnd(container, kAdoptedAt + kAdoptionGrace), kAdoptedAt);
  EXPECT_EQ(AdoptionEnd(container, kAdoptedAt - 5), kAdoptedAt - 5);
  EXPECT_EQ(LastAdoptionEnded(container, kAdoptedAt), kAdoptedAt + kAdoptionGrace);
  EXPECT_FALSE(AdoptionPullsBrake(container, tally, 3));
  // Even if it comes in the same second, or with a shorter grace.
  const int64_t later = AdoptedUntil(container, Terms(true), {kAdoptedAt - 100, std::nullopt});
  EXPECT_EQ(AdoptionEnd(container, later), later);
}

}  // namespace
}  // namespace ttl
