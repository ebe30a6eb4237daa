#include "service/storage/holds.h"

#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "service/base/done.h"
#include "service/base/error_details.h"
#include "tests/testing/storage_for_test.h"

namespace ttl {
namespace {

using Results = std::vector<PlaceHoldResult>;

HoldRequest Request(const std::string& hold_id,
                    std::variant<ItemsByKey, ItemsOfPartition, AllItems> scope) {
  HoldRequest request;
  request.hold_id = hold_id;
  request.reason = "audit";
  request.scope = std::move(scope);
  return request;
}

ItemsByKey Keys(const std::vector<std::string>& ids) {
  ItemsByKey keys;
  for (const std::string& id : ids) keys.keys.push_back(KeyOf(id));
  return keys;
}

class HoldsTest : public testing::Test {
 protected:
  HoldsTest() { storage_.Create("c", 60); }

  uint64_t Number(const std::string& id = "c") { return storage_.Find(id)->number; }
  Holds& holds() { return storage_->holds(); }

  absl::StatusOr<PlacedHold> TryPlace(HoldRequest request, const std::string& container = "c") {
    return Await<absl::StatusOr<PlacedHold>>([&](auto done) {
      holds().Place(container, std::move(request), kTestNow, std::move(done));
    });
  }
  PlacedHold Place(HoldRequest request, const std::string& container = "c") {
    absl::StatusOr<PlacedHold> placed = TryPlace(std::move(request), container);
    EXPECT_TRUE(placed.ok()) << placed.status();
    return placed.ok() ? *std::move(placed) : PlacedHold();
  }
  absl::Status Release(const std::string& hold_id, int64_t now = kT,
                       const std::string& container = "c") {
    return Await<absl::Status>([&](auto done) {
      holds().Release(container, hold_id, absl::FromUnixSeconds(now), std::move(done));
    });
  }
  int64_t EndReached(int64_t now) {
    return *Await<absl::StatusOr<int64_t>>(
        [&](auto done) { holds().EndReached(absl::FromUnixSeconds(now), std::move(done)); });
  }
  int64_t SetAside(const std::string& id) {
    const uint64_t generation = storage_.FindItem("c", id)->generation;
    return *Await<absl::StatusOr<int64_t>>([&](auto done) {
      holds().SetAside(Number(), {{KeyOf(id), generation}}, std::move(done));
    });
  }
  template <typename Result>
  static auto ExpectOk() {
    return [](const Result& result) { EXPECT_TRUE(result.ok()); };
  }
  // Runs `submit`, which queues changes, while a commit waits for the disk.
  void InOneCommit(absl::FunctionRef<void()> submit) {
    storage_.env().HoldSyncs(true);
    storage_->containers().SetPauseOfAll(std::nullopt, ExpectOk<absl::Status>());
    storage_.env().AwaitHeldSync();
    submit();
    storage_.env().HoldSyncs(false);
    EXPECT_EQ(Release("h", kT, "none").code(), absl::StatusCode::kNotFound);  // behind all of them
  }
  bool IsHeld(const std::string& id) { return *holds().IsHeld(Number(), KeyOf(id)); }
  std::vector<std::string> Covering(const std::string& id, size_t limit = 100) {
    std::vector<std::string> ids;
    const auto covering = holds().Covering(Number(), KeyOf(id), limit);
    for (const HoldPtr& hold : *covering) ids.push_back(hold->hold_id);
    return ids;
  }

