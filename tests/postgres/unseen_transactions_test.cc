#include "client/postgres/capture/stream/unseen_transactions.h"

#include <gtest/gtest.h>

namespace ttl::postgres {
namespace {

TransactionSnapshot Snapshot(const char* text) {
  const auto snapshot = ParseTransactionSnapshot(text);
  EXPECT_TRUE(snapshot.ok()) << snapshot.status();
  return snapshot.value_or(TransactionSnapshot());
}

TEST(TransactionSnapshotTest, SeesWhatHadEnded) {
  const TransactionSnapshot snapshot = Snapshot("10:20:10,14,15");
  EXPECT_TRUE(snapshot.Sees(9));
  EXPECT_FALSE(snapshot.Sees(10));
  EXPECT_TRUE(snapshot.Sees(11));
  EXPECT_FALSE(snapshot.Sees(14));
  EXPECT_TRUE(snapshot.Sees(19));
  EXPECT_FALSE(snapshot.Sees(20));
}

TEST(TransactionSnapshotTest, NothingMayBeInProgress) { EXPECT_TRUE(Snapshot("10:10:").Sees(9)); }

TEST(TransactionSnapshotTest, NonsenseIsRefused) {
  for (const char* text : {"", "10", "10:20", "a:20:", "10:20:x", "10:20:1:2"}) {
    EXPECT_TRUE(absl::IsDataLoss(ParseTransactionSnapshot(text).status())) << text;
  }
}

TEST(TransactionSnapshotTest, NumbersAreMadeWholeAcrossTheEpoch) {
  const TransactionSnapshot snapshot = Snapshot("4294967300:4294967310:");
  EXPECT_EQ(snapshot.Widen(5), 4294967301u);
  EXPECT_EQ(snapshot.Widen(14), 4294967310u);
  EXPECT_EQ(snapshot.Widen(20), 4294967316u);
  EXPECT_EQ(snapshot.Widen(4294967290u), 4294967290u);
}

TEST(UnseenTransactionsTest, AreForgottenOnceTheyAreSeen) {
  UnseenTransactions unseen;
  EXPECT_TRUE(unseen.Observe(Snapshot("10:10:")));
  unseen.Add(12);
  unseen.Add(14);
  EXPECT_FALSE(unseen.Observe(Snapshot("12:15:12")));
  EXPECT_EQ(unseen.size(), 1u);
  EXPECT_TRUE(unseen.Observe(Snapshot("13:15:")));
  EXPECT_EQ(unseen.size(), 0u);
}

TEST(UnseenTransactionsTest, CommitThatIsNotInXmaxYetIsNotSeen) {
  UnseenTransactions unseen;
  unseen.Add(100);
  EXPECT_FALSE(unseen.Observe(Snapshot("100:100:")));
  EXPECT_TRUE(unseen.Observe(Snapshot("101:101:")));
}

TEST(UnseenTransactionsTest, LongTransactionsOfOthersDoNotMatter) {
  UnseenTransactions unseen;
  unseen.Add(100);
  EXPECT_TRUE(unseen.Observe(Snapshot("3:101:3,50")));
}

}  // namespace
}  // namespace ttl::postgres
