#include "service/core/state/published_sweep.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ttl {
namespace {

using ::testing::Pair;
using ::testing::UnorderedElementsAre;

DeleteRecord Failed(const std::string& reason, int64_t count) {
  DeleteRecord record;
  record.tally.failed = count;
  record.failures[reason] = count;
  return record;
}

TEST(PublishedSweepTest, UnknownContainerHasAnEmptyView) {
  const PublishedSweep published;
  const ContainerSweepView view = published.View(1);
  EXPECT_EQ(view.deletes.tally.sent, 0);
  EXPECT_FALSE(view.last_complete_pass_time.has_value());
  EXPECT_FALSE(published.Sweeper().last_step.has_value());
}

TEST(PublishedSweepTest, DeletesAddUpPerContainer) {
  PublishedSweep published;
  DeleteRecord record;
  record.tally.sent = 5;
  record.tally.deleted = 2;
  record.tally.unanswered = 1;
  record.lateness.Add(absl::Seconds(3));
  published.AddDeletes(1, record);
  published.AddDeletes(1, record);
  published.AddDeletes(2, record);
  const DeleteRecord sum = published.View(1).deletes;
  EXPECT_EQ(sum.tally.sent, 10);
  EXPECT_EQ(sum.tally.deleted, 4);
  EXPECT_EQ(sum.tally.unanswered, 2);
  EXPECT_EQ(sum.lateness.sum, absl::Seconds(6));
  EXPECT_EQ(published.View(2).deletes.tally.sent, 5);
}

TEST(PublishedSweepTest, FailuresAddUpByReason) {
  PublishedSweep published;
  published.AddDeletes(1, Failed("locked", 2));
  published.AddDeletes(1, Failed("disk", 1));
  published.AddDeletes(1, Failed("locked", 3));
  EXPECT_THAT(published.View(1).deletes.failures,
              UnorderedElementsAre(Pair("locked", 5), Pair("disk", 1)));
}

TEST(PublishedSweepTest, ReasonsBeyondTheMostAreCountedUnderTheEmptyOne) {
  PublishedSweep published;
  constexpr int kReasons = 40;
  for (int i = 0; i < kReasons; ++i) published.AddDeletes(1, Failed(absl::StrCat("reason ", i), 1));
  // One that is kept goes on being counted by itself.
  published.AddDeletes(1, Failed("reason 0", 9));
  const DeleteRecord record = published.View(1).deletes;
  EXPECT_EQ(record.failures.size(), PublishedSweep::kMaxFailureReasons + 1);
  EXPECT_EQ(record.failures.at("reason 0"), 10);
  EXPECT_EQ(record.failures.at(""), kReasons - int64_t{PublishedSweep::kMaxFailureReasons});
  EXPECT_EQ(record.tally.failed, kReasons + 9);
}

TEST(PublishedSweepTest, LastPostOfPaceAndPassCounts) {
  PublishedSweep published;
  PaceView slow;
  slow.waiting_for_rate = true;
  slow.bearable_per_second = 3;
  PaceView held;
  held.held_until = absl::FromUnixSeconds(9);
  published.PostPace(1, slow);
  published.PostPace(1, held);
  published.PostCompletePass(1, absl::FromUnixSeconds(5));
  published.PostCompletePass(1, absl::FromUnixSeconds(7));
  published.AddEarlyEntries(1, 3);
  published.AddEarlyEntries(1, 4);
  const ContainerSweepView view = published.View(1);
  EXPECT_EQ(view.pace, held);
  EXPECT_EQ(view.last_complete_pass_time, absl::FromUnixSeconds(7));
  EXPECT_EQ(view.early_entries, 7);
}

TEST(PublishedSweepTest, ForgottenContainerIsEmptyAgain) {
  PublishedSweep published;
  published.AddDeletes(1, Failed("locked", 2));
  published.AddEarlyEntries(1, 3);
  published.Forget(1);
  EXPECT_TRUE(published.View(1).deletes.failures.empty());
  EXPECT_EQ(published.View(1).early_entries, 0);
}

DeleteRecord Sent(int64_t count) {
  DeleteRecord record;
  record.tally.sent = count;
  return record;
}

TEST(PublishedSweepTest, TheFirstContainersHaveNames) {
  PublishedSweep published(2);
  published.AddDeletes(7, Sent(1));
  EXPECT_THAT(published.Breakdown({3, 5, 7, 9}).named, UnorderedElementsAre(3, 7));
  EXPECT_THAT(published.Breakdown({9, 7, 5, 3}).named, UnorderedElementsAre(3, 7));
}

TEST(PublishedSweepTest, DeletesWithoutANameAreAddedUp) {
  PublishedSweep published(1);
  for (const uint64_t container : {1, 2, 3}) published.AddDeletes(container, Sent(10));
  EXPECT_EQ(published.Breakdown({1, 2, 3}).others.tally.sent, 20);
  EXPECT_EQ(published.View(2).deletes.tally.sent, 10);
}

TEST(PublishedSweepTest, ANameIsFreeWhenItsContainerIsGone) {
  PublishedSweep published(1);
  EXPECT_THAT(published.Breakdown({1, 2}).named, UnorderedElementsAre(1));
  EXPECT_THAT(published.Breakdown({2}).named, UnorderedElementsAre(2));
  published.Forget(2);
  EXPECT_THAT(published.Breakdown({3}).named, UnorderedElementsAre(3));
}

TEST(PublishedSweepTest, WhatIsAddedUpNeverDecreases) {
  PublishedSweep published(1);
  published.AddDeletes(1, Sent(10));
  published.AddDeletes(2, Sent(10));
  published.Forget(2);
  EXPECT_EQ(published.Breakdown({1}).others.tally.sent, 10);
  published.Forget(1);
  EXPECT_EQ(published.Breakdown({3}).others.tally.sent, 10);
}

TEST(PublishedSweepTest, CallsCountByCodeAndPushBackByKind) {
  PublishedSweep published;
  published.AddCall(absl::StatusCode::kOk, absl::Milliseconds(3));
  published.AddCall(absl::StatusCode::kOk, absl::Milliseconds(30));
  published.AddCall(absl::StatusCode::kUnavailable, absl::Seconds(1));
  published.AddPushBack(PushBack::kSlow);
  const StoreCallCounts calls = published.Calls();
  EXPECT_THAT(calls.by_code, UnorderedElementsAre(Pair(absl::StatusCode::kOk, 2),
                                                  Pair(absl::StatusCode::kUnavailable, 1)));
  EXPECT_EQ(calls.duration.Count(), 3);
  EXPECT_EQ(calls.duration.sum, absl::ToInt64Nanoseconds(absl::Milliseconds(1033)));
  EXPECT_EQ(calls.push_backs[static_cast<size_t>(PushBack::kSlow)], 1);
  EXPECT_EQ(calls.push_backs[static_cast<size_t>(PushBack::kThrottled)], 0);
}

}  // namespace
}  // namespace ttl
