#include "tests/bench/workload/zipf_sampler.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace ttl::workload {
namespace {

std::vector<double> ExactProbabilities(int n, double alpha) {
  std::vector<double> result;
  double sum = 0;
  for (int rank = 1; rank <= n; ++rank) sum += result.emplace_back(std::pow(rank, -alpha));
  for (double& p : result) p /= sum;
  return result;
}

class ZipfSamplerTest : public testing::TestWithParam<double> {};

// Chi-square against the exact distribution. The seed is fixed, so this cannot
// fail by chance; 200 is beyond the 0.1 % quantile for 99 degrees of freedom
// (148.2) and far below what a wrong exponent gives.
TEST_P(ZipfSamplerTest, FollowsTheExactDistribution) {
  constexpr int kRanks = 100;
  constexpr int kDraws = 200'000;
  const ZipfSampler sampler(kRanks, GetParam());
  Random random(1);
  std::vector<int> counts(kRanks);
  for (int i = 0; i < kDraws; ++i) {
    const uint64_t rank = sampler.Sample(random);
    ASSERT_GE(rank, 1u);
    ASSERT_LE(rank, static_cast<uint64_t>(kRanks));
    ++counts[rank - 1];
  }
  const std::vector<double> exact = ExactProbabilities(kRanks, GetParam());
  double chi_square = 0;
  for (int i = 0; i < kRanks; ++i) {
    const double expected = exact[i] * kDraws;
    chi_square += (counts[i] - expected) * (counts[i] - expected) / expected;
  }
  EXPECT_LT(chi_square, 200);
}

INSTANTIATE_TEST_SUITE_P(Alphas, ZipfSamplerTest,
                         testing::Values(0.0, 0.0242, 0.4565, 0.9929, 1.0, 1.0666, 1.7366, 2.6774));

TEST(ZipfSamplerTest, OneRankAndHugeRanksWork) {
  Random random(2);
  EXPECT_EQ(ZipfSampler(1, 1.2).Sample(random), 1u);
  const ZipfSampler huge(1'000'000'000'000, 0.5);
  bool beyond_32_bits = false;
  for (int i = 0; i < 1000; ++i) beyond_32_bits |= huge.Sample(random) > 0xffffffffu;
  EXPECT_TRUE(beyond_32_bits);
}

TEST(ZipfSamplerTest, TheSameSeedDrawsTheSameRanks) {
  const ZipfSampler sampler(1000, 1.1);
  Random a(7), b(7), c(8);
  bool differs = false;
  for (int i = 0; i < 100; ++i) {
    const uint64_t rank = sampler.Sample(a);
    EXPECT_EQ(rank, sampler.Sample(b));
    differs |= rank != sampler.Sample(c);
  }
  EXPECT_TRUE(differs);
}

}  // namespace
}  // namespace ttl::workload
