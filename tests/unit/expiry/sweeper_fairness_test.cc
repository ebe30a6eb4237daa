// Many containers, large ones beside small ones, and groups of items of one second.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "tests/testing/sweep_harness.h"

namespace ttl {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// B65: ten thousand containers, and one limit of 1000/s for all of them.
TEST(SweeperFairnessTest, TenItemsAmongTenThousandContainersAreDeletedWithinTwoIntervals) {
  SweepHarness h;
  h.SetLimit(1000);
  for (int i = 0; i < 10'000; ++i) h.storage.Create(absl::StrFormat("c%05d", i), -1);
  h.WriteMany("c00007", "due", 20'000, kStart - 100, 10);
  h.WriteMany("c05000", "due", 10, kStart - 50, 10);
  h.SweepFor(absl::Milliseconds(200));
  EXPECT_EQ(h.store.Count("c05000"), 0);
  for (int second = 0; second < 10; ++second) {
    h.Write("c09999", absl::StrCat("trickle", second), h.Now() - 10, 5);
    h.SweepFor(absl::Milliseconds(200));
    EXPECT_EQ(h.store.Count("c09999"), 0) << second;
    h.SweepFor(absl::Milliseconds(800));
  }
  EXPECT_GE(h.TallyOf("c00007").deleted, 9'500) << "the large one gets what is left";
}

TEST(SweeperFairnessTest, WithAllOfThemDueEveryContainerHasItsTurn) {
  SweepHarness h;
  h.SetLimit(1000);
  constexpr int kContainers = 100;
  for (int i = 0; i < kContainers; ++i) {
    const std::string id = absl::StrFormat("c%03d", i);
    h.storage.Create(id, -1);
    h.WriteMany(id, "due", i == 0 ? 5000 : 10, kStart - 100, 10);
  }
  // One batch of the large one, and ten items of each of the others.
  h.SweepFor(absl::Seconds(2));
  EXPECT_EQ(h.store.CountAll(), h.store.Count("c000"));
}

TEST(SweeperFairnessTest, ItemsOfOneSecondGoOnceEachWhateverThePageSize) {
  constexpr int64_t kGroup = 14;
  for (const int64_t page : {1, 7, 13, 14, 15}) {
    SweeperOptions options;
    options.batch_items = page;
    SweepHarness h(options);
    h.storage.Create("c", 100);
    h.WriteMany("c", "inherits", kGroup, kStart - 100);
    h.WriteMany("c", "own", kGroup, kStart - 50, 50);
    h.WriteMany("c", "later", kGroup, kStart - 99);
    EXPECT_EQ(h.SweepNow(), 2 * kGroup) << page;
    EXPECT_EQ(h.store.Count("c"), kGroup);
    h.SweepFor(absl::Seconds(1));
    EXPECT_EQ(h.TallyOf("c").sent, 3 * kGroup) << page;
    EXPECT_EQ(h.store.Count("c"), 0);
  }
}

TEST(SweeperFairnessTest, ADroppedOrReconfiguredContainerDisturbsNoOther) {
  SweepHarness h;
  h.SetLimit(1000);
  for (const std::string id : {"dropped", "changed", "other"}) {
    h.storage.Create(id, -1);
    h.WriteMany(id, "due", 2000, kStart - 100, 10);
  }
  h.SweepFor(absl::Seconds(1));
  ASSERT_TRUE(h.storage.Delete("dropped").ok());
  h.storage.SetDefaultTtl("changed", std::nullopt);
  const int64_t dropped = h.store.Count("dropped");
  const int64_t changed = h.store.Count("changed");
  const int64_t other = h.store.Count("other");
  h.SweepFor(absl::Seconds(1));
  EXPECT_EQ(h.store.Count("dropped"), dropped);
  EXPECT_EQ(h.store.Count("changed"), changed);
  EXPECT_NEAR(other - h.store.Count("other"), 1000, 101) << "it has the whole rate now";
}

// A part of the store that is too busy for hours, such as one partition of it.
TEST(SweeperFairnessTest, AnItemThatIsAlwaysThrottledBlocksNoOther) {
  SweepHarness h;
  h.storage.Create("c", -1);
  h.Write("c", "throttled", kStart - 200, 10);
  h.WriteMany("c", "due", 300, kStart - 100, 10);
  h.store.SetAfterDelete([](const auto& request, auto& response) {
    for (int i = 0; i < request.items_size(); ++i) {
      if (request.items(i).id() != "throttled") continue;
      response.mutable_results(i)->set_outcome(v1::DELETE_OUTCOME_THROTTLED);
    }
    return grpc::Status::OK;
  });
  h.SweepFor(absl::Seconds(5));
  h.WriteMany("c", "later", 300, kStart - 100, 10);
  h.SweepFor(absl::Minutes(5));
  EXPECT_THAT(h.storage.DueIds("c", kStart + 1000), ElementsAre("throttled"));
  EXPECT_EQ(h.storage.FindItem("c", "throttled")->attempts, 0);
  h.store.SetAfterDelete(nullptr);
  h.SweepFor(absl::Minutes(1));
  EXPECT_THAT(h.storage.DueIds("c", kStart + 1000), IsEmpty());
}

// B61: inflow above the limit, then none.
TEST(SweeperFairnessTest, ABacklogIsVisibleAndDrainsAtTheLimit) {
  SweepHarness h;
  h.SetLimit(1000);
  const ContainerPtr container = h.storage.Create("c", -1);
  for (int second = 0; second < 10; ++second) {
    h.WriteMany("c", absl::StrCat("s", second, "-"), 2000, h.Now() - 1, 1);
    h.SweepFor(absl::Seconds(1));
  }
  EXPECT_NEAR(h.store.Count("c"), 10'000, 101);
  h.SetLimit(2000);  // without a restart
  h.SweepFor(absl::Seconds(4));
  EXPECT_NEAR(h.store.Count("c"), 2000, 201);
  h.SweepFor(absl::Seconds(2));
  EXPECT_EQ(h.store.Count("c"), 0);
}

}  // namespace
}  // namespace ttl
