#include "service/expiry/pace/latency_watch.h"

#include <gtest/gtest.h>

#include <random>

namespace ttl {
namespace {

// The watch of a store that is sent one batch every `every`.
class Watched {
 public:
  explicit Watched(absl::Duration every) : every_(every) {}

  bool IsSlow(int64_t items, absl::Duration took) {
    now_ += every_;
    return watch_.IsSlow(items, took, now_);
  }

  // Of so many batches, after how many it was slow.
  int TimesSlow(int batches, int64_t items, absl::Duration took) {
    int slow = 0;
    for (int i = 0; i < batches; ++i) slow += IsSlow(items, took) ? 1 : 0;
    return slow;
  }

 private:
  const absl::Duration every_;
  absl::Duration now_;
  LatencyWatch watch_;
};

// Few enough that each batch is judged for itself.
constexpr absl::Duration kRarely = LatencyWatch::kLately;
constexpr absl::Duration kOften = absl::Milliseconds(10);

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
    Watched store(kRarely);
    EXPECT_EQ(store.TimesSlow(c.batches_before, 100, absl::Milliseconds(100)), 0);
    EXPECT_EQ(store.IsSlow(c.items, absl::Milliseconds(c.took_ms)), c.slow)
        << c.items << " items in " << c.took_ms << " ms";
  }
}

TEST(LatencyWatchTest, AFewMillisecondsAreNeverSlow) {
  Watched store(kRarely);
  EXPECT_EQ(store.TimesSlow(100, 10, absl::Microseconds(200)), 0);
  EXPECT_FALSE(store.IsSlow(10, LatencyWatch::kNeverSlow));
  EXPECT_TRUE(store.IsSlow(10, LatencyWatch::kNeverSlow + absl::Milliseconds(1)));
}

TEST(LatencyWatchTest, WhatLastsBecomesTheAverage) {
  Watched store(kRarely);
  EXPECT_EQ(store.TimesSlow(200, 10, absl::Milliseconds(50)), 0);
  const int slow = store.TimesSlow(200, 10, absl::Milliseconds(150));
  EXPECT_GE(slow, 10);
  EXPECT_LE(slow, 50);
}

TEST(LatencyWatchTest, OfManyBatchesMostMustBeSlow) {
  Watched store(kOften);
  store.TimesSlow(100, 10, absl::Milliseconds(50));
  EXPECT_EQ(store.TimesSlow(4, 10, absl::Milliseconds(500)), 0);
  EXPECT_EQ(store.TimesSlow(4, 10, absl::Milliseconds(50)), 0);
  EXPECT_EQ(store.TimesSlow(5, 10, absl::Milliseconds(500)), 1);
}

TEST(LatencyWatchTest, WhatWasLongAgoDoesNotOutvoteTheLatest) {
  LatencyWatch watch;
  absl::Duration now;
  for (int i = 0; i < 100; ++i) {
    now += kOften;
    EXPECT_FALSE(watch.IsSlow(10, absl::Milliseconds(50), now));
  }
  now += LatencyWatch::kLately;
  EXPECT_TRUE(watch.IsSlow(10, absl::Milliseconds(500), now));
}

// As on a machine that is busy with other things: most batches are quick, some take ten times
// as long. It must not be taken for a store that becomes slow more often than once in the four
// seconds in which the rate doubles.
TEST(LatencyWatchTest, LatenciesThatScatterAreNoSlowness) {
  std::mt19937 random(1);
  std::exponential_distribution<double> took_ms(1.0 / 100);
  Watched store(kOften);
  int slow = 0;
  constexpr int kSeconds = 1000;
  for (int i = 0; i < kSeconds * 100; ++i) {
    slow += store.IsSlow(10, absl::Milliseconds(took_ms(random))) ? 1 : 0;
  }
  EXPECT_LE(slow, kSeconds / 4);
}

}  // namespace
}  // namespace ttl