  StorageForTest storage_;
};

TEST_F(HoldsTest, EachScopeCoversItsItems) {
  struct Case {
    std::variant<ItemsByKey, ItemsOfPartition, AllItems> scope;
    bool covers_a, covers_b, covers_other_partition;
  };
  const ItemKey other = {"q", "a"};
  for (const Case& test :
       {Case{Keys({"a"}), true, false, false}, Case{ItemsOfPartition{"p"}, true, true, false},
        Case{AllItems(), true, true, true}}) {
    EXPECT_FALSE(IsHeld("a"));
    Place(Request("h", test.scope));
    EXPECT_EQ(IsHeld("a"), test.covers_a);
    EXPECT_EQ(IsHeld("b"), test.covers_b);
    EXPECT_EQ(*holds().IsHeld(Number(), other), test.covers_other_partition);
    EXPECT_TRUE(storage_.Find("c")->has_holds);
    EXPECT_TRUE(Release("h").ok());
    EXPECT_FALSE(storage_.Find("c")->has_holds);
  }
}

TEST_F(HoldsTest, AKeyIsNotTakenForOneThatItBegins) {
  Place(Request("h", Keys({"ab"})));
  EXPECT_TRUE(IsHeld("ab"));
  EXPECT_FALSE(IsHeld("a"));
  EXPECT_FALSE(IsHeld("abc"));
}

TEST_F(HoldsTest, PlaceTellsWhichItemsAreTracked) {
  storage_.TrackOne("c", "a", kT);
  const PlacedHold placed = Place(Request("h", Keys({"a", "b", "a"})));
  EXPECT_EQ(placed.results, (Results{PlaceHoldResult::kHeld, PlaceHoldResult::kNotTracked,
                                     PlaceHoldResult::kHeld}));
  EXPECT_EQ(placed.hold->key_count, 2);
}

TEST_F(HoldsTest, AnotherCallAddsKeysAndReplacesTheRest) {
  const uint64_t number = Place(Request("h", Keys({"a", "b"}))).hold->number;
  HoldRequest again = Request("h", Keys({"b", "d"}));
  again.reason = "court";
  again.author = "ops";
  again.until = absl::FromUnixSeconds(kT + 5);
  Place(again);
  const HoldPtr hold = holds().Find(Number(), "h");
  ASSERT_NE(hold, nullptr);
  EXPECT_EQ(hold->number, number);
  EXPECT_EQ(hold->key_count, 3);
  EXPECT_EQ(hold->reason, "court");
  EXPECT_EQ(hold->author, "ops");
  EXPECT_EQ(hold->until, again.until);
  EXPECT_TRUE(IsHeld("a") && IsHeld("b") && IsHeld("d"));
}

TEST_F(HoldsTest, AHoldKeepsItsScope) {
  Place(Request("keys", Keys({"a"})));
  Place(Request("partition", ItemsOfPartition{"p"}));
  EXPECT_EQ(ReasonOf(TryPlace(Request("keys", AllItems())).status()), "HOLD_SCOPE_DIFFERS");
  EXPECT_EQ(ReasonOf(TryPlace(Request("partition", ItemsOfPartition{"q"})).status()),
            "HOLD_SCOPE_DIFFERS");
  EXPECT_TRUE(TryPlace(Request("partition", ItemsOfPartition{"p"})).ok());
}

TEST_F(HoldsTest, WhatIsMissingIsNamed) {
  EXPECT_EQ(ReasonOf(TryPlace(Request("h", AllItems()), "none").status()), "CONTAINER_NOT_FOUND");
  EXPECT_EQ(ReasonOf(Release("h", kT, "none")), "CONTAINER_NOT_FOUND");
  EXPECT_EQ(ReasonOf(Release("h")), "HOLD_NOT_FOUND");
}

TEST_F(HoldsTest, AnItemIsFreeWhenTheLastOfItsHoldsEnds) {
  Place(Request("keys", Keys({"a"})));
  Place(Request("more keys", Keys({"a"})));
  Place(Request("partition", ItemsOfPartition{"p"}));
  Place(Request("all", AllItems()));
  EXPECT_EQ(Covering("a"), (std::vector<std::string>{"all", "keys", "more keys", "partition"}));
  EXPECT_EQ(Covering("a", 2), (std::vector<std::string>{"all", "keys"}));
  EXPECT_EQ(Covering("b"), (std::vector<std::string>{"all", "partition"}));
  for (const std::string hold : {"all", "keys", "partition", "more keys"}) {
    EXPECT_TRUE(IsHeld("a"));
    ASSERT_TRUE(Release(hold).ok());
  }
  EXPECT_FALSE(IsHeld("a"));
}

TEST_F(HoldsTest, HoldsOutliveARestart) {
  Place(Request("keys", Keys({"a"})));
  Place(Request("partition", ItemsOfPartition{"q"}));
  HoldRequest all = Request("all", AllItems());
  all.until = absl::FromUnixSeconds(kT + 100);
  Place(all, "c");
  ASSERT_TRUE(Release("all").ok());
  storage_.Reopen();
  EXPECT_TRUE(IsHeld("a"));
  EXPECT_FALSE(IsHeld("b"));
  EXPECT_TRUE(*holds().IsHeld(Number(), {"q", "x"}));
  EXPECT_EQ(holds().Find(Number(), "keys")->reason, "audit");
  EXPECT_EQ(holds().Find(Number(), "all"), nullptr);
  EXPECT_EQ(holds().Counts(Number()).holds, 2);
  EXPECT_EQ(holds().Counts(Number()).ending, 1);
}

TEST_F(HoldsTest, HoldsEndAtTheirTime) {
  HoldRequest request = Request("h", AllItems());
  request.until = absl::FromUnixSeconds(kT + 10);
  Place(request);
  EXPECT_EQ(EndReached(kT + 9), 0);
  EXPECT_TRUE(IsHeld("a"));
  request.until = absl::FromUnixSeconds(kT + 20);
  Place(request);
  EXPECT_EQ(EndReached(kT + 10), 0);
  EXPECT_EQ(EndReached(kT + 20), 1);
  EXPECT_FALSE(IsHeld("a"));
  EXPECT_EQ(EndReached(kT + 20), 0);
}

TEST_F(HoldsTest, AHoldOfTheSameNameCanBePlacedWhileTheOldOneIsClearedAway) {
  const uint64_t old_number = Place(Request("h", Keys({"a", "b"}))).hold->number;
  ASSERT_TRUE(Release("h").ok());
  const HoldPtr hold = Place(Request("h", Keys({"b"}))).hold;
  EXPECT_NE(hold->number, old_number);
  EXPECT_EQ(hold->key_count, 1);
  EXPECT_FALSE(IsHeld("a"));
  EXPECT_TRUE(IsHeld("b"));
  storage_.FinishHousekeeping();
  EXPECT_FALSE(IsHeld("a"));
  EXPECT_TRUE(IsHeld("b"));
  EXPECT_EQ(holds().Counts(Number()).ending, 0);
}

TEST_F(HoldsTest, ListsHoldsAndKeysInPages) {
  storage_.Create("b", 60);
  storage_.Create("d", 60);
  Place(Request("2", AllItems()), "b");
  Place(Request("1", AllItems()), "b");
  Place(Request("3", Keys({"x", "y", "z"})), "d");
  const auto ids = [](const std::vector<HoldPtr>& page) {
    std::vector<std::string> ids;
    for (const HoldPtr& hold : page) ids.push_back(hold->hold_id);
    return ids;
  };
  using Ids = std::vector<std::string>;
  EXPECT_EQ(ids(holds().List(0, "", "", 100)), (Ids{"1", "2", "3"}));
  EXPECT_EQ(ids(holds().List(0, "", "", 1)), (Ids{"1"}));
  EXPECT_EQ(ids(holds().List(0, "b", "1", 2)), (Ids{"2", "3"}));
  EXPECT_EQ(ids(holds().List(0, "b", "2", 2)), (Ids{"3"}));
  EXPECT_EQ(ids(holds().List(Number("b"), "", "1", 2)), (Ids{"2"}));
  EXPECT_EQ(ids(holds().List(Number("c"), "", "", 2)), (Ids{}));
  const HoldPtr by_key = holds().Find(Number("d"), "3");
  const HeldKeysPage first = *holds().ListKeys(*by_key, std::nullopt, 2);
  EXPECT_EQ(first.keys, (std::vector<ItemKey>{KeyOf("x"), KeyOf("y")}));
  ASSERT_TRUE(first.next.has_value());
  const HeldKeysPage rest = *holds().ListKeys(*by_key, first.next, 2);
  EXPECT_EQ(rest.keys, (std::vector<ItemKey>{KeyOf("z")}));
  EXPECT_FALSE(rest.next.has_value());
}

TEST_F(HoldsTest, OnlySoManyHoldsMayNameAKey) {
  for (size_t i = 0; i < Holds::kMaxHoldsPerKey; ++i) {
    holds().Place("c", Request(absl::StrCat(i), Keys({"a"})), kTestNow,
                  [](const auto& placed) { EXPECT_TRUE(placed.ok()) << placed.status(); });
  }
  EXPECT_EQ(ReasonOf(TryPlace(Request("one more", Keys({"b", "a"}))).status()), "TOO_MANY_HOLDS");
  EXPECT_FALSE(IsHeld("b"));
  EXPECT_EQ(holds().Counts(Number()).holds, static_cast<int64_t>(Holds::kMaxHoldsPerKey));
}

// --- Several changes in one commit ---

// The commit has them in no particular order, so there are several.
TEST_F(HoldsTest, HoldsPlacedAnewInTheCommitThatEndsTheirPredecessorsStand) {
  constexpr int kHolds = 8;
  const auto request = [](int i) {
    HoldRequest request = Request(absl::StrCat("partition ", i), ItemsOfPartition{"p"});
    if (i % 2 == 0) request = Request(absl::StrCat("all ", i), AllItems());
    return request;
  };
  for (int i = 0; i < kHolds; ++i) Place(request(i));
  InOneCommit([&] {
    for (int i = 0; i < kHolds; ++i) {
      holds().Release("c", request(i).hold_id, kTestNow, ExpectOk<absl::Status>());
      holds().Place("c", request(i), kTestNow, ExpectOk<absl::StatusOr<PlacedHold>>());
    }
  });
  EXPECT_EQ(Covering("a").size(), kHolds);
  for (int i = 0; i < kHolds; ++i) EXPECT_NE(holds().Find(Number(), request(i).hold_id), nullptr);
  EXPECT_EQ(holds().Counts(Number()).holds, kHolds);
  EXPECT_EQ(holds().Counts(Number()).on_all_items, kHolds / 2);
  EXPECT_TRUE(storage_.Find("c")->has_holds);
}

TEST_F(HoldsTest, AHoldOfAContainerThatReplacesADeletedOneInTheSameCommitIsListed) {
  Place(Request("h", AllItems()));
  InOneCommit([&] {
    storage_->containers().Delete("c", "", /*force=*/true, ExpectOk<absl::Status>());
    storage_->containers().Create("c", storage_.Find("c")->settings, kTestNow,
                                  ExpectOk<absl::StatusOr<ContainerPtr>>());
    holds().Place("c", Request("h", AllItems()), kTestNow, ExpectOk<absl::StatusOr<PlacedHold>>());
  });
  EXPECT_TRUE(IsHeld("a"));
  EXPECT_EQ(holds().List(0, "", "", 10).size(), 1);
  EXPECT_EQ(holds().Counts(Number()).holds, 1);
}

// --- Deletes in flight ---

TEST_F(HoldsTest, PlaceAwaitsTheDeletesThatAreOutAndNoLaterOnes) {
  storage_.TrackOne("c", "a", kT);
  storage_.TrackOne("c", "b", kT);
  const uint64_t generation = storage_.FindItem("c", "a")->generation;
  std::optional<DeleteGate::Pass> before = storage_->delete_gate().TryEnter(Number());
  std::promise<absl::StatusOr<PlacedHold>> promise;
  auto placed = promise.get_future();
  holds().Place("c", Request("h", Keys({"a", "b", "d"})), kTestNow,
                [&](absl::StatusOr<PlacedHold> result) { promise.set_value(std::move(result)); });
  while (!IsHeld("a")) std::this_thread::yield();
  // The gate is open, and whoever enters now sees the hold.
  std::optional<DeleteGate::Pass> later = storage_->delete_gate().TryEnter(Number());
  EXPECT_TRUE(later.has_value());
  EXPECT_EQ(placed.wait_for(std::chrono::milliseconds(20)), std::future_status::timeout);
  // The delete in flight has removed one of the items.
  storage_.Apply("c", {{.key = KeyOf("a"),
                        .generation = generation,
                        .kind = DeleteReport::Kind::kGone,
                        .current = {},
                        .retry_time = {},
                        .counts_as_attempt = false,
                        .error = ""}});
  before.reset();
  const absl::StatusOr<PlacedHold> result = placed.get();
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->results, (Results{PlaceHoldResult::kAlreadyDeleted, PlaceHoldResult::kHeld,
                                      PlaceHoldResult::kNotTracked}));
}

// --- Items set aside ---

TEST_F(HoldsTest, AnItemSetAsideIsNotScannedUntilItsHoldEnds) {
  storage_.TrackOne("c", "a", kT - 100);
  storage_.TrackOne("c", "b", kT - 100);
  Place(Request("h", Keys({"a"})));
  EXPECT_EQ(SetAside("a"), 1);
  EXPECT_EQ(SetAside("b"), 0);
  EXPECT_EQ(storage_.DueIds("c", kT), (std::vector<std::string>{"b"}));
  EXPECT_EQ(holds().Counts(Number()).items_set_aside, 1);
  ASSERT_TRUE(Release("h").ok());
  storage_.FinishHousekeeping();
  EXPECT_EQ(storage_.DueIds("c", kT), (std::vector<std::string>{"b", "a"}));
  EXPECT_EQ(holds().Counts(Number()).items_set_aside, 0);
  EXPECT_EQ(holds().Counts(Number()).ending, 0);
}

TEST_F(HoldsTest, AnItemOfTwoHoldsGoesFromOneToTheOther) {
  storage_.TrackOne("c", "a", kT - 100);
  Place(Request("1", Keys({"a"})));
  SetAside("a");
  Place(Request("2", ItemsOfPartition{"p"}));
  for (const std::string hold : {"1", "2"}) {
    EXPECT_EQ(storage_.DueIds("c", kT), std::vector<std::string>());
    EXPECT_EQ(holds().Counts(Number()).items_set_aside, 1);
    ASSERT_TRUE(Release(hold).ok());
    storage_.FinishHousekeeping();
  }
  EXPECT_EQ(storage_.DueIds("c", kT), (std::vector<std::string>{"a"}));
}

TEST_F(HoldsTest, AReleasedItemIsLateFromTheReleaseOn) {
  storage_.TrackOne("c", "a", kT - 10'000);
  storage_.TrackOne("c", "b", kT - 10'000);
  Place(Request("h", ItemsOfPartition{"p"}));
  SetAside("a");
  SetAside("b");
  ASSERT_TRUE(Release("h", kT).ok());
  storage_.FinishHousekeeping();
  const DueScan scan = storage_.Scan("c", kT + 5);
  ASSERT_EQ(scan.due.size(), 2);
  EXPECT_EQ(scan.due[0].due_time, kT);
  EXPECT_FALSE(scan.due[0].item.retry_time.has_value());
  const Container& container = *storage_.Find("c");
  const DueRule rule = ComputeDueRule(container.settings.policy, {}, kTestNow);
  EXPECT_EQ(*storage_->expiry_index().OldestDueTime(container, rule, kT + 5), kT);
  const auto backlog = storage_->expiry_index().CountDue(container, rule, kT + 5, 100);
  EXPECT_EQ(backlog->count, 2);
  EXPECT_EQ(backlog->oldest_due_time, kT);
}

TEST_F(HoldsTest, AnItemReleasedWhileTheClockIsFarAheadIsDueWhenItIsRight) {
  constexpr int64_t kYear = 365 * 24 * 3600;
  storage_.TrackOne("c", "a", kT - 100);
  Place(Request("h", Keys({"a"})));
  ASSERT_EQ(SetAside("a"), 1);
  ASSERT_TRUE(Release("h", kT + kYear).ok());
  storage_.FinishHousekeeping();
  EXPECT_EQ(storage_.DueIds("c", kT), (std::vector<std::string>{"a"}));
}

TEST_F(HoldsTest, ItemsOfAContainerThatWasHeldAsAWholeAreLateFromTheReleaseOn) {
  storage_.TrackOne("c", "a", kT - 10'000);
  Place(Request("h", AllItems()));
  EXPECT_TRUE(holds().HoldsAll(Number()));
  EXPECT_TRUE(storage_->FactsForDeletes(Number()).holds_all);
  EXPECT_EQ(SetAside("a"), 0);
  ASSERT_TRUE(Release("h", kT).ok());
  EXPECT_FALSE(storage_->FactsForDeletes(Number()).holds_all);
  EXPECT_EQ(storage_.Scan("c", kT + 5).due.at(0).due_time, kT);
}

TEST_F(HoldsTest, AnItemSetAsideThatIsWrittenReturnsToItsPlace) {
  storage_.TrackOne("c", "a", kT - 100);
  Place(Request("h", Keys({"a"})));
  SetAside("a");
  storage_.TrackOne("c", "a", kT + 1000);
  EXPECT_EQ(holds().Counts(Number()).items_set_aside, 0);
  EXPECT_EQ(storage_.DueIds("c", kT + 1059), std::vector<std::string>());
  EXPECT_EQ(storage_.DueIds("c", kT + 1060), (std::vector<std::string>{"a"}));
  SetAside("a");
  EXPECT_EQ(storage_.DueIds("c", kT + 1060), std::vector<std::string>());
  storage_.TrackOne("c", "a", kT + 1001, kNeverExpires);
  EXPECT_EQ(holds().Counts(Number()).items_set_aside, 0);
  storage_.TrackOne("c", "a", kT + 1002);
  EXPECT_EQ(storage_.DueIds("c", kT + 1062), (std::vector<std::string>{"a"}));
}

// The items due are those that are expired, less those set aside: none of these may be live.
TEST_F(HoldsTest, ItemsSetAsideThatAreWrittenDoNotCountAsSetAside) {
  constexpr int kRewritten = 1000;
  constexpr int kOthers = 500;
  for (int i = 0; i < kRewritten; ++i) storage_.TrackOne("c", absl::StrCat(i), kT - 100);
  Place(Request("h", ItemsOfPartition{"p"}));
  for (int i = 0; i < kRewritten; ++i) ASSERT_EQ(SetAside(absl::StrCat(i)), 1);
  for (int i = 0; i < kRewritten; ++i) storage_.TrackOne("c", absl::StrCat(i), kT);
  for (int i = 0; i < kOthers; ++i) storage_.TrackOne("c", absl::StrCat("o", i), kT - 100);
  const Container& container = *storage_.Find("c");
  const DueRule rule = ComputeDueRule(container.settings.policy, {}, kTestNow);
  const int64_t expired = storage_->tallies().FiguresOf(Number(), rule, kT).due.sum.items;
  EXPECT_EQ(expired - holds().Counts(Number()).items_set_aside, kOthers);
}

// That is what the alert of deletes that fail asks for.
TEST_F(HoldsTest, AnItemSetAsideAfterAFailedDeleteDoesNotCountAsFailing) {
  storage_.TrackOne("c", "a", kT - 100);
  DeleteReport report;
  report.key = KeyOf("a");
  report.generation = storage_.FindItem("c", "a")->generation;
  report.kind = DeleteReport::Kind::kRetryLater;
  report.retry_time = kT;
  report.counts_as_attempt = true;
  report.error = "refused";
  storage_.Apply("c", {report});
  EXPECT_EQ(storage_->tallies().Failing(Number()), 1);
  Place(Request("h", Keys({"a"})));
  ASSERT_EQ(SetAside("a"), 1);
  EXPECT_EQ(storage_->tallies().Failing(Number()), 0);
  ASSERT_TRUE(Release("h").ok());
  storage_.FinishHousekeeping();
  EXPECT_EQ(storage_->tallies().Failing(Number()), 1);
}

TEST_F(HoldsTest, UntrackedItemsLeaveTheHold) {
  storage_.TrackOne("c", "a", kT - 100);
  Place(Request("h", Keys({"a"})));
  SetAside("a");
  storage_.UntrackOne("c", "a", kT + 1);
  EXPECT_EQ(holds().Counts(Number()).items_set_aside, 0);
  EXPECT_TRUE(IsHeld("a"));
}

TEST_F(HoldsTest, ClearingAHoldAwayGoesOnAfterARestart) {
  constexpr int kItems = 1300;
  ItemsByKey keys;
  for (int i = 0; i < kItems; ++i) {
    storage_.TrackOne("c", absl::StrCat(i), kT - 100);
    keys.keys.push_back(KeyOf(absl::StrCat(i)));
    if (keys.keys.size() == kMaxHoldKeysPerCall) Place(Request("h", std::exchange(keys, {})));
  }
  Place(Request("h", keys));
  for (int i = 0; i < kItems; ++i) ASSERT_EQ(SetAside(absl::StrCat(i)), 1);
  ASSERT_TRUE(Release("h").ok());
  for (int steps = 0; holds().Counts(Number()).ending > 0; ++steps) {
    ASSERT_LT(steps, 100);
    EXPECT_EQ(storage_->CheckInvariants(), absl::OkStatus());
    storage_->RunHousekeeping();
    storage_.Reopen();
  }
  EXPECT_EQ(storage_.Scan("c", kT, 2 * kItems).due.size(), kItems);
  EXPECT_FALSE(IsHeld("7"));
}

// --- Containers ---

TEST_F(HoldsTest, AContainerWithHoldsIsDeletedOnlyByForce) {
  Place(Request("h", Keys({"a"})));
  EXPECT_EQ(ReasonOf(storage_.Delete("c")), "HOLDS_STAND");
  const uint64_t number = Number();
  EXPECT_TRUE(Await<absl::Status>([&](auto done) {
                storage_->containers().Delete("c", "", /*force=*/true, std::move(done));
              }).ok());
  EXPECT_FALSE(holds().HasHolds(number));
  EXPECT_TRUE(holds().List(0, "", "", 10).empty());
  // A successor has none of them, also when what is left of the old ones is erased.
  storage_.Create("c", 60);
  EXPECT_FALSE(IsHeld("a"));
  storage_.FinishHousekeeping();
  EXPECT_EQ(storage_->CheckInvariants(), absl::OkStatus());
  const std::string found = holds().Find(Number(), "h") == nullptr ? "" : "h";
  EXPECT_EQ(found, "");
}

TEST_F(HoldsTest, AContainerWithHoldsLosesItsIndexOnlyByForce) {
  storage_.TrackOne("c", "a", kT - 100);
  Place(Request("h", Keys({"a"})));
  SetAside("a");
  ContainerSettings settings;
  settings.indexing_mode = IndexingMode::kNone;
  EXPECT_EQ(ReasonOf(storage_.Update("c", settings).status()), "HOLDS_STAND");
  EXPECT_TRUE(Await<absl::StatusOr<ContainerPtr>>([&](auto done) {
                storage_->containers().Update(
                    "c", [settings](const Container&) { return settings; }, kTestNow,
                    absl::ZeroDuration(), /*force=*/true, std::move(done));
              }).ok());
  storage_.FinishHousekeeping();
  EXPECT_TRUE(IsHeld("a"));
  storage_.SetDefaultTtl("c", std::nullopt);
  settings.policy.default_ttl = 60;
  settings.indexing_mode = IndexingMode::kConsistent;
  ASSERT_TRUE(storage_.Update("c", settings).ok());
  storage_.FinishHousekeeping();
  EXPECT_EQ(storage_.DueIds("c", kT), (std::vector<std::string>{"a"}));
  EXPECT_EQ(holds().Counts(Number()).items_set_aside, 0);
}

TEST_F(HoldsTest, WatchersOfContainersHearWhetherHoldsStand) {
  const uint64_t before = storage_->containers().Revision();
  Place(Request("1", Keys({"a"})));
  EXPECT_EQ(storage_->containers().Revision(), before + 1);
  Place(Request("2", Keys({"a"})));
  ASSERT_TRUE(Release("1").ok());
  EXPECT_EQ(storage_->containers().Revision(), before + 1);
  ASSERT_TRUE(Release("2").ok());
  EXPECT_EQ(storage_->containers().Revision(), before + 2);
}

// --- Completeness ---

TEST_F(HoldsTest, WhereHoldsAreRequiredTheyMustBeAccepted) {
  ContainerSettings settings;
  settings.policy.default_ttl = 60;
  settings.requires_holds = true;
  ASSERT_TRUE(Await<absl::StatusOr<ContainerPtr>>([&](auto done) {
                storage_->containers().Create("r", settings, kTestNow, std::move(done));
              }).ok());
  const auto in_doubt = [this](const std::string& id) {
    const bool facts = storage_->FactsForDeletes(Number(id)).holds_in_doubt;
    EXPECT_EQ(holds().AreInDoubt(*storage_.Find(id)), facts);
    return facts;
  };
  EXPECT_TRUE(in_doubt("r"));
  EXPECT_FALSE(in_doubt("c"));
  ASSERT_TRUE(
      Await<absl::Status>([&](auto done) { holds().Accept("r", kTestNow, std::move(done)); }).ok());
  EXPECT_FALSE(in_doubt("r"));
  storage_.Reopen();
  EXPECT_FALSE(in_doubt("r"));
  // The holds of a container that was here before are known.
  ASSERT_TRUE(storage_.Update("c", settings).ok());
  EXPECT_FALSE(in_doubt("c"));
}

}  // namespace
}  // namespace ttl
