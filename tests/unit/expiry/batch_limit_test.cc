#include "service/expiry/pace/batch_limit.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace ttl {
namespace {

TEST(BatchLimitTest, HalvesDownToOne) {
  BatchLimit limit(500);
  EXPECT_EQ(limit.Get(), 500);
  for (const int64_t expected : {250, 125, 62, 31, 15, 7, 3, 1, 1}) {
    limit.Shrink(limit.Get());
    EXPECT_EQ(limit.Get(), expected);
  }
}

TEST(BatchLimitTest, HalvesWhatWasSentNotWhatWasAllowed) {
  BatchLimit limit(500);
  limit.Shrink(12);
  EXPECT_EQ(limit.Get(), 6);
}

TEST(BatchLimitTest, GrowsBackSlowlyAndNoFurther) {
  BatchLimit limit(10);
  limit.Shrink(1);
  for (const int64_t expected : {2, 3, 4, 5, 6, 7, 8, 10, 10}) {
    limit.Grow();
    EXPECT_EQ(limit.Get(), expected);
  }
}

}  // namespace
}  // namespace ttl
