// The rate of deletes and the turns of containers, counted at the store.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "tests/testing/rate_bound.h"
#include "tests/testing/sweep_harness.h"
#include "tests/testing/wait.h"

namespace ttl {
namespace {

// What arrived for `container`, or for all if it is empty.
std::vector<DeleteBatch> Arrivals(const FakePrimaryStore& store,
                                  const std::string& container = "") {
  std::vector<DeleteBatch> arrivals;
  for (const auto& received : store.ReceivedDeletes()) {
    if (!container.empty() && received.request.container() != container) continue;
    arrivals.push_back({received.at - kTestNow, received.request.items_size()});
  }
  return arrivals;
}

void SetRate(SweepHarness& h, const std::string& container, std::optional<double> rate) {
  ContainerSettings settings = h.storage.Find(container)->settings;
  settings.max_deletes_per_second = rate;
  ASSERT_TRUE(h.storage.Update(container, settings).ok());
}

// B57: a backlog from a long stop, and the limit from the first second.
TEST(SweeperRateTest, NoWindowGetsMoreThanRateTimesWindowPlusOneBatch) {
  for (const double rate : {0.5, 3.0, 50.0, 1000.0}) {
    SweepHarness h;
    h.SetLimit(rate);
    h.storage.Create("c", -1);
    h.WriteMany("c", "due", 4000, kStart - 21'600, 10);
    const int64_t sent = h.SweepFor(absl::Seconds(3));
    const double batch = std::max(1.0, rate * 0.1);
    EXPECT_LE(WorstExcess(Arrivals(h.store), rate), batch + 1e-6) << rate;
    EXPECT_LE(sent, rate * 3 + batch);
    EXPECT_GE(sent, rate * 3 - batch) << "the rate is not used";
  }
}

// Waits until what was sent has arrived, so that time that passes from then on is after its
// arrival.
void AwaitArrivals(SweepHarness& h) {
  int64_t sent = 0;
  for (const ContainerPtr& container : h.storage->containers().All()) {
    sent += h.published.View(container->number).deletes.tally.sent;
  }
  EXPECT_TRUE(WaitUntil([&] {
    int64_t arrived = 0;
    for (const DeleteBatch& batch : Arrivals(h.store)) arrived += batch.items;
    return arrived == sent;
  }));
}

// Time passes within a step, at each commit, such as that of early entries that a scan has moved. A
// batch whose tokens were taken at another time than that of sending, or which went because the
// time of the head of line had come, shows as an excess at the store.
TEST(SweeperRateTest, NoBatchGoesWithoutTokensWhileTimePassesWithinAStep) {
  for (const int milliseconds : {1, 30, 70}) {
    SweepHarness h;
    h.SetLimit(1000);
    for (int i = 0; i < 40; ++i) {
      const std::string container = absl::StrCat("c", i);
      h.storage.Create(container, -1);
      h.WriteMany(container, "due", 1 + (i * 37 + 11) % 250, kStart - 1000, 10);
      h.WriteMany(container, "rewritten", 5, kStart - 1000, 10);
      h.WriteMany(container, "rewritten", 5, kStart + 600, 10);
    }
    h.storage.env().BeforeEachSync([&h, milliseconds] {
      AwaitArrivals(h);
      h.clock.Advance(absl::Milliseconds(milliseconds));
    });
    EXPECT_GE(h.SweepFor(absl::Seconds(20)), 1000);
    EXPECT_LE(WorstExcess(Arrivals(h.store), 1000), 100 + 1e-6) << milliseconds;
    h.storage.env().BeforeEachSync(nullptr);
  }
}

TEST(SweeperRateTest, ARestartGivesNoMoreThanOneBatchAway) {
  SweepHarness h;
  h.SetLimit(100);
  h.storage.Create("c", -1);
  h.WriteMany("c", "due", 500, kStart - 100, 10);
  h.SweepFor(absl::Seconds(1));
  const int64_t before = h.store.Count("c");
  h.Restart();
  EXPECT_EQ(h.SweepNow(), 10);
  EXPECT_EQ(h.store.Count("c"), before - 10);
}

TEST(SweeperRateTest, EachContainerKeepsToItsOwnRate) {
  SweeperOptions options;
  options.container_max_deletes_per_second = 20;
  SweepHarness h(options);
  for (const std::string container : {"a", "b", "c"}) {
    h.storage.Create(container, -1);
    h.WriteMany(container, "due", 1000, kStart - 100, 10);
  }
  SetRate(h, "b", 100);
  SetRate(h, "c", 0.5);
  h.SweepFor(absl::Seconds(4));
  EXPECT_LE(WorstExcess(Arrivals(h.store, "a"), 20), 2 + 1e-6);
  EXPECT_LE(WorstExcess(Arrivals(h.store, "b"), 100), 10 + 1e-6);
  EXPECT_LE(WorstExcess(Arrivals(h.store, "c"), 0.5), 1 + 1e-6);
  EXPECT_NEAR(h.TallyOf("a").sent, 80, 4);
  EXPECT_NEAR(h.TallyOf("b").sent, 400, 20);
  EXPECT_NEAR(h.TallyOf("c").sent, 3, 1);
}

TEST(SweeperRateTest, AChangedRateActsWithinOneBatch) {
  SweepHarness h;
  h.storage.Create("c", -1);
  SetRate(h, "c", 1000);
  h.WriteMany("c", "due", 5000, kStart - 100, 10);
  h.SweepFor(absl::Seconds(1));
  SetRate(h, "c", 10);
  const int64_t before = h.TallyOf("c").sent;
  h.SweepFor(absl::Seconds(2));
  EXPECT_LE(h.TallyOf("c").sent - before, 21);
  SetRate(h, "c", 1000);
  h.SweepFor(absl::Seconds(1));
  EXPECT_GE(h.TallyOf("c").sent - before, 900);
}

TEST(SweeperRateTest, ALimitThatIsRaisedIsNotWaitedFor) {
  SweepHarness h;
  h.SetLimit(0.001);
  for (const std::string container : {"a", "b"}) {
    h.storage.Create(container, -1);
    h.WriteMany(container, "due", 100, kStart - 100, 10);
  }
  h.SweepFor(absl::Seconds(10));
  EXPECT_LE(h.TallyOf("a").sent + h.TallyOf("b").sent, 2);
  h.SetLimit(1000);
  h.SweepFor(absl::Milliseconds(1500));
  EXPECT_EQ(h.store.CountAll(), 0);
  SetRate(h, "a", 0.001);
  h.WriteMany("a", "more", 100, kStart - 100, 10);
  h.SweepFor(absl::Seconds(10));
  SetRate(h, "a", std::nullopt);
  h.SweepFor(absl::Milliseconds(500));
  EXPECT_EQ(h.store.CountAll(), 0);
}

// B67: zero means none, and says so; nothing spins.
TEST(SweeperRateTest, ARateOfZeroDeletesNothing) {
  SweepHarness h;
  h.storage.Create("c", -1);
  h.WriteMany("c", "due", 10, kStart - 100, 10);
  SetRate(h, "c", 0);
  EXPECT_EQ(h.SweepFor(absl::Seconds(30)), 0);
  EXPECT_GT(h.Step().wait, absl::ZeroDuration());
  SetRate(h, "c", std::nullopt);
  EXPECT_EQ(h.SweepNow(), 10);

  h.SetLimit(0);
  h.WriteMany("c", "due", 10, kStart - 100, 10);
  EXPECT_EQ(h.SweepFor(absl::Seconds(30)), 0);
}

TEST(SweeperRateTest, WaitingForTheRateIsShown) {
  SweepHarness h;
  const uint64_t number = h.storage.Create("c", -1)->number;
  SetRate(h, "c", 1);
  h.WriteMany("c", "due", 2, kStart - 100, 10);
  h.SweepNow();
  EXPECT_TRUE(h.published.View(number).pace.waiting_for_rate);
  h.SweepFor(absl::Seconds(3));
  EXPECT_FALSE(h.published.View(number).pace.waiting_for_rate);
}

// B65, small: the large one does not starve the others.
TEST(SweeperRateTest, SmallBacklogsAreDeletedWithinTwoRounds) {
  SweepHarness h;
  h.SetLimit(1000);
  for (const std::string container : {"a-large", "b-ten", "c-trickle"}) {
    h.storage.Create(container, -1);
  }
  h.WriteMany("a-large", "due", 20'000, kStart - 100, 10);
  h.WriteMany("b-ten", "due", 10, kStart - 50, 10);
  h.SweepFor(absl::Milliseconds(300));
  EXPECT_EQ(h.store.Count("b-ten"), 0);
  for (int i = 0; i < 20; ++i) {
    h.Write("c-trickle", absl::StrCat("t", i), h.Now() - 10, 5);
    h.SweepFor(absl::Milliseconds(250));
    EXPECT_EQ(h.store.Count("c-trickle"), 0) << i;
  }
  // The large one gets what is left.
  EXPECT_GE(h.TallyOf("a-large").deleted, 4500);
  EXPECT_LE(WorstExcess(Arrivals(h.store), 1000), 100 + 1e-6);
}

TEST(SweeperRateTest, ContainersThatWaitForTheRateOfAllKeepTheirTurn) {
  SweepHarness h;
  h.SetLimit(2);
  for (const std::string container : {"a", "b", "c", "d", "e"}) {
    h.storage.Create(container, -1);
    h.WriteMany(container, "due", 100, kStart - 100, 10);
  }
  h.SweepFor(absl::Seconds(50));
  for (const std::string container : {"a", "b", "c", "d", "e"}) {
    EXPECT_NEAR(h.TallyOf(container).sent, 20, 2) << container;
  }
}

TEST(SweeperRateTest, BatchesKeepToTheStoresLimit) {
  SweepHarness h;
  h.store.SetMaxBatchItems(7);
  h.storage.Create("c", -1);
  h.WriteMany("c", "due", 50, kStart - 100, 10);
  h.SweepNow();
  EXPECT_EQ(h.store.Count("c"), 0);
  for (const DeleteBatch& batch : Arrivals(h.store)) EXPECT_LE(batch.items, 7);
}

TEST(SweeperRateTest, BatchesKeepToAMebibyte) {
  SweepHarness h;
  h.storage.Create("c", -1);
  for (int i = 0; i < 450; ++i) {
    ItemVersion version;
    version.times = {kStart - 100, 10};
    h.Write("c", {std::string(2048, 'p'), absl::StrCat(std::string(1000, 'i'), i)}, version);
  }
  h.SweepNow();
  EXPECT_EQ(h.store.Count("c"), 0);
  EXPECT_EQ(h.store.ReceivedDeletes().size(), 2u);
  for (const auto& received : h.store.ReceivedDeletes()) {
    EXPECT_LE(received.request.ByteSizeLong(), size_t{1} << 20);
  }
}

}  // namespace
}  // namespace ttl
