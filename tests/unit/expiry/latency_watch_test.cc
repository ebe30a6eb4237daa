#include "service/expiry/latency_watch.h"

#include <gtest/gtest.h>

namespace ttl {
namespace {

// A watch that has seen `batches` of `items` that took `took`.
LatencyWatch Seen(int batches, int64_t items, absl::Duration took) {
  LatencyWatch watch;
  for (int i = 0; i < batches; ++i) EXPECT_FALSE(watch.IsSlow(items, took));
  return watch;
}

TEST(LatencyWatchTest, SlowIsMoreThanTwiceTheAverageOfBatchesOfThatSize) {
  struct Case {
    int batches_before;
    int64_t items;
    int64_t took_ms;
    bool slow;
  };
  const Case cases[] = {
      {100, 100, 100, false},  {100, 100, 199, false},
      {100, 100, 201, true},   {100, 127, 201, true},  // about the same size
      {100, 500, 1000, false},                         // nothing is known of such batches
      {3, 100, 1000, false},                           // too little is known
  };
  for (const Case& c : cases) {
    LatencyWatch watch = Seen(c.batches_before, 100, absl::Milliseconds(100));
    EXPECT_EQ(watch.IsSlow(c.items, absl::Milliseconds(c.took_ms)), c.slow)
        << c.items << " items in " << c.took_ms << " ms";
  }
}

TEST(LatencyWatchTest, AFewMillisecondsAreNeverSlow) {
  LatencyWatch watch = Seen(100, 10, absl::Microseconds(200));
  EXPECT_FALSE(watch.IsSlow(10, LatencyWatch::kNeverSlow));
  EXPECT_TRUE(watch.IsSlow(10, LatencyWatch::kNeverSlow + absl::Milliseconds(1)));
}

TEST(LatencyWatchTest, WhatLastsBecomesTheAverage) {
  LatencyWatch watch = Seen(100, 10, absl::Milliseconds(50));
  int slow = 0;
  for (int i = 0; i < 100; ++i) slow += watch.IsSlow(10, absl::Milliseconds(150)) ? 1 : 0;
  EXPECT_GE(slow, 10);
  EXPECT_LE(slow, 50);
}

}  // namespace
}  // namespace ttl
