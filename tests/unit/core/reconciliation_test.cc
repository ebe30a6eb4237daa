#include "service/core/state/reconciliation.h"

#include "gtest/gtest.h"
#include "service/core/state/published_reconciliation.h"

namespace ttl {
namespace {

ReconciliationSample SampleOf(Difference difference) {
  ReconciliationSample sample;
  sample.difference = difference;
  return sample;
}

TEST(ReconciliationTest, CountsAllAndKeepsTheFirstOfEachKind) {
  Reconciliation reconciliation;
  for (int i = 0; i < 100; ++i) reconciliation.Add(SampleOf(Difference::kMissing));
  for (int i = 0; i < 3; ++i) reconciliation.Add(SampleOf(Difference::kExtra));
  EXPECT_EQ(reconciliation.counts.missing, 100);
  EXPECT_EQ(reconciliation.counts.extra, 3);
  EXPECT_EQ(reconciliation.samples.size(), Reconciliation::kMaxSamplesPerKind + 3);
}

TEST(PublishedReconciliationTest, OneIsUnderWayAtATime) {
  WakeSignal wake;
  PublishedReconciliation published(wake);
  EXPECT_FALSE(published.View().has_value());
  EXPECT_EQ(published.Cancel().code(), absl::StatusCode::kFailedPrecondition) << "there is none";
  ASSERT_TRUE(published.Request({"orders", true}, absl::UnixEpoch()).ok());
  EXPECT_EQ(published.Request({"orders", true}, absl::UnixEpoch()).code(),
            absl::StatusCode::kFailedPrecondition);
  std::optional<Reconciliation> taken = published.Take();
  ASSERT_TRUE(taken.has_value());
  EXPECT_FALSE(published.Take().has_value()) << "a request is taken once";
  taken->state = ReconciliationState::kDone;
  EXPECT_TRUE(published.Post(*taken));
  EXPECT_TRUE(published.Request({"", false}, absl::UnixEpoch()).ok()) << "it has ended";
}

TEST(PublishedReconciliationTest, OneThatIsCancelledStaysSo) {
  WakeSignal wake;
  PublishedReconciliation published(wake);
  ASSERT_TRUE(published.Request({"orders", false}, absl::UnixEpoch()).ok());
  const Reconciliation taken = *published.Take();
  ASSERT_TRUE(published.Cancel().ok());
  EXPECT_FALSE(published.Post(taken)) << "the reconciler hears of it";
  EXPECT_EQ(published.View()->state, ReconciliationState::kCancelled);

  ASSERT_TRUE(published.Request({"orders", false}, absl::UnixEpoch()).ok());
  ASSERT_TRUE(published.Cancel().ok());
  EXPECT_FALSE(published.Take().has_value()) << "never begun";
}

// The reconciler hears of the end only when it posts next.
TEST(PublishedReconciliationTest, ARequestRightAfterACancellationIsAnotherOne) {
  WakeSignal wake;
  PublishedReconciliation published(wake);
  ASSERT_TRUE(published.Request({"orders", /*dry_run=*/false}, absl::UnixEpoch()).ok());
  Reconciliation first = *published.Take();
  first.counts.scanned = 100;
  ASSERT_TRUE(published.Cancel().ok());
  ASSERT_TRUE(published.Request({"customers", /*dry_run=*/true}, absl::UnixEpoch()).ok());
  EXPECT_FALSE(published.Post(first)) << "the first one is to end";
  EXPECT_EQ(published.View()->request.container, "customers");
  const std::optional<Reconciliation> second = published.Take();
  ASSERT_TRUE(second.has_value());
  EXPECT_EQ(second->request.container, "customers");
  EXPECT_TRUE(second->request.dry_run);
  EXPECT_EQ(second->counts.scanned, 0);
  EXPECT_TRUE(published.Post(*second));
}

}  // namespace
}  // namespace ttl
