#include "service/core/delete_holds.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ttl {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const absl::Time kNow = absl::FromUnixSeconds(1'800'000'000);

// All that the decision looks at, at rest: nothing holds deletes back.
struct Situation {
  Situation() {
    container.settings.policy.default_ttl = 60;
    store.configured = true;
    store.reachable = true;
  }

  HoldInputs Inputs() const {
    return {.container = container,
            .storage = storage,
            .time = time,
            .store = store,
            .pace = pace,
            .rates = rates,
            .waits_for_retry = waits_for_retry,
            .with_expire_at = with_expire_at};
  }
  std::vector<DeleteHold> Holds() const { return ComputeDeleteHolds(Inputs()); }
  std::optional<absl::Time> Begin() const { return DeletesBegin(Inputs(), Holds()); }

  void Replace(std::optional<int64_t> braked_items, absl::Time until) {
    container.replaced_policies.push_back({Policy(), until, braked_items});
  }

  Container container;
  StorageFacts storage;
  JudgingTime time = {.now = kNow, .for_deletes = kNow, .deletes_allowed = true};
  StoreView store;
  PaceView pace;
  DeleteRates rates;
  bool waits_for_retry = false;
  bool with_expire_at = false;
};

TEST(DeleteHoldsTest, NothingHoldsDeletesBackAtRest) {
  EXPECT_THAT(Situation().Holds(), IsEmpty());
}

TEST(DeleteHoldsTest, DeletesBeginWhenTheLastHoldWithAnEndHasEnded) {
  Situation situation;
  EXPECT_EQ(situation.Begin(), kNow);
  situation.waits_for_retry = true;
  situation.storage.change_under_way = true;
  EXPECT_EQ(situation.Begin(), kNow);
  situation.pace.held_until = kNow + absl::Seconds(20);
  EXPECT_EQ(situation.Begin(), kNow + absl::Seconds(20));
  situation.store.held_until = kNow + absl::Seconds(30);
  EXPECT_EQ(situation.Begin(), kNow + absl::Seconds(30));
  situation.store.held_until = kNow - absl::Seconds(30);
  EXPECT_EQ(situation.Begin(), kNow + absl::Seconds(20));
}

TEST(DeleteHoldsTest, DeletesBeginWithTheNextWindow) {
  Situation situation;
  situation.rates.limit = 0;
  situation.rates.windows_open = kNow + absl::Hours(3);
  EXPECT_EQ(situation.Begin(), kNow + absl::Hours(3));
  EXPECT_TRUE(IsChosen(DeleteHold::kWindow));
  situation.rates.windows_open = absl::InfiniteFuture();
  EXPECT_EQ(situation.Begin(), std::nullopt);
}

TEST(DeleteHoldsTest, AHoldWithoutAnEndLeavesTheBeginOpen) {
  const std::vector<std::function<void(Situation&)>> kChanges = {
      [](Situation& s) { s.storage.all_paused = true; },
      [](Situation& s) { s.store.reachable = false; },
      [](Situation& s) { s.with_expire_at = true; },
      [](Situation& s) { s.time.deletes_allowed = false; }};
  for (const auto& change : kChanges) {
    Situation situation;
    situation.store.held_until = kNow + absl::Seconds(30);
    change(situation);
    EXPECT_EQ(situation.Begin(), std::nullopt);
  }
}

struct HoldCase {
  std::string name;
  std::function<void(Situation&)> change;
  DeleteHold want;
  bool stops;
};

class DeleteHoldTest : public testing::TestWithParam<HoldCase> {};

TEST_P(DeleteHoldTest, IsTheOnlyOne) {
  Situation situation;
  GetParam().change(situation);
  EXPECT_THAT(situation.Holds(), ElementsAre(GetParam().want));
  EXPECT_EQ(StopsDeletes(GetParam().want), GetParam().stops);
}

constexpr absl::Duration kAhead = absl::Seconds(1);

