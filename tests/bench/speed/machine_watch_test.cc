#include "tests/bench/speed/machine_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"

namespace ttl::bench {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

constexpr absl::Duration kTick = absl::Milliseconds(10);

TEST(ParseMachineTimeTest, CountsAllButIdleAndWaiting) {
  const auto time =
      ParseMachineTime("cpu  1 20 300 9999 8888 4000 50000 600000 7 7\ncpu0 1\n", kTick);
  ASSERT_TRUE(time.has_value());
  EXPECT_EQ(time->busy, 54321 * kTick);
  EXPECT_EQ(time->stolen, 600000 * kTick);
}

TEST(ParseMachineTimeTest, IsAbsentForAnotherText) {
  for (const char* text : {"", "intr 1 2 3", "cpu 1 2 3", "cpu a b c d e f g h"}) {
    EXPECT_EQ(ParseMachineTime(text, kTick), std::nullopt) << text;
  }
}

std::string ProcessStat(int pid, int parent, absl::string_view name) {
  return absl::StrCat(pid, " (", name, ") S ", parent,
                      " 1 1 0 -1 4194560 1 1 1 1 1 20 300 4000 20 0");
}

TEST(ParseProcessTimeTest, CountsTheProcessAndItsEndedChildren) {
  const auto process = ParseProcessTime(ProcessStat(12, 34, "a) (b"), kTick);
  ASSERT_TRUE(process.has_value());
  EXPECT_EQ(process->pid, 12);
  EXPECT_EQ(process->parent, 34);
  EXPECT_EQ(process->used, 4321 * kTick);
}

TEST(ParseProcessTimeTest, IsAbsentForAnotherText) {
  for (const char* text : {"", "12 (a", "12 (a) S 1", "x (a) S 1 1 1 0 -1 4 1 1 1 1 1 1 1 1 1"}) {
    EXPECT_FALSE(ParseProcessTime(text, kTick).has_value()) << text;
  }
}

TEST(TimeOfTreeTest, AddsDescendantsAndNoOthers) {
  const std::vector<ProcessTime> processes = {{1, 0, absl::Seconds(1000)},
                                              {2, 1, absl::Seconds(100)},
                                              {3, 2, absl::Seconds(10)},
                                              {4, 3, absl::Seconds(1)},
                                              {5, 1, absl::Seconds(5000)}};
  EXPECT_EQ(TimeOfTree(2, processes), absl::Seconds(111));
}

std::vector<LostCores> Seconds(int calm, int count, LostCores disturbed) {
  std::vector<LostCores> seconds(static_cast<size_t>(calm), LostCores{0.1, 0.05});
  seconds.insert(seconds.end(), static_cast<size_t>(count), disturbed);
  return seconds;
}

TEST(DisturbanceTest, NeedsMoreThanATenthOfTheSeconds) {
  EXPECT_THAT(Disturbance({}, 2), IsEmpty());
  EXPECT_THAT(Disturbance(Seconds(9, 1, {2, 2}), 2), IsEmpty());
  EXPECT_THAT(Disturbance(Seconds(8, 2, {0.2, 0.1}), 2), IsEmpty());
  EXPECT_THAT(Disturbance(Seconds(8, 2, {0.21, 0}), 2), HasSubstr("in 2 of 10 seconds"));
  EXPECT_THAT(Disturbance(Seconds(8, 2, {0, 0.11}), 2), HasSubstr("up to 0.11"));
  EXPECT_THAT(Disturbance(Seconds(8, 2, {0.21, 0}), 4), IsEmpty());
}

TEST(MachineWatchTest, JudgesNothingFromLessThanASecond) {
  MachineWatch watch;
  EXPECT_THAT(watch.Finish(), IsEmpty());
}

}  // namespace
}  // namespace ttl::bench
