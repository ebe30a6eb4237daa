#include "tests/bench/workload/container_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

namespace ttl::workload {
namespace {

WorkloadOptions OptionsFor(const std::string& cluster) {
  WorkloadOptions options;
  options.clusters = {*FindCluster(cluster)};
  options.workers = 2;
  options.documents = 2000;
  return options;
}

TEST(ClusterProfileTest, UnknownClusterIsNotFound) {
  EXPECT_EQ(Clusters().size(), 53u);
  EXPECT_EQ(FindCluster("cluster5").status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(MostCommonTtl(*FindCluster("cluster4")), 60);
}

TEST(ContainerPlanTest, KeysAreDistinctSizedAsPublishedAndFoundAgain) {
  const ContainerPlan plan = PlanContainers(OptionsFor("cluster12")).front();
  ASSERT_EQ(plan.documents_per_worker(), 1000u);
  std::set<std::pair<std::string, std::string>> keys;
  for (int worker = 0; worker < 2; ++worker) {
    for (uint32_t number = 0; number < plan.documents_per_worker(); ++number) {
      const DocumentPlace place{worker, number};
      const DocumentKey key = plan.Key(place);
      EXPECT_EQ(key.partition_key.size() + key.id.size(), 44u);
      EXPECT_EQ(plan.Find(key.partition_key, key.id), place);
      keys.emplace(key.partition_key, key.id);
    }
  }
  EXPECT_EQ(keys.size(), 2000u);
  EXPECT_EQ(plan.Find("zz", "none"), std::nullopt);
}

TEST(ContainerPlanTest, PartitionHoldsTheDocumentsThatShareItsKey) {
  const ContainerPlan plan = PlanContainers(OptionsFor("cluster12")).front();
  const uint32_t first = plan.PartitionFirst(999), end = plan.PartitionEnd(999);
  EXPECT_EQ(end, 1000u);
  EXPECT_EQ(plan.Key({0, first}).partition_key, plan.Key({0, end - 1}).partition_key);
  EXPECT_NE(plan.Key({0, first}).partition_key, plan.Key({0, first - 1}).partition_key);
}

TEST(ContainerPlanTest, TtlsFollowTheScaledMix) {
  WorkloadOptions options = OptionsFor("cluster4");
  options.ttl_scale = 0.1;
  const ContainerPlan plan = PlanContainers(options).front();
  EXPECT_EQ(plan.default_ttl(), 6);
  std::map<int64_t, int> counts;
  for (uint32_t version = 0; version < 10'000; ++version) {
    ++counts[plan.Ttl({0, 1}, version).value_or(0)];
  }
  // 0 stands for absent; 60 s has a share of 0.39 and is halved by it.
  EXPECT_NEAR(counts[0], 1950, 200);
  EXPECT_NEAR(counts[6], 1950, 200);
  EXPECT_NEAR(counts[30], 2400, 200);
  EXPECT_NEAR(counts[360], 1300, 200);
  EXPECT_NEAR(counts[-1], 100, 40);
}

TEST(ContainerPlanTest, BodiesAreBoundedAndCarryTheirVersion) {
  WorkloadOptions options = OptionsFor("cluster37");
  options.max_value_bytes = 100;
  const ContainerPlan plan = PlanContainers(options).front();
  const std::string body = plan.Body({1, 2}, 77);
  EXPECT_THAT(body.size(), testing::AllOf(testing::Ge(8u), testing::Le(100u)));
  EXPECT_EQ(ContainerPlan::VersionOf(body), 77u);
  EXPECT_EQ(body, plan.Body({1, 2}, 77));
  EXPECT_NE(body, plan.Body({1, 3}, 77));
  EXPECT_EQ(ContainerPlan::VersionOf("abc"), std::nullopt);
}

TEST(ContainerPlanTest, SeedDecidesEverything) {
  WorkloadOptions options = OptionsFor("cluster12");
  const ContainerPlan a = PlanContainers(options).front();
  const ContainerPlan b = PlanContainers(options).front();
  options.seed = 2;
  const ContainerPlan c = PlanContainers(options).front();
  EXPECT_EQ(a.Key({0, 5}).id, b.Key({0, 5}).id);
  EXPECT_EQ(a.Body({0, 5}, 1), b.Body({0, 5}, 1));
  EXPECT_NE(a.Key({0, 5}).id, c.Key({0, 5}).id);
}

TEST(ContainerPlanTest, MixSharesDocumentsByObjectWeight) {
  WorkloadOptions options;
  options.clusters = ProductionMix();
  options.documents = 100'000;
  int64_t total = 0, largest = 0;
  for (const ContainerPlan& plan : PlanContainers(options)) {
    const int64_t documents = int64_t{plan.documents_per_worker()} * options.workers;
    EXPECT_GE(documents, options.workers);
    total += documents;
    largest = std::max(largest, documents);
  }
  EXPECT_NEAR(total, 100'000, 200);
  EXPECT_LT(largest, 50'000);
}

}  // namespace
}  // namespace ttl::workload
