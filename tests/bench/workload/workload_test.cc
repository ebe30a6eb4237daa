#include "tests/bench/workload/workload.h"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <limits>
#include <map>

#include "absl/time/clock.h"
#include "tests/testing/channel.h"
#include "tests/testing/fake_document_store.h"
#include "tests/testing/temp_dir.h"

// The judge is tested with stores whose faults are known: it must find each of
// them, and must not blame a sound store, not even one that fails at times.

namespace ttl::workload {
namespace {

WorkloadOptions SmallOptions() {
  WorkloadOptions options;
  options.clusters = {*FindCluster("cluster23"), *FindCluster("cluster21")};
  options.documents = 2000;
  options.workers = 4;
  options.ttl_scale = 0.015;  // 120 s becomes 2 s, 5 s becomes 1 s
  options.probe_share = 1;
  options.batch_documents = 50;
  return options;
}

struct Verdict {
  Tally tally;
  absl::Status drained;
};

// At least for three seconds, and until `has_seen` is satisfied: a machine that stalls may be
// asleep at every moment at which a fault could show.
void RunUntil(Workload& workload, const std::function<bool(const Tally&)>& has_seen) {
  constexpr absl::Duration kLeast = absl::Seconds(3);
  constexpr absl::Duration kMaxWait = absl::Seconds(60);
  const std::atomic<bool> stop = false;
  const absl::Time begin = absl::Now();
  do {
    workload.Run(kLeast, std::numeric_limits<int64_t>::max(), stop);
  } while (!has_seen(workload.Total()) && absl::Now() - begin < kMaxWait);
}

bool HasMismatch(const Tally& tally) { return tally.mismatches > 0; }

bool HasSeenBothSidesOfABoundary(const Tally& tally) {
  return tally.shown > 0 && tally.hidden > 0 && tally.at_boundary > 0;
}

Verdict JudgeStore(StoreFault fault, const std::function<bool(const Tally&)>& has_seen) {
  const WorkloadOptions options = SmallOptions();
  std::map<std::string, int64_t> default_ttls;
  for (const ContainerPlan& plan : PlanContainers(options)) {
    default_ttls[plan.id()] = plan.default_ttl();
  }
  TempDir dir;
  FakeDocumentStore store(dir.File("s"), fault, default_ttls);
  Workload workload(options, NewTestChannel("unix:" + dir.File("s")));
  const std::atomic<bool> stop = false;
  workload.Load(stop);
  RunUntil(workload, has_seen);
  Verdict verdict;
  verdict.drained = workload.AwaitExactStore(absl::Seconds(1));
  EXPECT_TRUE(workload.CompareContents().ok());
  verdict.tally = workload.Total();
  return verdict;
}

TEST(WorkloadTest, SoundStoreIsFoundSound) {
  const Verdict verdict = JudgeStore(StoreFault::kNone, HasSeenBothSidesOfABoundary);
  EXPECT_TRUE(verdict.drained.ok()) << verdict.drained;
  EXPECT_EQ(verdict.tally.mismatches, 0) << verdict.tally.mismatch_samples[0];
  EXPECT_EQ(verdict.tally.unanswered, 0);
  EXPECT_GT(verdict.tally.shown, 0);
  EXPECT_GT(verdict.tally.hidden, 0);
  EXPECT_GT(verdict.tally.at_boundary, 0);
}

TEST(WorkloadTest, FailuresAreResolvedNotBlamed) {
  const Verdict verdict = JudgeStore(StoreFault::kFailsSometimes,
                                     [](const Tally& tally) { return tally.resolved > 0; });
  EXPECT_TRUE(verdict.drained.ok()) << verdict.drained;
  EXPECT_EQ(verdict.tally.mismatches, 0) << verdict.tally.mismatch_samples[0];
  EXPECT_GT(verdict.tally.unanswered, 0);
  EXPECT_GT(verdict.tally.resolved, 0);
}

TEST(WorkloadTest, FindsExpiredDocumentsShown) {
  EXPECT_GT(JudgeStore(StoreFault::kShowsExpired, HasMismatch).tally.mismatches, 0);
}

TEST(WorkloadTest, FindsLiveDocumentsHidden) {
  EXPECT_GT(JudgeStore(StoreFault::kHidesLive, HasMismatch).tally.mismatches, 0);
}

TEST(WorkloadTest, FindsLostWrites) {
  EXPECT_GT(JudgeStore(StoreFault::kLosesWrites, HasMismatch).tally.mismatches, 0);
}

TEST(WorkloadTest, FindsForeignBodies) {
  EXPECT_GT(JudgeStore(StoreFault::kMixesUpBodies, HasMismatch).tally.mismatches, 0);
}

TEST(WorkloadTest, FindsExpiredDocumentsLeftInTheStore) {
  const Verdict verdict =
      JudgeStore(StoreFault::kKeepsGarbage, [](const Tally& tally) { return tally.hidden > 0; });
  EXPECT_TRUE(absl::IsDeadlineExceeded(verdict.drained)) << verdict.drained;
  EXPECT_EQ(verdict.tally.mismatches, 0);
}

}  // namespace
}  // namespace ttl::workload
