// Counters that one thread changes while others read, and scrapes that go on while the
// sidecar starts and stops. Meant for ThreadSanitizer.

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "service/base/distribution.h"
#include "service/base/owned_counter.h"
#include "service/rpc/checks/check_counters.h"
#include "service/transport/calls/call_counters.h"

namespace ttl {
namespace {

constexpr int kThreads = 4;
constexpr int64_t kCounts = 20'000;

// Runs `count` with 0, 1, ... on as many threads while `read` goes on on this one.
template <typename Count, typename Read>
void CountWhileReading(Count count, Read read) {
  std::atomic<int> running = kThreads;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      count(i);
      --running;
    });
  }
  while (running > 0) read();
  for (std::thread& thread : threads) thread.join();
}

TEST(CountersRaceTest, NothingIsLostThoughOthersRead) {
  OwnedCounter counters[kThreads];
  CountWhileReading(
      [&](int i) {
        for (int64_t n = 0; n < kCounts; ++n) counters[i].Add(1);
      },
      [&] {
        for (const OwnedCounter& counter : counters) EXPECT_LE(counter.Get(), kCounts);
      });
  for (const OwnedCounter& counter : counters) EXPECT_EQ(counter.Get(), kCounts);
}

TEST(CountersRaceTest, CallsOfAllQueuesAddUp) {
  CallCounters counters;
  CountWhileReading(
      [&](int i) {
        MethodCounter& counter = counters.AddUnary(absl::StrCat("Service/Method", i % 2));
        for (int64_t n = 0; n < kCounts; ++n) {
          counter.calls.Count(n % 4 == 0 ? absl::StatusCode::kNotFound : absl::StatusCode::kOk, n);
        }
      },
      [&] { counters.Get(); });
  const auto by_method = counters.Get();
  ASSERT_EQ(by_method.size(), 2u);
  for (const auto& [method, counts] : by_method) {
    EXPECT_EQ(counts.calls.by_code[static_cast<size_t>(absl::StatusCode::kOk)],
              kThreads / 2 * kCounts * 3 / 4);
    EXPECT_EQ(counts.calls.by_code[static_cast<size_t>(absl::StatusCode::kNotFound)],
              kThreads / 2 * kCounts / 4);
    EXPECT_EQ(counts.calls.duration.Count(), kThreads / 2 * kCounts);
    EXPECT_EQ(counts.calls.duration.sum, kThreads / 2 * kCounts * (kCounts - 1) / 2);
  }
}

TEST(CountersRaceTest, VerdictsOfAllThreadsAddUp) {
  CheckCounters counters;
  CountWhileReading(
      [&](int) {
        VerdictCounter& counter = counters.AddThread();
        for (int64_t n = 0; n < kCounts; ++n) counter.Add({.visible = 3, .expired = 2});
      },
      [&] { EXPECT_LE(counters.Verdicts().expired, kThreads * kCounts * 2); });
  EXPECT_EQ(counters.Verdicts().visible, kThreads * kCounts * 3);
  EXPECT_EQ(counters.Verdicts().expired, kThreads * kCounts * 2);
  EXPECT_EQ(counters.Verdicts().untracked, 0);
}

TEST(CountersRaceTest, ACodeThatGrpcDoesNotKnowCountsAsUnknown) {
  AnswerCounter counter;
  counter.Count(static_cast<absl::StatusCode>(99));
  EXPECT_EQ(counter.Get().by_code[static_cast<size_t>(absl::StatusCode::kUnknown)], 1);
}

}  // namespace
}  // namespace ttl
