// Commits that are gathered while the one before them is being written.
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/storage_for_test.h"
#include "tests/testing/wait.h"

namespace ttl {
namespace {

using ::testing::ElementsAre;

using Tracked = absl::StatusOr<std::vector<TrackOutcome>>;

class CommitQueueTest : public testing::Test {
 protected:
  CommitQueueTest() { number_ = storage_.Create("c", 60)->number; }
  ~CommitQueueTest() override { storage_.env().HoldSyncs(false); }

  static ItemReport Report(const std::string& id, int64_t ts, std::optional<uint64_t> sequence) {
    return {KeyOf(id), {{ts, {}}, "", sequence, 0}};
  }

  std::future<Tracked> StartTrack(std::vector<ItemReport> reports) {
    auto promise = std::make_shared<std::promise<Tracked>>();
    std::future<Tracked> future = promise->get_future();
    storage_->items().Track(number_, std::move(reports), AdoptionTerms(),
                            [promise](Tracked outcome) { promise->set_value(std::move(outcome)); });
    return future;
  }

  // A commit that waits for the disk from now on.
  std::future<Tracked> StartHeldTrack(std::vector<ItemReport> reports) {
    storage_.env().HoldSyncs(true);
    std::future<Tracked> held = StartTrack(std::move(reports));
    storage_.env().AwaitHeldSync();
    return held;
  }

  // The same as StartTrack(), and it is gathered when this returns: an item never heard
  // of is looked for in the database.
  std::future<Tracked> StartGatheredTrack(std::vector<ItemReport> reports) {
    reports.push_back(Report(absl::StrCat("new ", storage_->Counts().gets), kT, std::nullopt));
    const int64_t gets = storage_->Counts().gets;
    std::future<Tracked> gathered = StartTrack(std::move(reports));
    EXPECT_TRUE(WaitUntil([&] { return storage_->Counts().gets > gets; }));
    return gathered;
  }

