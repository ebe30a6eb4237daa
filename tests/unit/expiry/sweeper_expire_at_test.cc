// Items that say when they end, and stores that do not know of that.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "tests/testing/sweep_harness.h"

namespace ttl {
namespace {

using ::testing::HasSubstr;

ItemVersion VersionWithEnd(int64_t ts, std::optional<int64_t> ttl,
                           std::optional<int64_t> expire_at) {
  ItemVersion version;
  version.times = {ts, ttl, expire_at};
  return version;
}

TEST(SweeperExpireAtTest, DeletesAtTheEndAndSaysByWhatItWasJudged) {
  SweepHarness h;
  h.storage.Create("c", 3600);
  h.Write("c", KeyOf("a"), VersionWithEnd(kStart, 7200, kStart + 100));
  EXPECT_EQ(h.SweepFor(absl::Seconds(99)), 0);
  EXPECT_EQ(h.SweepFor(absl::Seconds(2)), 1);
  EXPECT_EQ(h.store.Count("c"), 0);
  const v1::ExpiredItem sent = h.store.ReceivedDeletes().at(0).request.items(0);
  EXPECT_EQ(sent.ttl(), 7200);
  EXPECT_EQ(sent.expire_at(), kStart + 100);
  EXPECT_EQ(sent.expire_time(), kStart + 100);
  EXPECT_EQ(sent.effective_ttl(), 0);
  EXPECT_EQ(sent.ttl_source(), v1::TTL_SOURCE_ITEM_EXPIRE_AT);
}

// A write that moves the end but not `_ts`, and whose report is still on its way.
TEST(SweeperExpireAtTest, ADeleteIsConditionalOnIt) {
  SweepHarness h;
  h.storage.Create("c", 3600);
  for (const auto later : {std::optional<int64_t>(kStart + 5000), std::optional<int64_t>()}) {
    h.Write("c", KeyOf("a"), VersionWithEnd(kStart, std::nullopt, kStart - 1));
    h.store.Put("c", KeyOf("a"), VersionWithEnd(kStart, std::nullopt, later));
    h.SweepNow();
    EXPECT_EQ(h.store.Find("c", KeyOf("a"))->times.expire_at, later);
    EXPECT_EQ(h.storage.FindItem("c", "a")->version.times.expire_at, later) << "MODIFIED says it";
  }
  EXPECT_EQ(h.TallyOf("c").modified, 2);
}

TEST(SweeperExpireAtTest, AStoreThatDoesNotKnowItIsSentTheOthersOnly) {
  SweepHarness h;
  h.store.SetKnowsExpireAt(false);
  h.storage.Create("c", 60);
  for (int i = 0; i < 300; ++i) {
    h.Write("c", KeyOf(absl::StrCat("end", i)),
            VersionWithEnd(kStart, std::nullopt, kStart - 100 - i));
  }
  h.WriteMany("c", "due", 300, kStart - 70);
  EXPECT_EQ(h.SweepFor(absl::Seconds(100)), 300) << "those behind are not held back";
  EXPECT_EQ(h.store.Count("c"), 300);
  for (const auto& received : h.store.ReceivedDeletes()) {
    for (const v1::ExpiredItem& item : received.request.items()) EXPECT_FALSE(item.has_expire_at());
  }
  EXPECT_THAT(h.storage.FindItem("c", "end0")->last_error, HasSubstr("STORE_CAPABILITY_EXPIRE_AT"));
  EXPECT_EQ(h.storage.FindItem("c", "end0")->attempts, 0) << "it was not tried";
  EXPECT_FALSE(h.published.Store().knows_expire_at);

  h.store.SetKnowsExpireAt(true);
  EXPECT_EQ(h.SweepFor(absl::Minutes(16)), 300) << "nothing is lost";
  EXPECT_EQ(h.store.Count("c"), 0);
}

TEST(SweeperExpireAtTest, AtALowRateTheOthersWaitForNoneOfThem) {
  SweepHarness h;
  h.store.SetKnowsExpireAt(false);
  h.storage.Create("c", 60);
  for (int i = 0; i < 2000; ++i) {
    h.Write("c", KeyOf(absl::StrCat("end", i)),
            VersionWithEnd(kStart, std::nullopt, kStart - 100 - i));
  }
  h.WriteMany("c", "due", 10, kStart - 70);
  h.SetLimit(10);
  EXPECT_EQ(h.SweepFor(absl::Seconds(3)), 10);
  EXPECT_EQ(h.TallyOf("c").deleted, 10);
}

}  // namespace
}  // namespace ttl
