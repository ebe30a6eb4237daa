#include "service/storage/items.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>

#include "absl/strings/str_cat.h"
#include "service/storage/commit/commit_queue.h"
#include "tests/testing/storage_for_test.h"

namespace ttl {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

TEST(ItemsTest, ReportsOfOneKeyAreOrderedBySequenceElseByTsElseTheLaterWins) {
  struct Case {
    const char* name;
    int64_t tracked_ts;
    std::optional<uint64_t> tracked_sequence;
    int64_t ts;
    std::optional<uint64_t> sequence;
    TrackOutcome want;
  };
  const Case cases[] = {
      {"newer ts", 10, {}, 11, {}, TrackOutcome::kTracked},
      {"same ts: later call wins", 10, {}, 10, {}, TrackOutcome::kTracked},
      {"older ts", 10, {}, 9, {}, TrackOutcome::kStale},
      {"newer sequence beats older ts", 10, 5, 9, 6, TrackOutcome::kTracked},
      {"older sequence beats newer ts", 10, 5, 11, 4, TrackOutcome::kStale},
      {"same sequence: later call wins", 10, 5, 10, 5, TrackOutcome::kTracked},
      {"only one has a sequence: ts decides", 10, 5, 9, {}, TrackOutcome::kStale},
      {"only the other has one: ts decides", 10, {}, 9, 6, TrackOutcome::kStale},
  };
  StorageForTest storage;
  storage.Create("c", 60);
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    storage.TrackOne("c", c.name, c.tracked_ts, {}, c.tracked_sequence);
    EXPECT_EQ(storage.TrackOne("c", c.name, c.ts, {}, c.sequence), c.want);
    const int64_t kept = c.want == TrackOutcome::kTracked ? c.ts : c.tracked_ts;
    EXPECT_EQ(storage.FindItem("c", c.name)->version.times.ts, kept);
  }
}

TEST(ItemsTest, AWriteWithoutTtlGoesBackToTheDefault) {
  StorageForTest storage;
  storage.Create("c", 60);
  storage.TrackOne("c", "a", 10, 5);
  EXPECT_EQ(storage.FindItem("c", "a")->version.times.ttl, 5);
  storage.TrackOne("c", "a", 11);
  EXPECT_EQ(storage.FindItem("c", "a")->version.times.ttl, std::nullopt);
}

TEST(ItemsTest, RemovalsOlderThanWhatIsTrackedAreStale) {
  StorageForTest storage;
  storage.Create("c", 60);
  storage.TrackOne("c", "a", 10);
  EXPECT_EQ(storage.UntrackOne("c", "a", 9), UntrackOutcome::kStale);
  EXPECT_TRUE(storage.FindItem("c", "a").has_value());
  EXPECT_EQ(storage.UntrackOne("c", "a", 10), UntrackOutcome::kUntracked);
  EXPECT_FALSE(storage.FindItem("c", "a").has_value());
  EXPECT_EQ(storage.UntrackOne("c", "a", 10), UntrackOutcome::kNotTracked);
}

TEST(ItemsTest, ARemovalOfUnknownTsIsOrderedByItsSequence) {
  StorageForTest storage;
  storage.Create("c", 60);
  constexpr int64_t kAnyTs = ItemRemoval::kNewerThanAnyTs;
  storage.TrackOne("c", "with", 10, {}, 5);
  EXPECT_EQ(storage.UntrackOne("c", "with", kAnyTs, 4), UntrackOutcome::kStale);
  EXPECT_EQ(storage.UntrackOne("c", "with", kAnyTs, 5), UntrackOutcome::kUntracked);
  storage.TrackOne("c", "without", 10);
  EXPECT_EQ(storage.UntrackOne("c", "without", kAnyTs, 4), UntrackOutcome::kUntracked);
}

TEST(ItemsTest, EntriesOfOneCallAreAppliedInOrder) {
  StorageForTest storage;
  storage.Create("c", 60);
  const auto outcomes = storage.Track("c", {{KeyOf("a"), {{10, {}}, "", {}, 0}},
                                            {KeyOf("a"), {{12, {}}, "", {}, 0}},
                                            {KeyOf("a"), {{11, {}}, "", {}, 0}}});
  ASSERT_TRUE(outcomes.ok());
  EXPECT_THAT(*outcomes,
              ElementsAre(TrackOutcome::kTracked, TrackOutcome::kTracked, TrackOutcome::kStale));
  EXPECT_EQ(storage.FindItem("c", "a")->version.times.ts, 12);
}

TEST(ItemsTest, WhatIsAcknowledgedIsThereAfterReopening) {
  StorageForTest storage;
  storage.Create("c", 60);
  storage.TrackOne("c", "a", 10, 5, 99);
  storage.Reopen();
  const auto item = storage.FindItem("c", "a");
  ASSERT_TRUE(item.has_value());
  EXPECT_EQ(item->version.times, (ItemTimes{10, 5}));
  EXPECT_EQ(item->version.sequence, 99u);
}