INSTANTIATE_TEST_SUITE_P(
    Table, DeleteHoldTest,
    testing::Values(
        HoldCase{"TtlOff", [](Situation& s) { s.container.settings.policy.default_ttl.reset(); },
                 DeleteHold::kTtlOff, true},
        HoldCase{"NoStore", [](Situation& s) { s.store.configured = false; }, DeleteHold::kNoStore,
                 true},
        HoldCase{"AllPaused", [](Situation& s) { s.storage.all_paused = true; },
                 DeleteHold::kAllPaused, true},
        HoldCase{"ContainerPaused",
                 [](Situation& s) {
                   s.container.pause = Pause{"why", kNow};
                 },
                 DeleteHold::kContainerPaused, true},
        HoldCase{"ClockSuspect", [](Situation& s) { s.time.deletes_allowed = false; },
                 DeleteHold::kClockSuspect, true},
        HoldCase{"StoreUnconfirmed", [](Situation& s) { s.store.unconfirmed = "another id"; },
                 DeleteHold::kStoreUnconfirmed, true},
        HoldCase{"ClockSkew", [](Situation& s) { s.store.skew_too_large = true; },
                 DeleteHold::kClockSkew, true},
        HoldCase{"Store", [](Situation& s) { s.store.held_until = kNow + kAhead; },
                 DeleteHold::kStore, true},
        HoldCase{"StoreLacksExpireAt", [](Situation& s) { s.with_expire_at = true; },
                 DeleteHold::kStore, true},
        HoldCase{"StoreUnreachable", [](Situation& s) { s.store.reachable = false; },
                 DeleteHold::kStore, true},
        HoldCase{"Storage", [](Situation& s) { s.storage.writable = false; }, DeleteHold::kStorage,
                 true},
        HoldCase{"ZeroRate", [](Situation& s) { s.rates.limit = 0; }, DeleteHold::kZeroRate, true},
        HoldCase{"Window",
                 [](Situation& s) {
                   s.rates.limit = 0;
                   s.rates.windows_open = kNow + kAhead;
                 },
                 DeleteHold::kWindow, true},
        HoldCase{"Retry", [](Situation& s) { s.waits_for_retry = true; }, DeleteHold::kRetry,
                 false},
        HoldCase{"Gate", [](Situation& s) { s.storage.has_gated_items = true; }, DeleteHold::kGate,
                 false},
        HoldCase{"Budget", [](Situation& s) { s.rates.budget.emplace(); }, DeleteHold::kBudget,
                 true},
        HoldCase{"Backoff", [](Situation& s) { s.pace.held_until = kNow + kAhead; },
                 DeleteHold::kBackoff, true},
        HoldCase{"DataInDoubt", [](Situation& s) { s.storage.data_in_doubt = true; },
                 DeleteHold::kDataInDoubt, true},
        HoldCase{"Held", [](Situation& s) { s.storage.holds_all = true; }, DeleteHold::kHeld, true},
        HoldCase{"HoldsInDoubt", [](Situation& s) { s.storage.holds_in_doubt = true; },
                 DeleteHold::kHoldsInDoubt, true},
        HoldCase{"ChangeUnderWay", [](Situation& s) { s.storage.change_under_way = true; },
                 DeleteHold::kChangeUnderWay, true},
        HoldCase{"Brake", [](Situation& s) { s.Replace(5, kNow + kAhead); }, DeleteHold::kBrake,
                 false},
        HoldCase{"Grace", [](Situation& s) { s.Replace(std::nullopt, kNow + kAhead); },
                 DeleteHold::kGrace, false},
        HoldCase{"IndexBuilding", [](Situation& s) { s.container.index_build.emplace(); },
                 DeleteHold::kIndexBuilding, false},
        HoldCase{"PushBack", [](Situation& s) { s.pace.bearable_per_second = 3; },
                 DeleteHold::kPushBack, false},
        HoldCase{"Rate", [](Situation& s) { s.pace.waiting_for_rate = true; }, DeleteHold::kRate,
                 false}),
    [](const auto& info) { return info.param.name; });

TEST(DeleteHoldsTest, WhatIsOverHoldsNothingBack) {
  Situation situation;
  situation.store.held_until = kNow;
  situation.pace.held_until = kNow;
  situation.Replace(5, kNow);
  situation.Replace(std::nullopt, kNow);
  EXPECT_THAT(situation.Holds(), IsEmpty());
}

TEST(DeleteHoldsTest, BudgetAndLimitThatAllowSomethingHoldNothingBack) {
  Situation situation;
  situation.rates.limit = 0.1;
  situation.rates.budget.emplace();
  situation.rates.budget->deletes_per_second = 0.1;
  EXPECT_THAT(situation.Holds(), IsEmpty());
}

TEST(DeleteHoldsTest, ThereCanBeAGraceBesideABrake) {
  Situation situation;
  situation.Replace(5, kNow + kAhead);
  situation.Replace(std::nullopt, kNow + kAhead);
  EXPECT_THAT(situation.Holds(), ElementsAre(DeleteHold::kBrake, DeleteHold::kGrace));
}

TEST(DeleteHoldsTest, MostGeneralFirst) {
  Situation situation;
  situation.pace.waiting_for_rate = true;
  situation.container.pause = Pause{"why", kNow};
  situation.storage.all_paused = true;
  situation.storage.writable = false;
  EXPECT_THAT(situation.Holds(), ElementsAre(DeleteHold::kAllPaused, DeleteHold::kContainerPaused,
                                             DeleteHold::kStorage, DeleteHold::kRate));
}

// Deletes are judged by the earlier of two clocks, and so are the times that hold them.
TEST(DeleteHoldsTest, TimesAreComparedWithTheTimeForDeletes) {
  Situation situation;
  situation.time.for_deletes = kNow - absl::Seconds(3);
  situation.Replace(std::nullopt, kNow - absl::Seconds(1));
  EXPECT_THAT(situation.Holds(), ElementsAre(DeleteHold::kGrace));
}

TEST(IsChosenTest, OnlyWhatAnOperatorOrAPolicySays) {
  for (const DeleteHold hold :
       {DeleteHold::kTtlOff, DeleteHold::kNoStore, DeleteHold::kAllPaused,
        DeleteHold::kContainerPaused, DeleteHold::kZeroRate, DeleteHold::kBudget}) {
    EXPECT_TRUE(IsChosen(hold)) << static_cast<int>(hold);
  }
  for (const DeleteHold hold :
       {DeleteHold::kRate, DeleteHold::kClockSuspect, DeleteHold::kStore, DeleteHold::kClockSkew,
        DeleteHold::kStorage, DeleteHold::kStoreUnconfirmed, DeleteHold::kPushBack,
        DeleteHold::kBackoff, DeleteHold::kDataInDoubt, DeleteHold::kRetry}) {
    EXPECT_FALSE(IsChosen(hold)) << static_cast<int>(hold);
  }
}

}  // namespace
}  // namespace ttl
