#include "service/base/distribution.h"

#include <gtest/gtest.h>

#include <array>

namespace ttl {
namespace {

constexpr std::array<int64_t, 3> kBounds = {10, 20, 30};

TEST(DistributionTest, AValueAtABoundIsWithinIt) {
  OwnedDistribution<3> distribution(kBounds);
  for (const int64_t value : {0, 10, 11, 20, 30, 31, 1000}) distribution.Add(value);
  const Distribution<3> counts = distribution.Get();
  EXPECT_EQ(counts.counts, (std::array<int64_t, 4>{2, 2, 1, 2}));
  EXPECT_EQ(counts.sum, 1102);
  EXPECT_EQ(counts.Count(), 7);
}

TEST(DistributionTest, SumsAddUp) {
  OwnedDistribution<3> a(kBounds);
  OwnedDistribution<3> b(kBounds);
  a.Add(5);
  b.Add(5);
  b.Add(99);
  Distribution<3> sum = a.Get();
  sum += b.Get();
  EXPECT_EQ(sum.counts, (std::array<int64_t, 4>{2, 0, 0, 1}));
  EXPECT_EQ(sum.sum, 109);
}

TEST(DistributionTest, BoundsOfDurationsRise) {
  for (size_t i = 1; i < kDurationBounds.size(); ++i) {
    EXPECT_LT(kDurationBounds[i - 1], kDurationBounds[i]);
  }
}

}  // namespace
}  // namespace ttl