TEST(ItemsTest, AContainerThatIsGoneTakesNoReports) {
  StorageForTest storage;
  const uint64_t number = storage.Create("c", 60)->number;
  ASSERT_TRUE(storage.Delete("c").ok());
  const auto outcome = Await<absl::StatusOr<std::vector<TrackOutcome>>>([&](auto done) {
    storage->items().Track(number, {{KeyOf("a"), {{10, {}}, "", {}, 0}}}, AdoptionTerms(),
                           std::move(done));
  });
  EXPECT_EQ(outcome.status().code(), absl::StatusCode::kNotFound);
}

TEST(ItemsTest, TheSameKeyInTwoContainersOrPartitionsIsTwoItems) {
  StorageForTest storage;
  storage.Create("c", 60);
  storage.Create("d", 60);
  storage.TrackOne("c", "a", 10);
  storage.TrackOne("d", "a", 20);
  ASSERT_TRUE(storage.Track("c", {{{"other", "a"}, {{30, {}}, "", {}, 0}}}).ok());
  EXPECT_EQ(storage.FindItem("c", "a")->version.times.ts, 10);
  EXPECT_EQ(storage.FindItem("d", "a")->version.times.ts, 20);
}

TEST(ItemsTest, ListsPageByPageInTheOrderOfKeys) {
  StorageForTest storage;
  const uint64_t number = storage.Create("c", 60)->number;
  storage.Create("d", 60);
  storage.TrackOne("d", "z", 1);
  for (const char* id : {"b", "a", "ab", ""}) storage.TrackOne("c", id, 1);
  std::vector<std::string> seen;
  std::optional<ItemKey> after;
  while (true) {
    const auto page = storage->items().List(number, after, 1);
    ASSERT_TRUE(page.ok());
    if (page->empty()) break;
    ASSERT_THAT(*page, SizeIs(1));
    seen.push_back(page->front().first.id);
    after = page->front().first;
  }
  EXPECT_THAT(seen, ElementsAre("", "a", "ab", "b"));
}

TEST(ItemsTest, ABusyItemCostsOnePutPerWrite) {
  StorageForTest storage;
  storage.Create("c", 60);
  storage.TrackOne("c", "a", 1000, 600);
  const auto before = storage->Counts();
  for (int64_t ts = 1001; ts <= 1100; ++ts) storage.TrackOne("c", "a", ts, 600);
  const auto after = storage->Counts();
  EXPECT_EQ(after.puts - before.puts, 100);
  EXPECT_EQ(after.deletes - before.deletes, 0);
}

TEST(ItemsTest, WritesThatQueueUpShareAnFsync) {
  StorageForTest storage;
  const uint64_t number = storage.Create("c", 60)->number;
  const auto before = storage->Counts();
  constexpr int kWrites = 2000;
  std::atomic<int> acknowledged = 0;
  std::promise<void> all;
  for (int i = 0; i < kWrites; ++i) {
    storage->items().Track(number, {{KeyOf(absl::StrCat(i)), {{10, {}}, "", {}, 0}}},
                           AdoptionTerms(), [&](absl::StatusOr<std::vector<TrackOutcome>> outcome) {
                             EXPECT_TRUE(outcome.ok());
                             if (++acknowledged == kWrites) all.set_value();
                           });
  }
  all.get_future().wait();
  EXPECT_LT(storage->Counts().syncs - before.syncs, kWrites / 2);
}

TEST(ItemsTest, AFullQueueRefusesReportsAndLosesNone) {
  StorageOptions options;
  options.max_queued_writes = 10;
  StorageForTest storage(options);
  const uint64_t number = storage.Create("c", 60)->number;
  // The first operation holds the writing thread until all others are submitted. The
  // other thread takes what fits into one commit.
  std::promise<void> submitted;
  std::atomic<int> accepted = 0;
  std::atomic<int> refused = 0;
  std::shared_future<void> go = submitted.get_future().share();
  storage->sidecar_state().SaveStoreId("hold", [go](absl::Status) { go.wait(); });
  constexpr int kWrites = 3000;
  for (int i = 0; i < kWrites; ++i) {
    storage->items().Track(number, {{KeyOf(absl::StrCat(i)), {{10, {}}, "", {}, 0}}},
                           AdoptionTerms(), [&](absl::StatusOr<std::vector<TrackOutcome>> outcome) {
                             if (outcome.ok()) {
                               ++accepted;
                             } else {
                               EXPECT_EQ(outcome.status().code(),
                                         absl::StatusCode::kResourceExhausted);
                               ++refused;
                             }
                           });
  }
  // Policy changes have places of their own.
  std::promise<absl::Status> paused;
  storage->containers().SetPauseOfAll(Pause{"r", kTestNow},
                                      [&](absl::Status status) { paused.set_value(status); });
  submitted.set_value();
  EXPECT_TRUE(paused.get_future().get().ok());
  storage.Reopen();  // drains the queue
  EXPECT_EQ(accepted + refused, kWrites);
  EXPECT_GE(refused, kWrites - static_cast<int>(CommitQueue::kMaxOperationsPerCommit) - 2 * 10);
  const auto items = storage->items().List(number, std::nullopt, kWrites);
  EXPECT_EQ(static_cast<int>(items->size()), accepted);
}

}  // namespace
}  // namespace ttl
