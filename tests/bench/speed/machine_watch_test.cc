#include "tests/bench/speed/machine_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"

namespace ttl::bench {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

constexpr absl::Duration kTick = absl::Milliseconds(10);

TEST(ParseMachineTimeTest, CountsWhatProcessesUsed) {
  const auto time =
      ParseMachineTime("cpu  1 20 300 9999 8888 4000 50000 600000 7 7\ncpu0 1\n", kTick);
  ASSERT_TRUE(time.has_value());
  EXPECT_EQ(time->busy, 321 * kTick);  // neither idle, waiting nor interrupts
  EXPECT_EQ(time->stolen, 600000 * kTick);
}

TEST(ParseMachineTimeTest, IsAbsentForAnotherText) {
  for (const char* text : {"", "intr 1 2 3", "cpu 1 2 3", "cpu a b c d e f g h"}) {
    EXPECT_EQ(ParseMachineTime(text, kTick), std::nullopt) << text;
  }
}

std::string ProcessStat(int pid, int parent, absl::string_view name, int flags = 4194560) {
  return absl::StrCat(pid, " (", name, ") S ", parent, " 1 1 0 -1 ", flags,
                      " 1 1 1 1 1 20 300 4000 20 0");
}

TEST(ParseProcessTimeTest, CountsTheProcessAndItsEndedChildren) {
  const auto process = ParseProcessTime(ProcessStat(12, 34, "a) (b"), kTick);
  ASSERT_TRUE(process.has_value());
  EXPECT_EQ(process->pid, 12);
  EXPECT_EQ(process->parent, 34);
  EXPECT_EQ(process->used, 4321 * kTick);
}

TEST(ParseProcessTimeTest, KnowsTheThreadsOfTheKernel) {
  EXPECT_FALSE(ParseProcessTime(ProcessStat(12, 2, "a"), kTick)->of_kernel);
  EXPECT_TRUE(ParseProcessTime(ProcessStat(12, 2, "kworker/0:1", 69238880), kTick)->of_kernel);
}

TEST(ParseProcessTimeTest, IsAbsentForAnotherText) {
  for (const char* text : {"", "12 (a", "12 (a) S 1", "x (a) S 1 1 1 0 -1 4 1 1 1 1 1 1 1 1 1"}) {
    EXPECT_FALSE(ParseProcessTime(text, kTick).has_value()) << text;
  }
}

TEST(TimeOfTreeTest, AddsDescendantsAndNoOthers) {
  const std::vector<ProcessTime> processes = {{1, 0, false, absl::Seconds(1000)},
                                              {2, 1, false, absl::Seconds(100)},
                                              {3, 2, false, absl::Seconds(10)},
                                              {4, 3, false, absl::Seconds(1)},
                                              {5, 1, false, absl::Seconds(5000)}};
  EXPECT_EQ(TimeOfTree(2, processes), absl::Seconds(111));
}

std::vector<LostCores> Seconds(int calm, int count, LostCores disturbed) {
  std::vector<LostCores> seconds(static_cast<size_t>(calm), LostCores{0.1, 0.05});
  seconds.insert(seconds.end(), static_cast<size_t>(count), disturbed);
  return seconds;
}

TEST(DisturbanceTest, NeedsMoreThanATenthOfTheSeconds) {
  EXPECT_THAT(Disturbance(Seconds(9, 1, {2, 2}), 2), IsEmpty());
  EXPECT_THAT(Disturbance(Seconds(8, 2, {0.2, 0.1}), 2), IsEmpty());
  EXPECT_THAT(Disturbance(Seconds(8, 2, {0.21, 0}), 2), HasSubstr("in 2 of 10 seconds"));
  EXPECT_THAT(Disturbance(Seconds(8, 2, {0, 0.11}), 2), HasSubstr("up to 0.11"));
  EXPECT_THAT(Disturbance(Seconds(8, 2, {0.21, 0}), 4), IsEmpty());
}

TEST(DisturbanceTest, IsSaidWhereNoSecondWasSeen) {
  EXPECT_THAT(Disturbance({}, 2), HasSubstr("no verdict"));
}

MachineLook LookAt(absl::Duration time, absl::Duration busy, absl::Duration stolen,
                   absl::Duration ours) {
  return {absl::UnixEpoch() + absl::Seconds(100) + time, {busy, stolen}, ours, {}};
}

TEST(LostBetweenTest, IsWhatOthersUsedInEachSecond) {
  const MachineLook before = LookAt({}, absl::Seconds(50), absl::Seconds(5), absl::Seconds(20));
  const auto lost = LostBetween(
      before, LookAt(absl::Seconds(2), absl::Seconds(53), absl::Seconds(6), absl::Seconds(22)));
  ASSERT_TRUE(lost.has_value());
  EXPECT_DOUBLE_EQ(lost->others, 0.5);
  EXPECT_DOUBLE_EQ(lost->stolen, 0.5);
}

TEST(LostBetweenTest, TheKernelsThreadsAreNoOthers) {
  MachineLook before = LookAt({}, {}, {}, {});
  before.kernel_threads = {{7, absl::Seconds(100)}, {8, absl::Seconds(200)}};
  MachineLook after = LookAt(absl::Seconds(10), absl::Seconds(10), {}, {});
  // One has ended, and one is new.
  after.kernel_threads = {{7, absl::Seconds(103)}, {9, absl::Seconds(2)}};
  EXPECT_DOUBLE_EQ(LostBetween(before, after)->others, 0.5);
}

TEST(LostBetweenTest, IsNotNegativeWhereOurTimeWasReadLater) {
  const auto lost = LostBetween(LookAt({}, absl::Seconds(1), {}, absl::Seconds(1)),
                                LookAt(absl::Seconds(1), absl::Seconds(2), {}, absl::Seconds(3)));
  ASSERT_TRUE(lost.has_value());
  EXPECT_EQ(lost->others, 0);
}

TEST(LostBetweenTest, IsUnknownForTooShortATime) {
  const MachineLook before = LookAt({}, {}, {}, {});
  EXPECT_FALSE(LostBetween(before, LookAt(absl::Milliseconds(199), {}, {}, {})).has_value());
  EXPECT_TRUE(LostBetween(before, LookAt(absl::Milliseconds(200), {}, {}, {})).has_value());
}

}  // namespace
}  // namespace ttl::bench
