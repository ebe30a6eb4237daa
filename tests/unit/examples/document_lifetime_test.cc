// Reads, updates and replacements of documents around their expiry, as clients of the store see
// them. tests/field_reports.md explains the numbers.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>

#include "client/cpp/store/conditional_delete.h"
#include "tests/unit/examples/document_store_for_test.h"

namespace documentstore {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class DocumentLifetimeTest : public testing::Test, protected DocumentStoreForTest {};

// Field report B32.
TEST_F(DocumentLifetimeTest, ExpiredDocumentsAreInvisibleAndDoNotBlockTheirKeys) {
  const auto ghost = Put("a", 10);
  clocks.Advance(60);
  EXPECT_TRUE(absl::IsNotFound(Get("a").status()));
  EXPECT_THAT(QueryIds(), IsEmpty());
  const auto sweep = Sweep();
  const auto created = Create("a", 10);
  ASSERT_TRUE(created.ok()) << created.status();
  EXPECT_NE(created->etag(), ghost->etag());
  EXPECT_EQ(created->ts(), clocks.now());
  ASSERT_TRUE(ttl::DeleteExpiredItems(store().primary_store, sweep).ok());
  EXPECT_THAT(QueryIds(), ElementsAre("a"));
}

// Field report B36.
TEST_F(DocumentLifetimeTest, ExtendingAnExpiredDocumentDoesNotReviveIt) {
  ASSERT_TRUE(Put("a", 10).ok());
  clocks.Advance(60);
  EXPECT_TRUE(absl::IsNotFound(Touch("a").status()));
  EXPECT_TRUE(absl::IsNotFound(Replace("a", 3600).status()));
  EXPECT_TRUE(absl::IsNotFound(Replace("a", -1).status()));
  EXPECT_TRUE(absl::IsNotFound(Get("a").status()));
  ASSERT_TRUE(ttl::DeleteExpiredItems(store().primary_store, Sweep()).ok());
  EXPECT_EQ(CountStored(), 0);
}

// Field report B49.
TEST_F(DocumentLifetimeTest, AReplacedDocumentKeepsNothingOfItsOldTtl) {
  ASSERT_TRUE(Put("a", 60).ok());
  ASSERT_TRUE(Replace("a", std::nullopt).ok());
  clocks.Advance(3600);
  EXPECT_TRUE(Get("a").ok());
  EXPECT_EQ(Sweep().items_size(), 0);
}

// Field report B50.
TEST_F(DocumentLifetimeTest, AnUpdateMovesTheExpiry) {
  ASSERT_TRUE(Put("a", 60).ok());
  ASSERT_TRUE(Put("b", 60).ok());
  clocks.Advance(30);
  ASSERT_TRUE(Replace("a", -1).ok());
  ASSERT_TRUE(Replace("b", 3600).ok());
  clocks.Advance(70);
  EXPECT_EQ(Sweep().items_size(), 0);
  EXPECT_THAT(QueryIds(), ElementsAre("a", "b"));
}

}  // namespace
}  // namespace documentstore
