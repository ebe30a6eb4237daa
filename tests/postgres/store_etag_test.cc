#include <gtest/gtest.h>

#include "client/postgres/store/etag.h"

namespace ttl::postgres {
namespace {

TransactionSnapshot Parsed(absl::string_view text) {
  const auto snapshot = ParseTransactionSnapshot(text);
  EXPECT_TRUE(snapshot.ok()) << snapshot.status();
  return snapshot.value_or(TransactionSnapshot());
}

TEST(EtagTest, TransactionHasEndedOnceItIsNeitherInProgressNorAhead) {
  const TransactionSnapshot snapshot = Parsed("95:105:96,99");
  EXPECT_TRUE(HasEnded("94", snapshot));
  EXPECT_FALSE(HasEnded("96", snapshot));
  EXPECT_TRUE(HasEnded("97", snapshot));
  EXPECT_FALSE(HasEnded("99", snapshot));
  EXPECT_TRUE(HasEnded("104", snapshot));
  EXPECT_FALSE(HasEnded("105", snapshot));
  EXPECT_FALSE(HasEnded("1000", snapshot));
  EXPECT_FALSE(HasEnded("1048680", snapshot));
  EXPECT_TRUE(HasEnded("1048681", snapshot));  // of another cluster
}

TEST(EtagTest, ComparesIdsOf32BitsWithThoseOf64) {
  // Epoch 3, just after the ids went round.
  const TransactionSnapshot snapshot = Parsed("12884901886:12884901900:12884901890");
  EXPECT_TRUE(HasEnded("4294967295", snapshot));
  // Just before they go round.
  EXPECT_FALSE(HasEnded("10", Parsed("4294967290:4294967290:")));
  EXPECT_FALSE(HasEnded("12", snapshot));
  EXPECT_TRUE(HasEnded("11", snapshot));
  EXPECT_TRUE(HasEnded("4294967290", Parsed("100:100:")));
}

TEST(EtagTest, WhatIsNoTransactionIsNotWaitedFor) {
  const TransactionSnapshot snapshot = Parsed("95:105:96");
  for (const char* etag : {"", "-", "two", "2", "99999999999"}) {
    EXPECT_TRUE(HasEnded(etag, snapshot)) << etag;
  }
}

}  // namespace
}  // namespace ttl::postgres
