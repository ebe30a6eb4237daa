#include "service/core/feed/pass_times.h"

#include <gtest/gtest.h>

namespace ttl {
namespace {

TEST(PassTimesTest, AnEventWasPassedByTheFirstMoveThatReachedIt) {
  PassTimes times;
  EXPECT_EQ(times.PassedAt(1), 0);
  times.Note(10, 100);
  times.Note(10, 150);
  times.Note(30, 200);
  EXPECT_EQ(times.PassedAt(1), 100);
  EXPECT_EQ(times.PassedAt(10), 100);
  EXPECT_EQ(times.PassedAt(11), 200);
  EXPECT_EQ(times.PassedAt(31), 0) << "not passed";
}

TEST(PassTimesTest, WhatIsNoLongerPassedHasNoTime) {
  PassTimes times;
  times.Note(30, 100);
  times.Note(10, 200);
  EXPECT_EQ(times.PassedAt(20), 0);
  times.Note(30, 300);
  EXPECT_EQ(times.PassedAt(20), 300);
}

TEST(PassTimesTest, WithoutAClockNothingIsNoted) {
  PassTimes times;
  times.Note(30, 0);
  EXPECT_TRUE(times.is_empty());
}

TEST(PassTimesTest, TimesOfLongAgoBecomeCoarserAndNeverLater) {
  PassTimes times;
  constexpr uint64_t kMoves = 10'000;
  for (uint64_t i = 1; i <= kMoves; ++i) times.Note(i, static_cast<int64_t>(i));
  for (uint64_t i = 1; i <= kMoves; ++i) {
    EXPECT_LE(times.PassedAt(i), static_cast<int64_t>(i));
    EXPECT_GT(times.PassedAt(i), 0);
  }
  EXPECT_EQ(times.PassedAt(kMoves), static_cast<int64_t>(kMoves));
}

}  // namespace
}  // namespace ttl
