#include "service/core/state/sweep_board.h"

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

TEST(SweepBoardTest, UnknownContainerHasAnEmptyView) {
  const SweepBoard board;
  const ContainerSweepView view = board.View(1);
  EXPECT_EQ(view.deletes.tally.sent, 0);
  EXPECT_FALSE(view.last_complete_pass_time.has_value());
  EXPECT_FALSE(board.Sweeper().last_step.has_value());
}

TEST(SweepBoardTest, DeletesAddUpPerContainer) {
  SweepBoard board;
  DeleteRecord record;
  record.tally.sent = 5;
  record.tally.deleted = 2;
  record.tally.unanswered = 1;
  record.lateness.Add(absl::Seconds(3));
  board.AddDeletes(1, record);
  board.AddDeletes(1, record);
  board.AddDeletes(2, record);
  const DeleteRecord sum = board.View(1).deletes;
  EXPECT_EQ(sum.tally.sent, 10);
  EXPECT_EQ(sum.tally.deleted, 4);
  EXPECT_EQ(sum.tally.unanswered, 2);
  EXPECT_EQ(sum.lateness.sum, absl::Seconds(6));
  EXPECT_EQ(board.View(2).deletes.tally.sent, 5);
}

TEST(SweepBoardTest, FailuresAddUpByReason) {
  SweepBoard board;
  board.AddDeletes(1, Failed("locked", 2));
  board.AddDeletes(1, Failed("disk", 1));
  board.AddDeletes(1, Failed("locked", 3));
  EXPECT_THAT(board.View(1).deletes.failures,
              UnorderedElementsAre(Pair("locked", 5), Pair("disk", 1)));
}

TEST(SweepBoardTest, ReasonsBeyondTheMostAreCountedUnderTheEmptyOne) {
  SweepBoard board;
  constexpr int kReasons = 40;
  for (int i = 0; i < kReasons; ++i) board.AddDeletes(1, Failed(absl::StrCat("reason ", i), 1));
  // One that is kept goes on being counted by itself.
  board.AddDeletes(1, Failed("reason 0", 9));
  const DeleteRecord record = board.View(1).deletes;
  EXPECT_EQ(record.failures.size(), SweepBoard::kMaxFailureReasons + 1);
  EXPECT_EQ(record.failures.at("reason 0"), 10);
  EXPECT_EQ(record.failures.at(""), kReasons - int64_t{SweepBoard::kMaxFailureReasons});
  EXPECT_EQ(record.tally.failed, kReasons + 9);
}

TEST(SweepBoardTest, LastPostOfPaceAndPassCounts) {
  SweepBoard board;
  PaceView slow;
  slow.waiting_for_rate = true;
  slow.bearable_per_second = 3;
  PaceView held;
  held.held_until = absl::FromUnixSeconds(9);
  board.PostPace(1, slow);
  board.PostPace(1, held);
  board.PostCompletePass(1, absl::FromUnixSeconds(5));
  board.PostCompletePass(1, absl::FromUnixSeconds(7));
  board.AddEarlyEntries(1, 3);
  board.AddEarlyEntries(1, 4);
  const ContainerSweepView view = board.View(1);
  EXPECT_EQ(view.pace, held);
  EXPECT_EQ(view.last_complete_pass_time, absl::FromUnixSeconds(7));
  EXPECT_EQ(view.early_entries, 7);
}

TEST(SweepBoardTest, ForgottenContainerIsEmptyAgain) {
  SweepBoard board;
  board.AddDeletes(1, Failed("locked", 2));
  board.AddEarlyEntries(1, 3);
  board.Forget(1);
  EXPECT_TRUE(board.View(1).deletes.failures.empty());
  EXPECT_EQ(board.View(1).early_entries, 0);
}

DeleteRecord Sent(int64_t count) {
  DeleteRecord record;
  record.tally.sent = count;
  return record;
}

TEST(SweepBoardTest, TheFirstContainersHaveNames) {
  SweepBoard board(2);
  board.AddDeletes(7, Sent(1));
  EXPECT_THAT(board.Breakdown({3, 5, 7, 9}).named, UnorderedElementsAre(3, 7));
  EXPECT_THAT(board.Breakdown({9, 7, 5, 3}).named, UnorderedElementsAre(3, 7));
}

TEST(SweepBoardTest, DeletesWithoutANameAreAddedUp) {
  SweepBoard board(1);
  for (const uint64_t container : {1, 2, 3}) board.AddDeletes(container, Sent(10));
  EXPECT_EQ(board.Breakdown({1, 2, 3}).others.tally.sent, 20);
  EXPECT_EQ(board.View(2).deletes.tally.sent, 10);
}

TEST(SweepBoardTest, ANameIsFreeWhenItsContainerIsGone) {
  SweepBoard board(1);
  EXPECT_THAT(board.Breakdown({1, 2}).named, UnorderedElementsAre(1));
  EXPECT_THAT(board.Breakdown({2}).named, UnorderedElementsAre(2));
  board.Forget(2);
  EXPECT_THAT(board.Breakdown({3}).named, UnorderedElementsAre(3));
}

TEST(SweepBoardTest, WhatIsAddedUpNeverDecreases) {
  SweepBoard board(1);
  board.AddDeletes(1, Sent(10));
  board.AddDeletes(2, Sent(10));
  board.Forget(2);
  EXPECT_EQ(board.Breakdown({1}).others.tally.sent, 10);
  board.Forget(1);
  EXPECT_EQ(board.Breakdown({3}).others.tally.sent, 10);
}

TEST(SweepBoardTest, CallsCountByCodeAndPushBackByKind) {
  SweepBoard board;
  board.AddCall(absl::StatusCode::kOk, absl::Milliseconds(3));
  board.AddCall(absl::StatusCode::kOk, absl::Milliseconds(30));
  board.AddCall(absl::StatusCode::kUnavailable, absl::Seconds(1));
  board.AddPushBack(PushBack::kSlow);
  const StoreCallCounts calls = board.Calls();
  EXPECT_THAT(calls.by_code, UnorderedElementsAre(Pair(absl::StatusCode::kOk, 2),
                                                  Pair(absl::StatusCode::kUnavailable, 1)));
  EXPECT_EQ(calls.duration.Count(), 3);
  EXPECT_EQ(calls.duration.sum, absl::ToInt64Nanoseconds(absl::Milliseconds(1033)));
  EXPECT_EQ(calls.push_backs[static_cast<size_t>(PushBack::kSlow)], 1);
  EXPECT_EQ(calls.push_backs[static_cast<size_t>(PushBack::kThrottled)], 0);
}

}  // namespace
}  // namespace ttl
