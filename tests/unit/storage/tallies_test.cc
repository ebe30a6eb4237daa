#include "service/storage/commit/tallies.h"

#include <gtest/gtest.h>

#include <atomic>
#include <limits>
#include <thread>

#include "absl/strings/str_cat.h"
#include "service/core/due_rules.h"
#include "service/core/policy_effect.h"
#include "service/storage/engine/database.h"
#include "service/storage/format/key_codec.h"
#include "tests/testing/storage_for_test.h"

namespace ttl {
namespace {

ItemReport Report(const std::string& id, const ItemTimes& times, int64_t bytes) {
  ItemReport report;
  report.key = KeyOf(id);
  report.version.times = times;
  report.version.size_bytes = bytes;
  return report;
}

// `count` inheriting items of one byte, one per second from kT on.
void Load(StorageForTest& storage, const std::string& id, int count) {
  std::vector<ItemReport> reports;
  for (int i = 0; i < count; ++i) {
    reports.push_back(Report(absl::StrCat(i), {kT + i, std::nullopt}, 1));
  }
  ASSERT_TRUE(storage.Track(id, std::move(reports)).ok());
}

TallyView View(StorageForTest& storage, const std::string& id) {
  return storage->tallies().View(storage.Find(id)->number);
}

int64_t Expired(StorageForTest& storage, const std::string& id, int64_t default_ttl, int64_t now) {
  return CountExpired(View(storage, id).histogram, {default_ttl, 0}, absl::FromUnixSeconds(now))
      .sum.items;
}

TEST(TalliesTest, FollowEveryKindOfChange) {
  StorageForTest storage;
  storage.Create("c", 100);
  EXPECT_TRUE(View(storage, "c").complete);
  EXPECT_EQ(View(storage, "c").tracked, ItemSum());

  ASSERT_TRUE(storage.Track("c", {Report("a", {kT, std::nullopt}, 10)}).ok());
  ASSERT_TRUE(storage.Track("c", {Report("b", {kT, 50}, 20)}).ok());
  ASSERT_TRUE(storage.Track("c", {Report("n", {kT, kNeverExpires}, 30)}).ok());
  EXPECT_EQ(View(storage, "c").tracked, (ItemSum{3, 60}));
  EXPECT_EQ(Expired(storage, "c", 100, kT + 99), 1);
  EXPECT_EQ(Expired(storage, "c", 100, kT + 100), 2);

  // Touched and grown; no longer with a ttl of its own; gone.
  ASSERT_TRUE(storage.Track("c", {Report("a", {kT + 7, std::nullopt}, 15)}).ok());
  ASSERT_TRUE(storage.Track("c", {Report("b", {kT + 8, std::nullopt}, 20)}).ok());
  storage.UntrackOne("c", "n", kT);
  EXPECT_EQ(View(storage, "c").tracked, (ItemSum{2, 35}));
  EXPECT_EQ(Expired(storage, "c", 100, kT + 107), 1);
  EXPECT_EQ(Expired(storage, "c", 100, kT + 108), 2);

  DeleteReport gone;
  gone.key = KeyOf("a");
  gone.generation = storage.FindItem("c", "a")->generation;
  storage.Apply("c", {gone});
  EXPECT_EQ(View(storage, "c").tracked, (ItemSum{1, 20}));
}

TEST(TalliesTest, OneCallMayChangeOneItemManyTimes) {
  StorageForTest storage;
  storage.Create("c", 100);
  ASSERT_TRUE(storage
                  .Track("c", {Report("a", {kT, std::nullopt}, 1), Report("a", {kT + 1, 5}, 2),
                               Report("a", {kT + 2, std::nullopt}, 4)})
                  .ok());
  EXPECT_EQ(View(storage, "c").tracked, (ItemSum{1, 4}));
  EXPECT_EQ(Expired(storage, "c", 100, kT + 101), 0);
  EXPECT_EQ(Expired(storage, "c", 100, kT + 102), 1);
}

TEST(TalliesTest, WhatIsRefusedOrStaleDoesNotCount) {
  StorageForTest storage;
  const uint64_t number = storage.Create("c", 100)->number;
  ASSERT_TRUE(storage.Track("c", {Report("a", {kT, std::nullopt}, 1)}).ok());
  ASSERT_TRUE(storage.Track("c", {Report("a", {kT - 1, std::nullopt}, 500)}).ok());
  EXPECT_EQ(View(storage, "c").tracked, (ItemSum{1, 1}));

  storage.env().FailWrites(true);
  EXPECT_FALSE(storage.Track("c", {Report("lost", {kT, std::nullopt}, 1)}).ok());
  EXPECT_EQ(storage->tallies().View(number).tracked, (ItemSum{1, 1}));
  storage.env().FailWrites(false);
  storage.FinishHousekeeping();
}

TEST(TalliesTest, TotalsAreStoredOnlyWhenTheyChange) {
  StorageForTest storage;
  storage.Create("c", 100);
  const auto puts = [&](const ItemReport& report) {
    const int64_t before = storage->Counts().puts;
    EXPECT_TRUE(storage.Track("c", {report}).ok());
    return storage->Counts().puts - before;
  };
  EXPECT_EQ(puts(Report("a", {kT, std::nullopt}, 10)), 3);      // item, entry, totals
  EXPECT_EQ(puts(Report("a", {kT + 1, std::nullopt}, 10)), 1);  // item
  EXPECT_EQ(puts(Report("a", {kT + 2, std::nullopt}, 11)), 2);  // item, totals
}

TEST(TalliesTest, SizesThatCannotBeDoNotOverflowTheSum) {
  StorageForTest storage;
  storage.Create("c", 10);
  constexpr int64_t kHuge = std::numeric_limits<int64_t>::max();
  ASSERT_TRUE(storage
                  .Track("c", {Report("a", {kT, std::nullopt}, kHuge),
                               Report("b", {kT, std::nullopt}, kHuge)})
                  .ok());
  EXPECT_EQ(View(storage, "c").tracked, (ItemSum{2, 2 * Tallies::kMaxItemBytes}));
  storage.UntrackOne("c", "a", kT);
  storage.UntrackOne("c", "b", kT);
  EXPECT_EQ(View(storage, "c").tracked, ItemSum());
}

TEST(TalliesTest, AnItemWhoseStateIsUnknownIsTrackedAndNeverExpires) {
  StorageForTest storage;
  storage.Create("c", 10);
  ASSERT_TRUE(storage.Track("c", {Report("a", {kT, std::nullopt}, 5)}).ok());
  DeleteReport report;
  report.key = KeyOf("a");
  report.generation = 1;
  report.kind = DeleteReport::Kind::kStateUnknown;
  report.retry_time = kT + 3600;
  storage.Apply("c", {report});
  EXPECT_EQ(View(storage, "c").tracked, (ItemSum{1, 5}));
  EXPECT_EQ(Expired(storage, "c", 10, kT + 10'000), 0);
  storage.Reopen();
  storage.FinishHousekeeping();
  EXPECT_EQ(Expired(storage, "c", 10, kT + 10'000), 0);
  storage.TrackOne("c", "a", kT);
  EXPECT_EQ(Expired(storage, "c", 10, kT + 10'000), 1);
}

TEST(TalliesTest, AfterAStartTotalsAreThereAtOnceAndTheSpreadIsCountedInSteps) {
  StorageForTest storage;
  storage.Create("c", 100);
  Load(storage, "c", 1200);
  storage.Reopen();
  EXPECT_EQ(View(storage, "c").tracked, (ItemSum{1200, 1200}));
  EXPECT_FALSE(View(storage, "c").complete);
  EXPECT_EQ(View(storage, "c").histogram.total().items, 0);

  const int64_t syncs = storage->Counts().syncs;
  for (const int64_t counted : {500, 1000, 1200}) {
    EXPECT_FALSE(View(storage, "c").complete);
    EXPECT_TRUE(storage->RunHousekeeping());
    EXPECT_EQ(View(storage, "c").histogram.total().items, counted);
    EXPECT_EQ(View(storage, "c").tracked, (ItemSum{1200, 1200}));
  }
  EXPECT_TRUE(View(storage, "c").complete);
  EXPECT_FALSE(storage->RunHousekeeping());
  EXPECT_EQ(storage->Counts().syncs, syncs);  // a look at items writes nothing
  EXPECT_EQ(Expired(storage, "c", 100, kT + 599), 500);
}

TEST(TalliesTest, ChangesDuringTheCountCountOnce) {
  StorageForTest storage;
  storage.Create("c", 100);
  Load(storage, "c", 1200);
  storage.Reopen();
  storage->RunHousekeeping();  // 500 items, in the order of their ids as text
  const auto change = [&](const std::string& kept, const std::string& gone) {
    ASSERT_TRUE(storage.Track("c", {Report(kept, {kT + 5000, 10}, 3)}).ok());
    ASSERT_TRUE(storage.Track("c", {Report(kept + "-new", {kT, 10}, 3)}).ok());
    storage.UntrackOne("c", gone, kT + 9999);
    ASSERT_TRUE(storage->CheckInvariants().ok());
  };
  change("0", "1");      // behind the walk
  change("998", "999");  // before it
  storage.FinishHousekeeping();
  EXPECT_TRUE(View(storage, "c").complete);
  EXPECT_EQ(View(storage, "c").tracked, View(storage, "c").histogram.total());
  EXPECT_EQ(View(storage, "c").tracked.items, 1200);
}

TEST(TalliesTest, ReportsAtTheSameTimeAsTheCountCountOnce) {
  StorageForTest storage;
  storage.Create("c", 100);
  Load(storage, "c", 5000);
  storage.Reopen();
  const uint64_t number = storage.Find("c")->number;
  std::atomic<bool> counted = false;
  std::thread reporter([&] {
    for (int i = 0; !counted || i < 100; ++i) {
      const std::string id = absl::StrCat(i * 37 % 6000);
      ASSERT_TRUE(storage.Track("c", {Report(id, {kT + 6000 + i, std::nullopt}, 2)}).ok());
      storage.UntrackOne("c", absl::StrCat(i * 41 % 6000), kT + 99'999);
    }
  });
  while (!storage->tallies().View(number).complete) storage->RunHousekeeping();
  counted = true;
  reporter.join();
  EXPECT_EQ(storage->CheckInvariants(), absl::OkStatus());
  EXPECT_EQ(View(storage, "c").tracked, View(storage, "c").histogram.total());
}

TEST(TalliesTest, AContainerDeletedDuringTheCountDisturbsNoOther) {
  StorageForTest storage;
  storage.Create("gone", 100);
  storage.Create("stays", 100);
  Load(storage, "gone", 1200);
  Load(storage, "stays", 1200);
  storage.Reopen();
  storage->RunHousekeeping();
  const uint64_t gone = storage.Find("gone")->number;
  ASSERT_TRUE(storage.Delete("gone").ok());
  EXPECT_EQ(storage->tallies().View(gone).tracked, ItemSum());
  storage.FinishHousekeeping();
  EXPECT_EQ(storage->tallies().View(gone).tracked, ItemSum());
  EXPECT_FALSE(storage->tallies().View(gone).complete);
  EXPECT_EQ(View(storage, "stays").histogram.total(), (ItemSum{1200, 1200}));
  storage.Create("gone", 100);
  EXPECT_EQ(View(storage, "gone").tracked, ItemSum());
  EXPECT_TRUE(View(storage, "gone").complete);
}

TEST(TalliesTest, AreCountedAnewAfterAFailedWrite) {
  StorageForTest storage;
  storage.Create("c", 100);
  Load(storage, "c", 700);
  storage.env().FailWrites(true);
  EXPECT_FALSE(storage.Track("c", {Report("x", {kT, std::nullopt}, 1)}).ok());
  storage.env().FailWrites(false);
  storage->RunHousekeeping();  // reopens, and counts a first step
  EXPECT_TRUE(storage->WriteHealth().ok());
  EXPECT_FALSE(View(storage, "c").complete);
  EXPECT_EQ(View(storage, "c").tracked.items, 700);
  storage.FinishHousekeeping();
  EXPECT_TRUE(View(storage, "c").complete);
  EXPECT_EQ(View(storage, "c").histogram.total(), (ItemSum{700, 700}));
}

// Data of a version that kept no totals, or whose totals are damaged.
TEST(TalliesTest, TotalsThatAreMissingOrUnreadableAreFoundOutByTheWalk) {
  const std::optional<std::string> records[] = {std::nullopt, "\xFF\xFF"};
  for (const std::optional<std::string>& stored : records) {
    StorageForTest storage;
    const uint64_t number = storage.Create("c", 100)->number;
    Load(storage, "c", 700);
    storage.Close();
    {
      StorageOptions options;
      options.directory = "/ttl";
      options.env = &storage.env();
      const auto database = Database::Open(options);
      ASSERT_TRUE(database.ok());
      ASSERT_TRUE((*database)->Write({{TotalsKey(number), stored}}).ok());
    }
    storage.Reopen();
    EXPECT_EQ(View(storage, "c").tracked.items, 0);
    EXPECT_FALSE(View(storage, "c").complete);
    storage->RunHousekeeping();
    ASSERT_TRUE(storage.Track("c", {Report("new", {kT, std::nullopt}, 9)}).ok());
    storage.FinishHousekeeping();
    EXPECT_EQ(View(storage, "c").tracked, (ItemSum{701, 709}));
    storage.Reopen();
    EXPECT_EQ(View(storage, "c").tracked, (ItemSum{701, 709}));
  }
}

}  // namespace
}  // namespace ttl
