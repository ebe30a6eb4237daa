#include "service/expiry/sweep/run_queue.h"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

namespace ttl {
namespace {

// The ready containers, in the order of one round.
std::vector<uint64_t> Awake(const RunQueue& run_queue) {
  std::vector<uint64_t> awake;
  for (auto next = run_queue.Next(0); next.has_value(); next = run_queue.Next(*next)) {
    if (!awake.empty() && *next <= awake.back()) break;
    awake.push_back(*next);
  }
  return awake;
}

using Numbers = std::vector<uint64_t>;

TEST(RunQueueTest, ReadyContainersRunInTheOrderOfTheirNumbers) {
  RunQueue run_queue;
  for (const uint64_t container : {7, 3, 5}) run_queue.Wake(container);
  EXPECT_EQ(Awake(run_queue), (Numbers{3, 5, 7}));
  EXPECT_EQ(run_queue.Next(5), 7u);
  EXPECT_EQ(run_queue.Next(7), 3u);
  EXPECT_EQ(RunQueue().Next(7), std::nullopt);
}

TEST(RunQueueTest, SleepingContainersWakeAtTheirTime) {
  RunQueue run_queue;
  run_queue.Sleep(1, absl::Seconds(10));
  run_queue.Sleep(2, absl::Seconds(5));
  run_queue.Sleep(3, absl::InfiniteDuration());
  EXPECT_EQ(run_queue.NextWake(), absl::Seconds(5));
  run_queue.WakeDue(absl::Seconds(4));
  EXPECT_EQ(Awake(run_queue), Numbers{});
  run_queue.WakeDue(absl::Seconds(5));
  EXPECT_EQ(Awake(run_queue), Numbers{2});
  run_queue.WakeDue(absl::Hours(1000));
  EXPECT_EQ(Awake(run_queue), (Numbers{1, 2}));
  EXPECT_EQ(run_queue.NextWake(), absl::InfiniteDuration());
}

TEST(RunQueueTest, TheLastCallWins) {
  RunQueue run_queue;
  run_queue.Sleep(1, absl::Seconds(10));
  run_queue.Sleep(1, absl::Seconds(20));
  run_queue.WakeDue(absl::Seconds(10));
  EXPECT_EQ(Awake(run_queue), Numbers{});
  run_queue.Wake(1);
  EXPECT_EQ(Awake(run_queue), Numbers{1});
  run_queue.WakeDue(absl::Seconds(20));
  run_queue.Sleep(1, absl::InfiniteDuration());
  EXPECT_EQ(Awake(run_queue), Numbers{});
  run_queue.Wake(1);
  run_queue.Forget(1);
  EXPECT_EQ(Awake(run_queue), Numbers{});
}

}  // namespace
}  // namespace ttl
