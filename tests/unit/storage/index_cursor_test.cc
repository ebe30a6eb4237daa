#include "service/storage/engine/index_cursor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "service/storage/engine/database.h"
#include "service/storage/engine/storage_options.h"
#include "service/storage/format/key_codec.h"
#include "tests/testing/fault_env.h"

namespace ttl {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr IndexFamily kCursorFamily = IndexFamily::kTs;

class IndexCursorTest : public testing::Test {
 protected:
  IndexCursorTest() {
    StorageOptions options;
    options.directory = "/data";
    options.env = &env_;
    database_ = Database::Open(options).value();
    Put(EncodeIndexKey(7, kCursorFamily, 20, {"p", "b"}));
    Put(EncodeIndexKey(7, kCursorFamily, 20, {"p", "a"}));
    Put(EncodeIndexKey(7, kCursorFamily, 10, {"p", "z"}));
    // The entries before and behind the family.
    Put(EncodeIndexKey(7, IndexFamily::kExpireTime, 30, {"p", "x"}));
    Put(EncodeIndexKey(7, IndexFamily::kRetryTime, 5, {"p", "x"}));
    Put(EncodeIndexKey(8, kCursorFamily, 5, {"p", "x"}));
  }

  void Put(std::string key) { ASSERT_TRUE(database_->Write({{std::move(key), ""}}).ok()); }

  std::vector<std::string> IdsFrom(const IndexPlace& start) {
    std::vector<std::string> ids;
    IndexCursor cursor(*database_, 7, kCursorFamily, start);
    for (; cursor.Valid(); cursor.Next()) ids.push_back(cursor.entry().key.id);
    EXPECT_TRUE(cursor.status().ok()) << cursor.status();
    return ids;
  }

  FaultEnv env_;
  std::unique_ptr<Database> database_;
};

TEST_F(IndexCursorTest, ReadsOneFamilyInTheOrderOfTimeAndKey) {
  EXPECT_THAT(IdsFrom({}), ElementsAre("z", "a", "b"));
}

TEST_F(IndexCursorTest, StartsAtATimeOrAtAKey) {
  EXPECT_THAT(IdsFrom({11}), ElementsAre("a", "b"));
  EXPECT_THAT(IdsFrom({20, EncodeIndexKey(7, kCursorFamily, 20, {"p", "b"})}), ElementsAre("b"));
  EXPECT_THAT(IdsFrom({21}), ElementsAre());
}

TEST_F(IndexCursorTest, ThePlaceOfAnEntryLeadsBackToIt) {
  IndexCursor cursor(*database_, 7, kCursorFamily, {11});
  ASSERT_TRUE(cursor.Valid());
  const IndexPlace place = cursor.place();
  EXPECT_EQ(place.time, 20);
  EXPECT_EQ(cursor.Take().key.id, "a");
  EXPECT_EQ(cursor.entry().key.id, "b");
  EXPECT_THAT(IdsFrom(place), ElementsAre("a", "b"));
}

TEST_F(IndexCursorTest, AnUnreadableEntryEndsItWithDataLoss) {
  Put(IndexSeekKey(7, kCursorFamily, 15) + "?");
  IndexCursor cursor(*database_, 7, kCursorFamily, {});
  EXPECT_EQ(cursor.Take().key.id, "z");
  EXPECT_FALSE(cursor.Valid());
  EXPECT_TRUE(absl::IsDataLoss(cursor.status())) << cursor.status();
  EXPECT_THAT(cursor.status().message(), HasSubstr("index entry"));
}

}  // namespace
}  // namespace ttl