  StorageForTest storage_;
  uint64_t number_ = 0;
};

TEST_F(CommitQueueTest, WhatIsGatheredDuringAWriteSeesWhatIsBeingWritten) {
  auto held = StartHeldTrack({Report("a", kT, 5), Report("b", kT, 5)});
  auto next = StartGatheredTrack({Report("a", kT, 4), Report("b", kT, 6), Report("b", kT, 5)});
  storage_.env().HoldSyncs(false);
  EXPECT_THAT(*held.get(), ElementsAre(TrackOutcome::kTracked, TrackOutcome::kTracked));
  EXPECT_THAT(*next.get(), ElementsAre(TrackOutcome::kStale, TrackOutcome::kTracked,
                                       TrackOutcome::kStale, TrackOutcome::kTracked));
  EXPECT_EQ(storage_.FindItem("c", "a")->version.sequence, 5);
  EXPECT_EQ(storage_.FindItem("c", "b")->version.sequence, 6);
  EXPECT_EQ(storage_.FindItem("c", "b")->generation, 2u);
}

// The index entry that the first one writes is the one that the second one moves: the
// invariants, checked at the end, would show an entry left behind.
TEST_F(CommitQueueTest, AnEntryBeingWrittenIsMovedByTheNextCommit) {
  auto held = StartHeldTrack({Report("a", kT + 1000, std::nullopt)});
  auto next = StartGatheredTrack({Report("a", kT + 1000, std::nullopt)});
  ItemReport earlier = Report("a", kT + 1000, std::nullopt);
  earlier.version.times.ttl = 5;
  auto last = StartTrack({earlier});
  storage_.env().HoldSyncs(false);
  EXPECT_TRUE(held.get().ok());
  EXPECT_TRUE(next.get().ok());
  EXPECT_TRUE(last.get().ok());
  EXPECT_THAT(storage_.DueIds("c", kT + 1005), testing::Contains("a"));
}

TEST_F(CommitQueueTest, WhatIsGatheredOnTopOfAWriteThatFailsFailsToo) {
  storage_.TrackOne("c", "a", kT, std::nullopt, 1);
  auto held = StartHeldTrack({Report("a", kT, 5)});
  auto next = StartGatheredTrack({Report("a", kT, 4), Report("b", kT, 1)});
  storage_.env().FailWrites(true);
  storage_.env().HoldSyncs(false);
  EXPECT_EQ(held.get().status().code(), absl::StatusCode::kUnavailable);
  // Not STALE either: it would be so by a report that was never taken.
  EXPECT_EQ(next.get().status().code(), absl::StatusCode::kUnavailable);
  storage_.env().FailWrites(false);
  storage_.FinishHousekeeping();
  EXPECT_FALSE(storage_.FindItem("c", "b").has_value());
  EXPECT_EQ(storage_.TrackOne("c", "b", kT, std::nullopt, 1), TrackOutcome::kTracked);
}

// The database is reopened while the callers of the failed commit are still being told.
TEST(CommitQueueReopenTest, NothingBuildsOnAFailedWriteAfterTheDatabaseIsReopened) {
  std::function<void()> on_reopened;
  StorageOptions options;
  options.log = [&](StorageOptions::LogLevel, absl::string_view line) {
    if (on_reopened && absl::StrContains(line, "was reopened")) on_reopened();
  };
  StorageForTest storage(options);
  const uint64_t number = storage.Create("c", 60)->number;
  storage.TrackOne("c", "a", kT, std::nullopt, 1);

  absl::Notification failed;
  absl::Notification told;
  storage.env().FailWrites(true);
  storage->items().Track(number, {{KeyOf("a"), {{kT + 9, {}}, "", 5, 0}}}, AdoptionTerms(),
                         [&](Tracked outcome) {
                           EXPECT_EQ(outcome.status().code(), absl::StatusCode::kUnavailable);
                           failed.Notify();
                           told.WaitForNotification();
                         });
  failed.WaitForNotification();
  storage.env().FailWrites(false);

  std::promise<Tracked> next;
  on_reopened = [&] {
    storage->items().Track(number, {{KeyOf("a"), {{kT + 4, {}}, "", 4, 0}}}, AdoptionTerms(),
                           [&](Tracked outcome) { next.set_value(std::move(outcome)); });
    // It is to be left alone until then, which shows in nothing.
    WaitUntil([&] { return storage->Figures().commits.queued_reports == 0; },
              absl::Milliseconds(200), absl::Milliseconds(1));
    told.Notify();
  };
  storage->RunHousekeeping();
  on_reopened = nullptr;
  // Not STALE: what it would be older than was refused.
  EXPECT_THAT(*next.get_future().get(), ElementsAre(TrackOutcome::kTracked));
  EXPECT_EQ(storage.FindItem("c", "a")->version.sequence, 4);
  EXPECT_EQ(storage.TrackOne("c", "b", kT), TrackOutcome::kTracked);
  storage.FinishHousekeeping();
}

TEST_F(CommitQueueTest, AChangeOfPolicyWaitsForTheWriteAndGoesBeforeLaterReports) {
  auto held = StartHeldTrack({Report("a", kT, std::nullopt)});
  auto deleted = std::make_shared<std::promise<absl::Status>>();
  storage_->containers().Delete("c", "", /*force=*/false, [deleted](const absl::Status& status) {
    deleted->set_value(status);
  });
  auto late = StartTrack({Report("b", kT, std::nullopt)});
  storage_.env().HoldSyncs(false);
  EXPECT_TRUE(held.get().ok());
  EXPECT_TRUE(deleted->get_future().get().ok());
  EXPECT_EQ(late.get().status().code(), absl::StatusCode::kNotFound);
}

TEST_F(CommitQueueTest, WhatIsQueuedIsCommittedBeforeTheEnd) {
  std::vector<std::future<Tracked>> all;
  all.push_back(StartHeldTrack({Report("first", kT, std::nullopt)}));
  for (int i = 0; i < 100; ++i) {
    all.push_back(StartTrack({Report(absl::StrCat(i), kT, std::nullopt)}));
  }
  storage_.env().HoldSyncs(false);
  storage_.Reopen();
  for (auto& tracked : all) EXPECT_TRUE(tracked.get().ok());
  EXPECT_TRUE(storage_.FindItem("c", "99").has_value());
}

}  // namespace
}  // namespace ttl
