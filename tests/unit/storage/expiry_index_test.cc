#include "service/storage/expiry_index.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "service/storage/engine/database.h"
#include "service/storage/format/key_codec.h"
#include "tests/testing/storage_for_test.h"

namespace ttl {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

DeleteReport Gone(const std::string& id, uint64_t generation) {
  DeleteReport report;
  report.key = KeyOf(id);
  report.generation = generation;
  return report;
}

DeleteReport Retry(const std::string& id, uint64_t generation, int64_t retry_time) {
  DeleteReport report = Gone(id, generation);
  report.kind = DeleteReport::Kind::kRetryLater;
  report.retry_time = retry_time;
  report.counts_as_attempt = true;
  report.error = "locked";
  return report;
}

TEST(ExpiryIndexTest, FindsWhatIsDueFromItsSecondOn) {
  StorageForTest storage;
  storage.Create("c", 100);
  storage.TrackOne("c", "inherits", kT);
  storage.TrackOne("c", "own", kT, 50);
  storage.TrackOne("c", "never", kT, -1);
  EXPECT_THAT(storage.DueIds("c", kT + 49), IsEmpty());
  EXPECT_THAT(storage.DueIds("c", kT + 50), ElementsAre("own"));
  EXPECT_THAT(storage.DueIds("c", kT + 99), ElementsAre("own"));
  EXPECT_THAT(storage.DueIds("c", kT + 100), ElementsAre("own", "inherits"));
}

TEST(ExpiryIndexTest, LongestDueComesFirstAcrossFamilies) {
  StorageForTest storage;
  storage.Create("c", 10);
  storage.TrackOne("c", "third", kT + 5);       // due at 15
  storage.TrackOne("c", "first", kT, 8);        // due at 8
  storage.TrackOne("c", "second", kT);          // due at 10
  storage.TrackOne("c", "fourth", kT + 10, 7);  // due at 17
  EXPECT_THAT(storage.DueIds("c", kT + 100), ElementsAre("first", "second", "third", "fourth"));
  EXPECT_THAT(storage.Scan("c", kT + 100, 2).due, SizeIs(2));
  EXPECT_TRUE(storage.Scan("c", kT + 100, 2).more);
  EXPECT_FALSE(storage.Scan("c", kT + 100, 4).more);
}

TEST(ExpiryIndexTest, MovesOfADeadline) {
  struct Case {
    const char* name;
    ItemTimes first, second;
    int64_t not_due, due;
    int64_t index_writes;  // puts and deletes besides the item's own put
  };
  const Case cases[] = {
      {"later within the hour: the entry stays", {kT, 60}, {kT + 30, 60}, kT + 89, kT + 90, 0},
      {"later by more than an hour: it moves", {kT, 60}, {kT, 7200}, kT + 7199, kT + 7200, 2},
      {"later by half of a long ttl: it stays",
       {kT, 86400},
       {kT + 43200, 86400},
       kT + 129599,
       kT + 129600,
       0},
      {"later by more than half of it: it moves",
       {kT, 86400},
       {kT + 43201, 86400},
       kT + 129600,
       kT + 129601,
       2},
      {"earlier: it moves", {kT, 600}, {kT, 60}, kT + 59, kT + 60, 2},
      {"own to inherited: it moves", {kT, 60}, {kT + 1, {}}, kT + 100, kT + 101, 2},
      {"inherited to own: it moves", {kT, {}}, {kT + 1, 60}, kT + 60, kT + 61, 2},
      {"inherited, later within the hour: it stays", {kT, {}}, {kT + 9, {}}, kT + 108, kT + 109, 0},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    StorageForTest storage;
    storage.Create("c", 100);
    storage.TrackOne("c", "a", c.first.ts, c.first.ttl);
    const auto before = storage->Counts();
    storage.TrackOne("c", "a", c.second.ts, c.second.ttl);
    const auto after = storage->Counts();
    EXPECT_EQ(after.puts + after.deletes - before.puts - before.deletes - 1, c.index_writes);
    EXPECT_THAT(storage.DueIds("c", c.not_due), IsEmpty());
    EXPECT_THAT(storage.DueIds("c", c.due), ElementsAre("a"));
    storage.TrackOne("c", "a", c.second.ts, kNeverExpires);
    EXPECT_THAT(storage.DueIds("c", kT + 1'000'000), IsEmpty());
  }
}

// An item written thirty times in its time to live, with a scan after every write.
TEST(ExpiryIndexTest, ABusyItemCostsHardlyMoreThanOnePutPerWrite) {
  for (const bool own_ttl : {false, true}) {
    for (const int64_t ttl : {60, 3600, 7200, 10800, 86400, 30 * 86400}) {
      SCOPED_TRACE(absl::StrCat("ttl ", ttl, own_ttl ? " of its own" : " of its container"));
      StorageForTest storage;
      storage.Create("c", own_ttl ? -1 : ttl);
      const auto track = [&](int64_t ts) {
        storage.TrackOne("c", "a", ts, own_ttl ? std::optional(ttl) : std::nullopt);
        const DueScan scan = storage.Scan("c", ts);
        EXPECT_THAT(scan.due, IsEmpty());
        if (!scan.early.empty()) storage.Tidy("c", scan.early);
      };
      track(kT);
      const auto before = storage->Counts();
      constexpr int kWrites = 300;
      for (int64_t i = 1; i <= kWrites; ++i) track(kT + i * ttl / 30);
      const auto after = storage->Counts();
      EXPECT_LE(after.puts - before.puts, kWrites * 11 / 10);
      EXPECT_LE(after.deletes - before.deletes, kWrites / 15);
      EXPECT_THAT(storage.DueIds("c", kT + 11 * ttl - 1), IsEmpty());
      EXPECT_THAT(storage.DueIds("c", kT + 11 * ttl), ElementsAre("a"));
    }
  }
}

TEST(ExpiryIndexTest, AnEarlyEntryIsMovedWhenMetAndNotMetAgain) {
  StorageForTest storage;
  storage.Create("c", -1);
  storage.TrackOne("c", "a", kT, 60);
  storage.TrackOne("c", "a", kT + 50, 60);
  DueScan scan = storage.Scan("c", kT + 60);
  EXPECT_THAT(scan.due, IsEmpty());
  ASSERT_THAT(scan.early, SizeIs(1));
  EXPECT_EQ(storage.Tidy("c", scan.early), 1);
  EXPECT_THAT(storage.Scan("c", kT + 60).early, IsEmpty());
  EXPECT_THAT(storage.DueIds("c", kT + 110), ElementsAre("a"));
}

TEST(ExpiryIndexTest, TidyingWhatHasChangedMeanwhileDoesNoHarm) {
  StorageForTest storage;
  storage.Create("c", -1);
  storage.TrackOne("c", "a", kT, 60);
  storage.TrackOne("c", "a", kT + 50, 60);
  const DueScan scan = storage.Scan("c", kT + 60);
  storage.TrackOne("c", "a", kT + 55, 10);  // moved earlier: a new entry
  storage.Tidy("c", scan.early);
  EXPECT_THAT(storage.DueIds("c", kT + 65), ElementsAre("a"));
  storage.UntrackOne("c", "a", kT + 55);
  storage.Tidy("c", scan.early);
  EXPECT_THAT(storage.DueIds("c", kT + 1000), IsEmpty());
}

TEST(ExpiryIndexTest, AChangeOfDefaultTtlActsOnAllItemsAndTouchesNone) {
  StorageForTest storage;
  storage.Create("c", std::nullopt);
  for (int i = 0; i < 500; ++i) storage.TrackOne("c", absl::StrCat(i), kT);
  storage.TrackOne("c", "own", kT, 5);
  EXPECT_THAT(storage.DueIds("c", kT + 1000), IsEmpty());  // TTL is off

  const auto before = storage->Counts();
  storage.SetDefaultTtl("c", 60);
  storage.SetDefaultTtl("c", -1);
  const auto after = storage->Counts();
  EXPECT_LE(after.puts - before.puts, 4);
  EXPECT_EQ(after.deletes - before.deletes, 0);
  EXPECT_THAT(storage.DueIds("c", kT + 1000), ElementsAre("own"));
  storage.SetDefaultTtl("c", 60);
  EXPECT_THAT(storage.DueIds("c", kT + 1000), SizeIs(501));
}

TEST(ExpiryIndexTest, OutcomesAreAppliedOnlyIfNoReportCameMeanwhile) {
  StorageForTest storage;
  storage.Create("c", 10);
  storage.TrackOne("c", "a", kT);
  storage.TrackOne("c", "b", kT);
  const uint64_t judged = storage.FindItem("c", "a")->generation;
  storage.TrackOne("c", "a", kT);  // the same state once more: still a newer report
  EXPECT_EQ(storage.Apply("c", {Gone("a", judged), Gone("b", judged)}), 1);
  EXPECT_TRUE(storage.FindItem("c", "a").has_value());
  EXPECT_FALSE(storage.FindItem("c", "b").has_value());
}

// A store's clock can show anything.
TEST(ExpiryIndexTest, NothingIsDueBeforeTheBeginningOfTime) {
  StorageForTest storage;
  storage.Create("c", 10);
  storage.TrackOne("c", "inherits", kT);
  storage.TrackOne("c", "own", kT, 5);
  for (const int64_t now : {std::numeric_limits<int64_t>::min(), int64_t{-1}, int64_t{0}}) {
    const DueScan scan = storage.Scan("c", now);
    EXPECT_THAT(scan.due, IsEmpty()) << now;
    EXPECT_THAT(scan.early, IsEmpty()) << now;
    EXPECT_FALSE(scan.more) << now;
    const auto backlog =
        storage->expiry_index().CountDue(*storage.Find("c"), DueRule{10, 0}, now, 10);
    EXPECT_EQ(backlog->count, 0) << now;
  }
}

// Judged and sent; meanwhile a user deletes the item and makes another of the same key.
TEST(ExpiryIndexTest, TheOutcomeForADeadItemIsNotAppliedToItsNamesake) {
  for (const auto kind : {DeleteReport::Kind::kGone, DeleteReport::Kind::kModified,
                          DeleteReport::Kind::kStateUnknown, DeleteReport::Kind::kRetryLater}) {
    StorageForTest storage;
    storage.Create("c", 10);
    for (int life = 0; life < 3; ++life) {
      const int64_t ts = kT + 100 * life;
      storage.TrackOne("c", "a", ts);
      DeleteReport report = Gone("a", storage.FindItem("c", "a")->generation);
      report.kind = kind;
      report.current.times = {kT - 50, 10};
      storage.UntrackOne("c", "a", ts);
      storage.TrackOne("c", "a", ts + 50);
      EXPECT_EQ(storage.Apply("c", {report}), 0);
      EXPECT_EQ(storage.FindTimes("c", "a").value(), (ItemTimes{ts + 50, {}}));
      EXPECT_THAT(storage.DueIds("c", ts + 60), ElementsAre("a"));
    }
  }
}

// Damaged items stay where they are, so they gather at the front.
TEST(ExpiryIndexTest, DamagedItemsAtTheFrontDoNotUseUpEveryScan) {
  StorageForTest storage;
  const uint64_t number = storage.Create("c", 10)->number;
  std::vector<std::string> ids;
  for (int i = 0; i < 10; ++i) {
    ids.push_back(absl::StrCat("damaged", i));
    storage.TrackOne("c", ids.back(), kT + i / 3);
  }
  storage.TrackOne("c", "whole", kT + 5);
  const auto write = [&](absl::string_view garbage) {
    storage.Close();
    StorageOptions raw;
    raw.directory = "/ttl";
    raw.env = &storage.env();
    const auto database = *Database::Open(raw);
    WriteSet writes;
    for (const std::string& id : ids) {
      const std::string key = EncodeItemKey(number, KeyOf(id));
      const std::string bytes = **database->Get(key);
      writes.emplace_back(key, garbage.empty() ? bytes.substr(2) : absl::StrCat(garbage, bytes));
    }
    ASSERT_TRUE(database->Write(writes).ok());
  };
  write("\xFF\xFF");
  storage.Reopen();
  std::vector<std::string> found;
  for (int scan = 0; scan < 4 && found.empty(); ++scan) {
    for (const DueItem& due : storage.Scan("c", kT + 100, 10, /*max_examined=*/4).due) {
      found.push_back(due.key.id);
    }
  }
  EXPECT_THAT(found, ElementsAre("whole"));

  // Earlier entries are found all the same, and the damaged ones once they can be read.
  storage.TrackOne("c", "early", kT - 5);
  EXPECT_THAT(storage.DueIds("c", kT + 100), ElementsAre("early", "whole"));
  write("");
  storage.Reopen();
  EXPECT_THAT(storage.DueIds("c", kT + 100), SizeIs(12));
}

TEST(ExpiryIndexTest, AModifiedItemIsAdoptedEvenIfOlder) {
  StorageForTest storage;
  storage.Create("c", 10);
  storage.TrackOne("c", "a", kT);
  DeleteReport report = Gone("a", storage.FindItem("c", "a")->generation);
  report.kind = DeleteReport::Kind::kModified;
  report.current.times = {kT - 5, 100};
  EXPECT_EQ(storage.Apply("c", {report}), 1);
  EXPECT_EQ(storage.FindItem("c", "a")->version.times, (ItemTimes{kT - 5, 100}));
  EXPECT_THAT(storage.DueIds("c", kT + 94), IsEmpty());
  EXPECT_THAT(storage.DueIds("c", kT + 95), ElementsAre("a"));
}

TEST(ExpiryIndexTest, AFailedItemIsTriedAgainAtItsTimeAlsoAfterAReopening) {
  StorageForTest storage;
  storage.Create("c", 10);
  storage.TrackOne("c", "a", kT);
  storage.TrackOne("c", "b", kT);
  storage.Apply("c", {Retry("a", storage.FindItem("c", "a")->generation, kT + 500)});
  storage.Reopen();
  EXPECT_THAT(storage.DueIds("c", kT + 499), ElementsAre("b"));
  EXPECT_THAT(storage.DueIds("c", kT + 500), UnorderedElementsAre("a", "b"));
  EXPECT_EQ(storage.FindItem("c", "a")->attempts, 1);
  EXPECT_EQ(storage.FindItem("c", "a")->last_error, "locked");
  EXPECT_EQ(storage.FindItem("c", "a")->retry_time, kT + 500);

  storage.TrackOne("c", "a", kT + 600);  // a new version begins anew
  EXPECT_EQ(storage.FindItem("c", "a")->attempts, 0);
  EXPECT_THAT(storage.DueIds("c", kT + 600), ElementsAre("b"));
}

TEST(ExpiryIndexTest, WhatItWasModifiedToMayHaveToWaitForItsNextTry) {
  StorageForTest storage;
  storage.Create("c", 10);
  storage.TrackOne("c", "a", kT);
  storage.Apply("c", {Retry("a", 1, kT + 20)});
  DeleteReport report = Retry("a", storage.FindItem("c", "a")->generation, kT + 500);
  report.kind = DeleteReport::Kind::kModified;
  report.current.times = {kT - 5, 3};
  storage.Apply("c", {report});
  storage.Reopen();
  EXPECT_THAT(storage.DueIds("c", kT + 499), IsEmpty());
  EXPECT_THAT(storage.DueIds("c", kT + 500), ElementsAre("a"));
  EXPECT_EQ(storage.FindItem("c", "a")->version.times, (ItemTimes{kT - 5, 3}));
  EXPECT_EQ(storage.FindItem("c", "a")->attempts, 2);
  EXPECT_TRUE(storage->CheckInvariants().ok());
}

TEST(ExpiryIndexTest, WhatWasTriedBeforeJoinsTheEndOfTheQueue) {
  StorageForTest storage;
  storage.Create("c", 10);
  storage.TrackOne("c", "tried", kT);       // due first, at 10
  storage.TrackOne("c", "before", kT + 5);  // due at 15
  storage.TrackOne("c", "after", kT + 20);  // due at 30
  storage.Apply("c", {Retry("tried", 1, kT + 20)});
  EXPECT_THAT(storage.DueIds("c", kT + 100), ElementsAre("before", "tried", "after"));
  EXPECT_EQ(storage.Scan("c", kT + 100).due[1].due_time, kT + 10);
}

// All stuck items, by pages of `limit`, and how many pages it took.
std::pair<std::vector<std::string>, int> ListAllStuck(StorageForTest& storage, size_t limit) {
  std::vector<std::string> ids;
  std::optional<StuckPage::Position> position;
  for (int pages = 1;; ++pages) {
    const auto page = storage->expiry_index().ListStuck(*storage.Find("c"), position, limit);
    EXPECT_TRUE(page.ok()) << page.status();
    for (const StuckItem& item : page->items) ids.push_back(item.key.id);
    if (!page->next.has_value()) return {ids, pages};
    position = page->next;
  }
}

TEST(ExpiryIndexTest, StuckItemsAreListedInTheOrderOfTheirNextTry) {
  StorageForTest storage;
  storage.Create("c", 10);
  for (const char* id : {"a", "b", "c", "d", "well"}) storage.TrackOne("c", id, kT);
  storage.Apply("c", {Retry("a", 1, kT + 300), Retry("b", 1, kT + 100), Retry("d", 1, kT + 200),
                      Retry("c", 1, kT + 200)});
  storage.Apply("c", {Retry("b", 1, kT + 400)});
  const auto page = storage->expiry_index().ListStuck(*storage.Find("c"), std::nullopt, 10);
  ASSERT_TRUE(page.ok());
  EXPECT_FALSE(page->next.has_value());
  ASSERT_THAT(page->items, SizeIs(4));
  EXPECT_EQ(page->items[3].key, KeyOf("b"));
  EXPECT_EQ(page->items[3].attempts, 2);
  EXPECT_EQ(page->items[3].last_error, "locked");
  EXPECT_EQ(page->items[3].next_try_time, kT + 400);
  for (const size_t limit : {1, 2, 3, 4, 10}) {
    EXPECT_THAT(ListAllStuck(storage, limit).first, ElementsAre("c", "d", "a", "b")) << limit;
  }
  storage.TrackOne("c", "a", kT + 1);  // a new version has not failed
  EXPECT_THAT(ListAllStuck(storage, 10).first, ElementsAre("c", "d", "b"));
}

TEST(ExpiryIndexTest, ItemsThatOnlyWaitAreNotStuckAndLookingPastThemIsBoundedWork) {
  StorageForTest storage;
  storage.Create("c", 10);
  std::vector<ItemReport> reports;
  std::vector<DeleteReport> waiting;
  for (int i = 0; i < 12'000; ++i) {
    reports.push_back({KeyOf(absl::StrCat(i)), {{kT, {}}, "", {}, 0}});
    waiting.push_back(Retry(absl::StrCat(i), 1, kT + 100));
    waiting.back().counts_as_attempt = false;
    waiting.back().error.clear();
  }
  ASSERT_TRUE(storage.Track("c", std::move(reports)).ok());
  storage.Apply("c", waiting);
  storage.Apply("c", {Retry("77", 1, kT + 200)});
  const auto before = storage->Counts();
  ASSERT_TRUE(storage->expiry_index().ListStuck(*storage.Find("c"), std::nullopt, 10).ok());
  EXPECT_LE(storage->Counts().steps - before.steps, 5000);
  const auto [ids, pages] = ListAllStuck(storage, 10);
  EXPECT_THAT(ids, ElementsAre("77"));
  EXPECT_EQ(pages, 3);
}

TEST(ExpiryIndexTest, AContainerWithoutAnIndexHasNoStuckItems) {
  StorageForTest storage;
  storage.Create("c", std::nullopt, IndexingMode::kNone);
  EXPECT_THAT(ListAllStuck(storage, 10).first, IsEmpty());
}

TEST(ExpiryIndexTest, AFailedItemThatIsNoLongerDueGoesBackToItsFamily) {
  StorageForTest storage;
  storage.Create("c", 10);
  storage.TrackOne("c", "a", kT);
  storage.Apply("c", {Retry("a", 1, kT + 20)});
  storage.SetDefaultTtl("c", 1000);
  const DueScan scan = storage.Scan("c", kT + 20);
  EXPECT_THAT(scan.due, IsEmpty());
  EXPECT_EQ(storage.Tidy("c", scan.early), 1);
  EXPECT_THAT(storage.Scan("c", kT + 999).early, IsEmpty());
  EXPECT_THAT(storage.DueIds("c", kT + 1000), ElementsAre("a"));
}

TEST(ExpiryIndexTest, AnItemWhoseStateIsUnknownCountsAsUntrackedUntilTheNextReport) {
  StorageForTest storage;
  storage.Create("c", 10);
  storage.TrackOne("c", "a", kT);
  DeleteReport report = Gone("a", 1);
  report.kind = DeleteReport::Kind::kStateUnknown;
  report.retry_time = kT + 3600;
  storage.Apply("c", {report});
  EXPECT_EQ(*storage.FindTimes("c", "a"), std::nullopt);
  EXPECT_TRUE(storage.FindItem("c", "a")->state_unknown);
  EXPECT_EQ(storage.TrackOne("c", "a", kT - 100), TrackOutcome::kTracked);
  EXPECT_EQ(*storage.FindTimes("c", "a"), (ItemTimes{kT - 100, {}}));
}

TEST(ExpiryIndexTest, TheCostOfAScanFollowsWhatIsDueNotWhatWasDeleted) {
  StorageForTest storage;
  storage.Create("c", 10);
  std::vector<ItemReport> reports;
  for (int i = 0; i < 5000; ++i) {
    reports.push_back({KeyOf(absl::StrCat(i)), {{kT + i, {}}, "", {}, 0}});
  }
  ASSERT_TRUE(storage.Track("c", reports).ok());
  std::vector<DeleteReport> gone;
  for (const DueItem& item : storage.Scan("c", kT + 4509, 4500).due) {
    gone.push_back(Gone(item.key.id, item.item.generation));
  }
  ASSERT_THAT(gone, SizeIs(4500));
  storage.Apply("c", gone);
  storage.Scan("c", kT + 4509);  // finds the new front, over the tombstones
  const auto before = storage->Counts();
  EXPECT_THAT(storage.DueIds("c", kT + 4510), ElementsAre("4500"));
  EXPECT_LE(storage->Counts().steps - before.steps, 3);
}

// A seek to its end would walk what was erased from the front of its neighbour.
// Field report B83.
TEST(ExpiryIndexTest, AFamilyKnownToBeEmptyIsNotRead) {
  StorageForTest storage;
  storage.Create("c", 10);
  storage.TrackOne("c", "a", kT);
  storage.Scan("c", kT);
  const auto seeks = [&](auto look) {
    const int64_t before = storage->Counts().seeks;
    look();
    return storage->Counts().seeks - before;
  };
  const ContainerPtr c = storage.Find("c");
  const auto& index = storage->expiry_index();
  EXPECT_EQ(seeks([&] { EXPECT_THAT(storage.DueIds("c", kT + 10), ElementsAre("a")); }), 1);
  EXPECT_EQ(seeks([&] { EXPECT_EQ(index.CountDue(*c, {10, 0}, kT + 10, 5)->count, 1); }), 1);
  // Nor is one in which nothing is due yet.
  EXPECT_EQ(seeks([&] { EXPECT_EQ(index.CountDue(*c, {10, 0}, kT + 9, 5)->count, 0); }), 0);
  EXPECT_EQ(seeks([&] { EXPECT_EQ(*index.OldestDueTime(*c, {10, 0}, kT + 9), std::nullopt); }), 0);
  EXPECT_EQ(seeks([&] { EXPECT_TRUE(index.ListStuck(*c, std::nullopt, 5).ok()); }), 0);

  storage.TrackOne("c", "b", kT, 5);
  storage.Apply("c", {Retry("a", 1, kT + 7)});
  EXPECT_THAT(storage.DueIds("c", kT + 10), ElementsAre("b", "a"));
  EXPECT_EQ(index.ListStuck(*c, std::nullopt, 5)->items.size(), 1u);
}

TEST(ExpiryIndexTest, NextDueTimeCostsNoLookAndIsNeverLate) {
  StorageForTest storage;
  storage.Create("c", 10);
  const auto next = [&] {
    const ContainerPtr container = storage.Find("c");
    return storage->expiry_index().NextDueTime(*container, {10, 0});
  };
  storage.Scan("c", kT);
  EXPECT_EQ(next(), std::nullopt);
  storage.TrackOne("c", "a", kT + 100);
  EXPECT_EQ(next(), kT + 110);
  storage.TrackOne("c", "b", kT, 30);
  EXPECT_EQ(next(), kT + 30);
  storage.Reopen();
  EXPECT_LE(*next(), kT + 30);
}

TEST(ExpiryIndexTest, TheBacklogCountsWhatIsDueAndWhatWaitsForAnotherTry) {
  StorageForTest storage;
  storage.Create("c", 10);
  for (int i = 0; i < 5; ++i) storage.TrackOne("c", absl::StrCat(i), kT + i);
  storage.Apply("c", {Retry("0", 1, kT + 9000)});
  const auto count = [&](int64_t now, size_t limit) {
    return *storage->expiry_index().CountDue(*storage.Find("c"), {10, 0}, now, limit);
  };
  EXPECT_EQ(count(kT + 9, 100).count, 1);  // the failed one counts whenever it was due
  EXPECT_EQ(count(kT + 12, 100).count, 3);
  EXPECT_EQ(count(kT + 12, 100).oldest_due_time, kT + 10);
  EXPECT_EQ(count(kT + 100, 100).count, 5);
  EXPECT_FALSE(count(kT + 100, 5).is_lower_bound);
  EXPECT_EQ(count(kT + 100, 4).count, 4);
  EXPECT_TRUE(count(kT + 100, 4).is_lower_bound);
}

TEST(ExpiryIndexTest, TheOldestDueItemIsFoundWhereverItStands) {
  StorageForTest storage;
  storage.Create("c", 10);
  const auto oldest = [&](int64_t now) {
    return *storage->expiry_index().OldestDueTime(*storage.Find("c"), {10, 0}, now);
  };
  EXPECT_EQ(oldest(kT + 1000), std::nullopt);
  storage.TrackOne("c", "inherits", kT + 5);
  EXPECT_EQ(oldest(kT + 14), std::nullopt);
  EXPECT_EQ(oldest(kT + 15), kT + 15);
  storage.TrackOne("c", "own", kT, 12);
  EXPECT_EQ(oldest(kT + 15), kT + 12);
  storage.TrackOne("c", "failed", kT);
  storage.Apply("c", {Retry("failed", 3, kT + 9000)});
  EXPECT_EQ(oldest(kT + 15), kT + 10);
  storage.TrackOne("c", "never", kT, -1);
  EXPECT_EQ(oldest(kT + 15), kT + 10);
}

TEST(ExpiryIndexTest, EntriesThatStandTooEarlyAreNotTakenForTheOldest) {
  StorageForTest storage;
  storage.Create("c", 100);
  const auto oldest = [&](int64_t now) {
    return *storage->expiry_index().OldestDueTime(*storage.Find("c"), {100, 0}, now);
  };
  storage.TrackOne("c", "due", kT + 40);
  for (int i = 0; i < 20; ++i) storage.TrackOne("c", absl::StrCat(i), kT);
  for (int i = 0; i < 20; ++i) storage.TrackOne("c", absl::StrCat(i), kT + 90);
  EXPECT_EQ(oldest(kT + 150), kT + 140);
  // So many that not all are looked at: what is behind cannot be older than the last.
  for (int i = 20; i < 200; ++i) storage.TrackOne("c", absl::StrCat(i), kT + 30);
  for (int i = 20; i < 200; ++i) storage.TrackOne("c", absl::StrCat(i), kT + 90);
  const auto before = storage->Counts();
  EXPECT_EQ(oldest(kT + 150), kT + 130);
  EXPECT_LT(storage->Counts().steps - before.steps, 100);
}

TEST(ExpiryIndexTest, ManyItemsInOneSecondAreAllFoundWhateverThePageSize) {
  for (const size_t page : {1, 7, 50}) {
    StorageForTest storage;
    storage.Create("c", 10);
    for (int i = 0; i < 50; ++i) storage.TrackOne("c", absl::StrCat(i), kT);
    int deleted = 0;
    while (true) {
      std::vector<DeleteReport> gone;
      for (const DueItem& item : storage.Scan("c", kT + 10, page).due) {
        gone.push_back(Gone(item.key.id, item.item.generation));
      }
      if (gone.empty()) break;
      deleted += storage.Apply("c", gone);
    }
    EXPECT_EQ(deleted, 50) << page;
  }
}

}  // namespace
}  // namespace ttl
