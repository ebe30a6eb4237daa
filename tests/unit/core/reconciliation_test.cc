#include "service/core/state/reconciliation.h"

#include "gtest/gtest.h"
#include "service/core/state/reconciliation_board.h"

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

TEST(ReconciliationBoardTest, OneIsUnderWayAtATime) {
  WakeSignal wake;
  ReconciliationBoard board(wake);
  EXPECT_FALSE(board.View().has_value());
  EXPECT_EQ(board.Cancel().code(), absl::StatusCode::kFailedPrecondition) << "there is none";
  ASSERT_TRUE(board.Request({"orders", true}, absl::UnixEpoch()).ok());
  EXPECT_EQ(board.Request({"orders", true}, absl::UnixEpoch()).code(),
            absl::StatusCode::kFailedPrecondition);
  std::optional<Reconciliation> taken = board.Take();
  ASSERT_TRUE(taken.has_value());
  EXPECT_FALSE(board.Take().has_value()) << "a request is taken once";
  taken->state = ReconciliationState::kDone;
  EXPECT_TRUE(board.Post(*taken));
  EXPECT_TRUE(board.Request({"", false}, absl::UnixEpoch()).ok()) << "it has ended";
}

TEST(ReconciliationBoardTest, OneThatIsCancelledStaysSo) {
  WakeSignal wake;
  ReconciliationBoard board(wake);
  ASSERT_TRUE(board.Request({"orders", false}, absl::UnixEpoch()).ok());
  const Reconciliation taken = *board.Take();
  ASSERT_TRUE(board.Cancel().ok());
  EXPECT_FALSE(board.Post(taken)) << "the reconciler hears of it";
  EXPECT_EQ(board.View()->state, ReconciliationState::kCancelled);

  ASSERT_TRUE(board.Request({"orders", false}, absl::UnixEpoch()).ok());
  ASSERT_TRUE(board.Cancel().ok());
  EXPECT_FALSE(board.Take().has_value()) << "never begun";
}

// The reconciler hears of the end only when it posts next.
TEST(ReconciliationBoardTest, ARequestRightAfterACancellationIsAnotherOne) {
  WakeSignal wake;
  ReconciliationBoard board(wake);
  ASSERT_TRUE(board.Request({"orders", /*dry_run=*/false}, absl::UnixEpoch()).ok());
  Reconciliation first = *board.Take();
  first.counts.scanned = 100;
  ASSERT_TRUE(board.Cancel().ok());
  ASSERT_TRUE(board.Request({"customers", /*dry_run=*/true}, absl::UnixEpoch()).ok());
  EXPECT_FALSE(board.Post(first)) << "the first one is to end";
  EXPECT_EQ(board.View()->request.container, "customers");
  const std::optional<Reconciliation> second = board.Take();
  ASSERT_TRUE(second.has_value());
  EXPECT_EQ(second->request.container, "customers");
  EXPECT_TRUE(second->request.dry_run);
  EXPECT_EQ(second->counts.scanned, 0);
  EXPECT_TRUE(board.Post(*second));
}

}  // namespace
}  // namespace ttl
