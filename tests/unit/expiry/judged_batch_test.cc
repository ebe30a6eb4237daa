#include "service/expiry/sweep/judged_batch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "service/core/container.h"
#include "service/core/due_rules.h"
#include "service/storage/expiry_index.h"

namespace ttl {
namespace {

using ::testing::ElementsAre;

constexpr BatchBounds kWideBounds = {1000, 1 << 20, true};
const absl::Time kNotAfter = absl::FromUnixSeconds(5005);

Container MakeContainer(std::optional<int64_t> default_ttl, int64_t delay_seconds = 0) {
  Container container;
  container.number = 7;
  container.id = "salesdb/orders";
  container.revision = 3;
  container.settings.policy = {default_ttl, delay_seconds};
  return container;
}

DueItem MakeItem(const std::string& id, int64_t ts, std::optional<int64_t> ttl) {
  DueItem item;
  item.key = {"p", id};
  item.item.version.times = {ts, ttl};
  item.item.version.etag = "etag-" + id;
  return item;
}

JudgedBatch Judge(const Container& container, std::vector<DueItem> due, absl::Time judged_at,
                  const BatchBounds& bounds = kWideBounds) {
  const DueRule rule =
      ComputeDueRule(container.settings.policy, container.replaced_policies, judged_at);
  return JudgeBatch(container, rule, std::move(due), bounds, judged_at, kNotAfter);
}

std::vector<std::string> Ids(const JudgedBatch& batch) {
  std::vector<std::string> ids;
  for (const v1::ExpiredItem& item : batch.request.items()) ids.push_back(item.id());
  return ids;
}

TEST(JudgedBatchTest, OnlyWhatIsExpiredAndDueNowGoesIn) {
  struct Case {
    std::optional<int64_t> default_ttl;
    int64_t delay;
    std::optional<int64_t> ttl;
    bool goes_in;
  };
  // Written at 4990, judged at 5000.
  const Case cases[] = {
      {std::nullopt, 0, 1, false},   // TTL is off
      {-1, 0, std::nullopt, false},  // never expires
      {-1, 0, 10, true},             // expired this second
      {-1, 0, 11, false},            // expires in the next one
      {10, 0, std::nullopt, true},   // inherits
      {11, 0, std::nullopt, false},  // inherits, a second to go
      {1, 0, -1, false},             // its own ttl counts
      {-1, 1, 10, false},            // expired, but the delay is not over
      {-1, 1, 9, true},
      {1, 0, 0, false},                    // not a legal ttl: kept
      {1, 0, int64_t{1} << 40, false},     // not a legal ttl: kept
      {1, 0, int64_t{2147483647}, false},  // the largest one
  };
  for (const Case& c : cases) {
    const JudgedBatch batch = Judge(MakeContainer(c.default_ttl, c.delay),
                                    {MakeItem("a", 4990, c.ttl)}, absl::FromUnixSeconds(5000));
    EXPECT_EQ(batch.items.size(), c.goes_in ? 1 : 0)
        << c.default_ttl.value_or(0) << " " << c.delay << " " << c.ttl.value_or(0);
  }
}

TEST(JudgedBatchTest, NotATickBeforeTheSecond) {
  const std::vector<DueItem> due = {MakeItem("a", 4990, 10)};
  const absl::Time expiry = absl::FromUnixSeconds(5000);
  EXPECT_TRUE(Judge(MakeContainer(-1), due, expiry - absl::Nanoseconds(1)).items.empty());
  EXPECT_EQ(Judge(MakeContainer(-1), due, expiry).items.size(), 1);
}

TEST(JudgedBatchTest, CarriesAllThatTheStoreHasToCompare) {
  const JudgedBatch batch = Judge(
      MakeContainer(10), {MakeItem("own", 4000, 60), MakeItem("inherits", 4000, std::nullopt)},
      absl::FromUnixSeconds(5000));
  const v1::DeleteItemsRequest& request = batch.request;
  EXPECT_EQ(request.container(), "salesdb/orders");
  EXPECT_EQ(request.container_incarnation(), 7u);
  EXPECT_EQ(request.policy_revision(), 3u);
  EXPECT_EQ(request.not_after().seconds(), 5005);
  ASSERT_EQ(request.items_size(), 2);
  const v1::ExpiredItem& own = request.items(0);
  EXPECT_EQ(own.partition_key(), "p");
  EXPECT_EQ(own.id(), "own");
  EXPECT_EQ(own.ts(), 4000);
  EXPECT_EQ(own.ttl(), 60);
  EXPECT_EQ(own.etag(), "etag-own");
  EXPECT_EQ(own.effective_ttl(), 60);
  EXPECT_EQ(own.ttl_source(), v1::TTL_SOURCE_ITEM);
  EXPECT_EQ(own.expire_time(), 4060);
  const v1::ExpiredItem& inherits = request.items(1);
  EXPECT_FALSE(inherits.has_ttl());
  EXPECT_EQ(inherits.effective_ttl(), 10);
  EXPECT_EQ(inherits.ttl_source(), v1::TTL_SOURCE_CONTAINER);
  EXPECT_EQ(inherits.expire_time(), 4010);
}

TEST(JudgedBatchTest, EtagsGoOnlyToStoresThatCompareThem) {
  BatchBounds bounds = kWideBounds;
  bounds.with_etags = false;
  const JudgedBatch batch =
      Judge(MakeContainer(-1), {MakeItem("a", 4000, 60)}, absl::FromUnixSeconds(5000), bounds);
  EXPECT_EQ(batch.request.items(0).etag(), "");
}

TEST(JudgedBatchTest, EndsAtTheBoundOfItemsOrBytes) {
  std::vector<DueItem> due;
  for (int i = 0; i < 9; ++i) {
    due.push_back(MakeItem(std::string(999, 'x') + std::to_string(i), 4000, 60));
  }
  const auto judge = [&due](const BatchBounds& bounds) {
    return Judge(MakeContainer(-1), due, absl::FromUnixSeconds(5000), bounds);
  };
  EXPECT_EQ(judge({9, 1 << 20, true}).items.size(), 9);
  EXPECT_EQ(judge({4, 1 << 20, true}).items.size(), 4);
  const JudgedBatch by_bytes = judge({9, 5000, true});
  EXPECT_EQ(by_bytes.items.size(), 2);  // of more than 2000 bytes each, etag included
  EXPECT_LE(by_bytes.request.ByteSizeLong(), 5000u);
  EXPECT_EQ(judge({9, 1, true}).items.size(), 1);  // never none
}

TEST(JudgedBatchTest, ItemsThatAreNotDueTakeNobodysPlace) {
  const std::vector<DueItem> due = {MakeItem("a", 4000, 60), MakeItem("rewritten", 4999, 60),
                                    MakeItem("b", 4000, 60), MakeItem("c", 4000, 60)};
  const JudgedBatch batch =
      Judge(MakeContainer(-1), due, absl::FromUnixSeconds(5000), {2, 1 << 20, true});
  EXPECT_THAT(Ids(batch), ElementsAre("a", "b"));
  EXPECT_EQ(batch.items[1].key.id, "b");
}

}  // namespace
}  // namespace ttl
