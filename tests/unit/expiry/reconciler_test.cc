#include "service/expiry/store/reconciler.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/sweep_harness.h"

namespace ttl {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

ItemVersion Version(int64_t ts, std::optional<int64_t> ttl = std::nullopt,
                    std::optional<uint64_t> sequence = std::nullopt) {
  ItemVersion version;
  version.times = {ts, ttl};
  version.sequence = sequence;
  return version;
}

class ReconcilerTest : public testing::Test {
 protected:
  ReconcilerTest() {
    options.page_items = 5;
    options.commit_items = 2;
    harness.store.SetScanMessageItems(3);
    harness.storage.Create("orders", 3600);
    harness.Step();  // the store is known to be reachable
  }

  // Saves a doubt as a start with an empty directory does, and lets a new process begin.
  void DoubtData() {
    ASSERT_TRUE(Await<absl::Status>([&](auto done) {
                  harness.storage->sidecar_state().SaveDataDoubt({"test", "", ""}, std::move(done));
                }).ok());
    harness.storage->data_trust().Doubt("test");
    options.rebuild = true;
  }

  // An operator's word.
  void ConfirmStore() {
    ASSERT_TRUE(Await<absl::Status>([&](auto done) {
                  harness.levers->ConfirmStore("fake-store", std::move(done));
                }).ok());
  }

  Reconciler& Start() {
    reconciler = std::make_unique<Reconciler>(
        options, Reconciler::Parts{.system_clock = harness.clock,
                                   .clock = *harness.guarded_clock,
                                   .storage = *harness.storage,
                                   .store = &harness.client(),
                                   .levers = *harness.levers,
                                   .published_sweep = harness.published,
                                   .published = published});
    return *reconciler;
  }

  // Runs until nothing is under way, and returns how it ended.
  Reconciliation Finish() {
    for (int step = 0; step < 1000 && published.View()->is_under_way(); ++step) {
      harness.clock.Advance(std::min(reconciler->RunOnce(), absl::Seconds(10)));
    }
    return *published.View();
  }

  Reconciliation Reconcile(const ReconciliationRequest& request) {
    EXPECT_TRUE(published.Request(request, kTestNow).ok());
    return Finish();
  }

  void PutInStore(const std::string& id, const ItemVersion& version) {
    harness.store.Put("orders", KeyOf(id), version);
  }

  std::optional<ItemVersion> Tracked(const std::string& id) {
    const std::optional<TrackedItem> item = harness.storage.FindItem("orders", id);
    if (!item.has_value()) return std::nullopt;
    return item->version;
  }

  SweepHarness harness;
  WakeSignal wake;
  PublishedReconciliation published{wake};
  ReconcilerOptions options;
  std::unique_ptr<Reconciler> reconciler;
};

TEST_F(ReconcilerTest, OneThatIsCancelledAndFollowedAtOnceEndsAndTheOtherIsMade) {
  harness.storage.Create("customers", 3600);
  const int64_t now = harness.Now();
  for (int i = 0; i < 20; ++i) PutInStore(absl::StrCat(i), Version(now - 10));
  harness.store.Put("customers", KeyOf("missing"), Version(now - 10));
  Start();
  ASSERT_TRUE(published.Request({"orders", /*dry_run=*/false}, kTestNow).ok());
  for (int step = 0; step < 2; ++step) reconciler->RunOnce();
  ASSERT_TRUE(published.Cancel().ok());
  const Reconciliation second = Reconcile({"customers", /*dry_run=*/true});
  EXPECT_EQ(second.request.container, "customers");
  EXPECT_EQ(second.state, ReconciliationState::kDone) << second.problem;
  EXPECT_EQ(second.counts.scanned, 1);
  EXPECT_EQ(Tracked("19"), std::nullopt) << "the first one went on";
}

TEST_F(ReconcilerTest, AnIllegalTtlIsKeptWhileTtlIsOffAndInvalidWhileItIsOn) {
  harness.storage.SetDefaultTtl("orders", std::nullopt);
  const ItemVersion illegal = Version(harness.Now() - 10, 0);
  PutInStore("illegal", illegal);
  Start();
  EXPECT_EQ(Reconcile({"orders", /*dry_run=*/false}).counts.invalid, 0);
  EXPECT_EQ(Tracked("illegal"), illegal);
  harness.storage.SetDefaultTtl("orders", 3600);
  EXPECT_EQ(Reconcile({"orders", /*dry_run=*/false}).counts.invalid, 1);
}

// Restored from a backup of a week ago, whose clock was suspect: what was written since then
// is not ahead of the wall clock.
TEST_F(ReconcilerTest, ARebuildUnderASuspectClockLeavesNothingOut) {
  DoubtData();
  harness.clock.StepWall(absl::Hours(7 * 24));
  harness.guarded_clock->Tick();
  ASSERT_TRUE(harness.guarded_clock->Status().suspect);
  PutInStore("new", Version(harness.Now() - 10, 60));
  Start();
  const Reconciliation done = Finish();
  EXPECT_EQ(done.state, ReconciliationState::kDone) << done.problem;
  EXPECT_EQ(done.counts.invalid, 0);
  EXPECT_EQ(Tracked("new"), Version(harness.Now() - 10, 60));
}

// Events may be missing: of deletes while nothing was tracked, above all.
TEST_F(ReconcilerTest, AFeedIsToldToCompareOncePerReconciliation) {
  harness.CreateWithFeed("fed", 3600);
  Start();
  EXPECT_EQ(Reconcile({"fed", /*dry_run=*/true}).state, ReconciliationState::kDone);
  EXPECT_THAT(harness.Events("fed"), IsEmpty()) << "a preview changes nothing";
  EXPECT_EQ(Reconcile({"fed", /*dry_run=*/false}).state, ReconciliationState::kDone);
  EXPECT_THAT(harness.Events("fed"), ElementsAre("RESYNC"));
  EXPECT_EQ(Reconcile({"orders", /*dry_run=*/false}).state, ReconciliationState::kDone);
  EXPECT_EQ(harness.Events("fed").size(), 1);
  EXPECT_EQ(Reconcile({"", /*dry_run=*/false}).state, ReconciliationState::kDone);
  EXPECT_EQ(harness.Events("fed").size(), 2);
  DoubtData();
  Start();
  EXPECT_EQ(Finish().state, ReconciliationState::kDone);
  EXPECT_THAT(harness.Events("fed"), ElementsAre("RESYNC", "RESYNC", "RESYNC"));
}

TEST_F(ReconcilerTest, TracksWhatTheStoreHasAndLeavesWhatIsNewer) {
  const int64_t now = harness.Now();
  PutInStore("same", Version(now - 10, 60));
  harness.storage.TrackOne("orders", "same", now - 10, 60);
  PutInStore("missing", Version(now - 10, 60));
  PutInStore("newer in the store", Version(now - 5));
  harness.storage.TrackOne("orders", "newer in the store", now - 10);
  PutInStore("another ttl", Version(now - 10, 60));
  harness.storage.TrackOne("orders", "another ttl", now - 10, 30);
  PutInStore("older in the store", Version(now - 20));
  harness.storage.TrackOne("orders", "older in the store", now - 10);
  PutInStore("impossible", Version(now - 10, 0));
  harness.storage.TrackOne("orders", "extra", now - 10);

  const ReconciliationCounts expected = {
      .scanned = 6, .same = 1, .missing = 1, .differing = 2, .newer = 1, .invalid = 1, .extra = 1};
  Start();
  const Reconciliation dry = Reconcile({"orders", /*dry_run=*/true});
  EXPECT_EQ(dry.state, ReconciliationState::kDone) << dry.problem;
  EXPECT_EQ(dry.counts, expected);
  EXPECT_EQ(dry.samples.size(), 6u);
  EXPECT_EQ(Tracked("missing"), std::nullopt) << "a dry run changes nothing";

  EXPECT_EQ(Reconcile({"orders", false}).counts, expected);
  EXPECT_EQ(Tracked("missing"), Version(now - 10, 60));
  EXPECT_EQ(Tracked("newer in the store"), Version(now - 5));
  EXPECT_EQ(Tracked("another ttl"), Version(now - 10, 60));
  EXPECT_EQ(Tracked("older in the store"), Version(now - 10));
  EXPECT_EQ(Tracked("impossible"), std::nullopt);
  EXPECT_EQ(Tracked("extra"), Version(now - 10)) << "never dropped on the word of a scan";

  const Reconciliation again = Reconcile({"orders", false});
  EXPECT_EQ(again.counts.same, 4);
  EXPECT_EQ(again.counts.missing + again.counts.differing, 0);
}

// A table has no order of its own: the sequence is the position at which it was read.
TEST_F(ReconcilerTest, WhatDiffersInItsPositionOnlyIsTheSame) {
  const int64_t now = harness.Now();
  harness.storage.TrackOne("orders", "read later", now - 10, 60, 5);
  PutInStore("read later", Version(now - 10, 60, 7));
  harness.storage.TrackOne("orders", "read earlier", now - 10, 60, 5);
  PutInStore("read earlier", Version(now - 10, 60, 3));
  harness.storage.TrackOne("orders", "without", now - 10, 60);
  PutInStore("without", Version(now - 10, 60, 3));
  const ReconciliationCounts expected = {.scanned = 3, .same = 3};
  Start();
  EXPECT_EQ(Reconcile({"orders", /*dry_run=*/true}).counts, expected);
  EXPECT_EQ(Tracked("read later"), Version(now - 10, 60, 5)) << "a dry run changes nothing";
  EXPECT_EQ(Reconcile({"orders", /*dry_run=*/false}).counts, expected);
  // Later reports are compared with the latest position that is known.
  EXPECT_EQ(Tracked("read later"), Version(now - 10, 60, 7));
  EXPECT_EQ(Tracked("read earlier"), Version(now - 10, 60, 5));
  EXPECT_EQ(Tracked("without"), Version(now - 10, 60, 3));
}

TEST_F(ReconcilerTest, AnExtraItemGoesWithItsDelete) {
  const int64_t now = harness.Now();
  harness.storage.TrackOne("orders", "extra", now - 10, 5);
  Start();
  EXPECT_EQ(Reconcile({"orders", false}).counts.extra, 1);
  harness.SweepNow();
  EXPECT_EQ(harness.TallyOf("orders").not_found, 1);
  EXPECT_EQ(Tracked("extra"), std::nullopt);
}

// What is reported between the store's read of a page and the page's application wins.
struct Race {
  std::string name;
  // What the page gives; what is tracked before; what is reported meanwhile.
  ItemVersion given;
  std::optional<ItemVersion> before;
  std::optional<ItemVersion> removed;
  std::optional<ItemVersion> written;
  std::optional<ItemVersion> expected;
};

class ReconcilerRaceTest : public ReconcilerTest, public testing::WithParamInterface<Race> {};

TEST_P(ReconcilerRaceTest, WhatIsReportedMeanwhileWins) {
  const Race& race = GetParam();
  PutInStore("a", race.given);
  if (race.before.has_value()) {
    ASSERT_TRUE(harness.storage.Track("orders", {{KeyOf("a"), *race.before}}).ok());
  }
  harness.store.SetBeforeScanMessage([&](const auto&, auto&) {
    if (race.removed.has_value()) {
      harness.storage.UntrackOne("orders", "a", race.removed->times.ts, race.removed->sequence);
    }
    if (race.written.has_value()) {
      EXPECT_TRUE(harness.storage.Track("orders", {{KeyOf("a"), *race.written}}).ok());
    }
    return grpc::Status::OK;
  });
  Start();
  const Reconciliation ended = Reconcile({"orders", false});
  EXPECT_EQ(ended.state, ReconciliationState::kDone) << ended.problem;
  EXPECT_EQ(Tracked("a"), race.expected);
  EXPECT_EQ(ended.counts.extra, 0) << "what is reported meanwhile is not extra";
}

const int64_t kTs = absl::ToUnixSeconds(kTestNow) - 100;

INSTANTIATE_TEST_SUITE_P(
    Races, ReconcilerRaceTest,
    testing::Values(
        Race{"RemovedAndNeverTracked", Version(kTs, 60), {}, Version(kTs), {}, {}},
        Race{"RemovedAndTrackedBefore", Version(kTs, 60), Version(kTs, 60), Version(kTs), {}, {}},
        Race{"RemovedAtALaterSecond", Version(kTs, 60), {}, Version(kTs + 5), {}, {}},
        Race{"RemovedByALaterSequence", Version(kTs, 60, 7), {}, Version(kTs, {}, 8), {}, {}},
        Race{"AnOlderVersionRemoved",
             Version(kTs + 5, 60),
             {},
             Version(kTs),
             {},
             Version(kTs + 5, 60)},
        Race{"AnOlderSequenceRemoved",
             Version(kTs, 60, 8),
             {},
             Version(kTs, {}, 7),
             {},
             Version(kTs, 60, 8)},
        Race{"WrittenInTheSameSecond",
             Version(kTs, 5),
             Version(kTs, 5),
             {},
             Version(kTs, 600),
             Version(kTs, 600)},
        Race{"WrittenInTheSameSecondAndNeverTracked",
             Version(kTs, 5),
             {},
             {},
             Version(kTs, 600),
             Version(kTs, 600)},
        Race{"WrittenLater", Version(kTs, 5), {}, {}, Version(kTs + 1, 600), Version(kTs + 1, 600)},
        Race{"RemovedAndWrittenAgain",
             Version(kTs, 5),
             {},
             Version(kTs),
             Version(kTs + 1, 600),
             Version(kTs + 1, 600)}),
    [](const auto& info) { return info.param.name; });

TEST_F(ReconcilerTest, MarksEndWithTheirPage) {
  const int64_t now = harness.Now();
  for (int i = 0; i < 20; ++i) PutInStore(absl::StrCat("item", 10 + i), Version(now - 10));
  // Removed during the first page, written again in the same second with its report lost,
  // and read by the last page.
  bool removed = false;
  harness.store.SetBeforeScanMessage([&](const auto&, auto&) {
    if (!std::exchange(removed, true)) harness.storage.UntrackOne("orders", "item29", now - 10);
    return grpc::Status::OK;
  });
  Start();
  EXPECT_EQ(Reconcile({"orders", false}).counts.missing, 20);
  EXPECT_EQ(Tracked("item29"), Version(now - 10));
}

TEST_F(ReconcilerTest, RebuildsAllContainersAndThenEndsTheDoubt) {
  const int64_t now = harness.Now();
  harness.storage.Create("sessions", 60);
  PutInStore("a", Version(now - 4000));
  harness.store.Put("sessions", KeyOf("b"), Version(now - 1));
  DoubtData();
  harness.storage.TrackOne("orders", "stale", now - 4000);
  EXPECT_EQ(*harness.storage.FindTimes("orders", "stale"), std::nullopt)
      << "in doubt, only what checks carry is judged";
  Start();
  EXPECT_FALSE(published.Request({"orders", false}, kTestNow).ok()) << "the rebuild is under way";
  EXPECT_FALSE(published.Cancel().ok()) << "nor can it be cancelled";
  EXPECT_EQ(harness.SweepNow(), 0) << "nothing is deleted";

  const Reconciliation rebuilt = Finish();
  EXPECT_EQ(rebuilt.state, ReconciliationState::kDone);
  EXPECT_EQ(rebuilt.containers_done, 2);
  EXPECT_EQ(rebuilt.counts.missing, 2);
  EXPECT_FALSE(harness.storage->data_trust().in_doubt());
  EXPECT_EQ(harness.storage->sidecar_state().LoadDataDoubt().value(), std::nullopt);
  EXPECT_NE(*harness.storage.FindTimes("orders", "stale"), std::nullopt);
  harness.storage->due_changes().AddAll();
  EXPECT_GT(harness.SweepNow(), 0) << "deletes go on";
}

TEST_F(ReconcilerTest, AKilledRebuildGoesOnWhereItWas) {
  const int64_t now = harness.Now();
  for (int i = 0; i < 20; ++i) PutInStore(absl::StrCat("item", 10 + i), Version(now - 10));
  DoubtData();
  Start();
  reconciler->RunOnce();  // enters the container
  reconciler->RunOnce();  // the first page
  const int64_t first_page = published.View()->counts.missing;
  ASSERT_GE(first_page, 5);
  reconciler.reset();
  harness.Restart();
  harness.Step();
  ASSERT_TRUE(harness.storage->data_trust().in_doubt());
  Start();
  const Reconciliation rebuilt = Finish();
  EXPECT_EQ(rebuilt.state, ReconciliationState::kDone) << rebuilt.problem;
  EXPECT_EQ(rebuilt.counts.missing, 20 - first_page) << "pages before are not read again";
  EXPECT_EQ(rebuilt.counts.extra, 0);
  EXPECT_EQ(harness.storage->tallies().Tracked(harness.storage.Find("orders")->number).items, 20);
}

TEST_F(ReconcilerTest, ARebuildOutlastsAStoreThatFails) {
  const int64_t now = harness.Now();
  for (int i = 0; i < 20; ++i) PutInStore(absl::StrCat("item", 10 + i), Version(now - 10));
  int messages = 0;
  harness.store.SetBeforeScanMessage([&](const auto&, auto&) {
    return ++messages % 2 == 0 ? grpc::Status(grpc::StatusCode::UNAVAILABLE, "busy")
                               : grpc::Status::OK;
  });
  DoubtData();
  Start();
  const Reconciliation rebuilt = Finish();
  EXPECT_EQ(rebuilt.state, ReconciliationState::kDone);
  EXPECT_EQ(rebuilt.counts.scanned, 20) << "what is read twice counts once";
  EXPECT_EQ(rebuilt.counts.missing, 20);
}

TEST_F(ReconcilerTest, AnOperatorsWordEndsARebuild) {
  harness.store.SetBeforeScanMessage(
      [](const auto&, auto&) { return grpc::Status(grpc::StatusCode::UNIMPLEMENTED, "no scan"); });
  DoubtData();
  Start();
  for (int i = 0; i < 30; ++i) reconciler->RunOnce();
  EXPECT_EQ(published.View()->state, ReconciliationState::kWaiting) << "a rebuild never gives up";
  EXPECT_THAT(published.View()->problem, HasSubstr("no scan"));
  ASSERT_TRUE(Await<absl::Status>([&](auto done) {
                harness.storage->sidecar_state().ClearDataDoubt("test", std::move(done));
              }).ok());
  EXPECT_TRUE(harness.storage->data_trust().Confirm("test"));
  EXPECT_EQ(Finish().state, ReconciliationState::kCancelled);
  EXPECT_EQ(harness.storage->sidecar_state().LoadDataDoubt().value(), std::nullopt)
      << "its progress does not bring the doubt back";
}

TEST_F(ReconcilerTest, AnOperatorsReconciliationGivesUpAndSaysWhy) {
  harness.store.SetBeforeScanMessage(
      [](const auto&, auto&) { return grpc::Status(grpc::StatusCode::UNIMPLEMENTED, "no scan"); });
  Start();
  const Reconciliation failed = Reconcile({"orders", false});
  EXPECT_EQ(failed.state, ReconciliationState::kFailed);
  EXPECT_THAT(failed.problem, HasSubstr("no scan"));
}

// Each page brings some items and then ends badly: it gets on all the same.
TEST_F(ReconcilerTest, PagesThatBringItemsAndFailAreNoFailuresInARow) {
  for (int i = 0; i < 100; ++i) PutInStore(absl::StrCat(i), Version(harness.Now() - 10));
  int messages = 0;
  harness.store.SetBeforeScanMessage([&](auto&, auto&) {
    return ++messages % 2 == 0 ? grpc::Status(grpc::StatusCode::UNAVAILABLE, "scripted")
                               : grpc::Status::OK;
  });
  Start();
  const absl::Duration began = *harness.clock.Read().boot;
  const Reconciliation done = Reconcile({"orders", /*dry_run=*/false});
  EXPECT_EQ(done.state, ReconciliationState::kDone) << done.problem;
  EXPECT_EQ(done.counts.missing, 100);
  EXPECT_LE(*harness.clock.Read().boot - began, absl::Seconds(10)) << "each waits a moment only";
}

TEST_F(ReconcilerTest, NothingIsTakenFromAStoreThatIsPerhapsAnother) {
  PutInStore("a", Version(harness.Now()));
  harness.store.SetStoreId("another store");
  harness.clock.Advance(absl::Minutes(1));
  harness.Step();
  DoubtData();
  Start();
  for (int i = 0; i < 5; ++i) reconciler->RunOnce();
  EXPECT_THAT(published.View()->problem, HasSubstr("confirmed"));
  EXPECT_THAT(harness.store.ReceivedScans(), IsEmpty());
}

TEST_F(ReconcilerTest, AContainerThatTheStoreDoesNotHaveIsAnEmptyOne) {
  harness.store.SetBeforeScanMessage([](const auto&, auto&) {
    return grpc::Status(grpc::StatusCode::NOT_FOUND, "no such container");
  });
  harness.storage.TrackOne("orders", "a", harness.Now());
  Start();
  const Reconciliation ended = Reconcile({"orders", false});
  EXPECT_EQ(ended.state, ReconciliationState::kDone);
  EXPECT_EQ(ended.counts.extra, 1);
}

TEST_F(ReconcilerTest, AScanThatWouldNeverEndIsRefused) {
  for (int i = 0; i < 20; ++i) PutInStore(absl::StrCat("item", 10 + i), Version(harness.Now()));
  harness.store.SetBeforeScanMessage([](const auto&, v1::ScanItemsResponse& response) {
    response.set_next_page_token("again");
    return grpc::Status::OK;
  });
  Start();
  const Reconciliation failed = Reconcile({"orders", false});
  EXPECT_EQ(failed.state, ReconciliationState::kFailed);
  EXPECT_THAT(failed.problem, HasSubstr("never end"));
}

TEST_F(ReconcilerTest, ADeletedContainerIsLeftOut) {
  for (int i = 0; i < 20; ++i) PutInStore(absl::StrCat("item", 10 + i), Version(harness.Now()));
  harness.store.SetBeforeScanMessage([&](const auto&, auto&) {
    harness.storage.Delete("orders").IgnoreError();
    return grpc::Status::OK;
  });
  Start();
  EXPECT_EQ(Reconcile({"", false}).state, ReconciliationState::kDone);
}

TEST_F(ReconcilerTest, ACancelledOneEnds) {
  for (int i = 0; i < 20; ++i) PutInStore(absl::StrCat("item", 10 + i), Version(harness.Now()));
  Start();
  ASSERT_TRUE(published.Request({"orders", false}, kTestNow).ok());
  reconciler->RunOnce();
  ASSERT_TRUE(published.Cancel().ok());
  EXPECT_EQ(Finish().state, ReconciliationState::kCancelled);
  EXPECT_EQ(Reconcile({"orders", false}).state, ReconciliationState::kDone) << "another may begin";
}

TEST_F(ReconcilerTest, ReadsNoFasterThanItsRate) {
  const int64_t now = harness.Now();
  for (int i = 0; i < 90; ++i) PutInStore(absl::StrCat("item", 10 + i), Version(now - 10));
  options.max_items_per_second = 9;
  Start();
  const absl::Duration began = *harness.clock.Read().boot;
  Reconcile({"orders", false});
  EXPECT_GE(*harness.clock.Read().boot - began, absl::Seconds(9));
}

// Restored to an older backup, its sequences have gone back.
TEST_F(ReconcilerTest, AfterAConfirmationTheStoreIsReadByItselfAndWins) {
  const int64_t now = harness.Now();
  harness.storage.TrackOne("orders", "w", now - 100, 100'000, 902);
  PutInStore("w", Version(now - 500, 60, 502));
  harness.storage.TrackOne("orders", "same", now - 700, 100'000, 300);
  PutInStore("same", Version(now - 700, 100'000, 300));
  Start();
  EXPECT_GT(reconciler->RunOnce(), absl::Minutes(1)) << "nothing to do";
  ConfirmStore();
  EXPECT_EQ(harness.storage.FindTimes("orders", "w").value(), std::nullopt) << "in doubt";
  reconciler->RunOnce();
  const Reconciliation done = Finish();
  EXPECT_TRUE(done.rebuild);
  EXPECT_EQ(done.state, ReconciliationState::kDone) << done.problem;
  EXPECT_EQ(Tracked("w"), Version(now - 500, 60, 502));
  EXPECT_EQ(harness.storage.FindTimes("orders", "w").value()->ttl, 60);
  // Within the epoch sequences say what is older, for what was the same as well.
  EXPECT_EQ(harness.storage.TrackOne("orders", "w", now, 1, 501), TrackOutcome::kStale);
  EXPECT_EQ(harness.storage.TrackOne("orders", "w", now, 1, 503), TrackOutcome::kTracked);
  EXPECT_EQ(harness.storage.TrackOne("orders", "same", now, 1, 299), TrackOutcome::kStale);
  harness.storage.Reopen();
  EXPECT_EQ(harness.storage.TrackOne("orders", "same", now, 1, 298), TrackOutcome::kStale);
}

TEST_F(ReconcilerTest, AReportAfterTheConfirmationIsNewerThanAllBefore) {
  const int64_t now = harness.Now();
  harness.storage.TrackOne("orders", "w", now - 100, 100'000, 902);
  harness.storage.TrackOne("orders", "gone", now - 100, 100'000, 903);
  ConfirmStore();
  EXPECT_EQ(harness.storage.TrackOne("orders", "w", now - 200, 1, 503), TrackOutcome::kTracked);
  EXPECT_EQ(harness.storage.UntrackOne("orders", "gone", now - 200, 504),
            UntrackOutcome::kUntracked);
  // What the scan gives of an item that was reported since is judged as ever.
  PutInStore("w", Version(now - 500, 60, 502));
  Start();
  EXPECT_EQ(Finish().state, ReconciliationState::kDone);
  EXPECT_EQ(Tracked("w"), Version(now - 200, 1, 503));
}

TEST_F(ReconcilerTest, AKilledProcessGoesOnAfterAConfirmation) {
  const int64_t now = harness.Now();
  for (int i = 0; i < 20; ++i) PutInStore(absl::StrCat(i), Version(now - 10, 60, 5));
  ConfirmStore();
  Start();
  for (int step = 0; step < 2; ++step) reconciler->RunOnce();
  reconciler.reset();
  harness.Restart();
  harness.Step();
  EXPECT_TRUE(harness.storage->data_trust().in_doubt());
  Start();
  EXPECT_EQ(Finish().state, ReconciliationState::kDone);
  EXPECT_FALSE(harness.storage->data_trust().in_doubt());
  EXPECT_EQ(Tracked("19"), Version(now - 10, 60, 5));
}

TEST_F(ReconcilerTest, AConfirmationMeanwhileLetsItBeginAnew) {
  const int64_t now = harness.Now();
  for (int i = 0; i < 20; ++i) PutInStore(absl::StrCat(i), Version(now - 10, 60, 900));
  ConfirmStore();
  Start();
  for (int step = 0; step < 3; ++step) reconciler->RunOnce();
  EXPECT_TRUE(published.View()->is_under_way());
  // The store goes back again.
  for (int i = 0; i < 20; ++i) PutInStore(absl::StrCat(i), Version(now - 20, 70, 400));
  ConfirmStore();
  while (harness.storage->data_trust().in_doubt()) {
    harness.clock.Advance(std::min(reconciler->RunOnce(), absl::Seconds(10)));
  }
  for (int i = 0; i < 20; ++i) EXPECT_EQ(Tracked(absl::StrCat(i)), Version(now - 20, 70, 400));
}

TEST_F(ReconcilerTest, WhileTheStoreHasToBeConfirmedAnOperatorsReconciliationEndsAndSaysSo) {
  StoreView store;
  store.configured = true;
  store.reachable = true;
  store.store_id = "restored";
  store.unconfirmed = "its store_id changed";
  harness.published.PostStore(store);
  ASSERT_TRUE(harness.levers->TakeFirstStore("fake-store").ok());
  Start();
  const Reconciliation failed = Reconcile({"orders", false});
  EXPECT_EQ(failed.state, ReconciliationState::kFailed);
  EXPECT_THAT(failed.problem, HasSubstr("has to be confirmed: its store_id changed"));
}

// Otherwise an item would be deleted by its container's default_ttl, long before its end.
TEST_F(ReconcilerTest, AStoreThatDoesNotKnowExpireAtTakesNoneAway) {
  for (const bool knows_expire_at : {false, true}) {
    harness.store.SetKnowsExpireAt(knows_expire_at);
    harness.store.Restart();
    harness.SweepFor(absl::Minutes(1));  // it is asked what it knows
    ItemVersion with_end = Version(kStart - 100);
    with_end.times.expire_at = kStart + 5000;
    harness.Write("orders", KeyOf("same"), with_end);
    harness.Write("orders", KeyOf("newer"), with_end);
    harness.store.Put("orders", KeyOf("same"), Version(kStart - 100));
    harness.store.Put("orders", KeyOf("newer"), Version(kStart - 90, 20'000));
    Start();
    Reconcile({"orders", /*dry_run=*/false});
    const std::optional<int64_t> kept =
        knows_expire_at ? std::nullopt : std::optional<int64_t>(kStart + 5000);
    EXPECT_EQ(harness.storage.FindItem("orders", "same")->version.times,
              (ItemTimes{kStart - 100, std::nullopt, kept}));
    EXPECT_EQ(harness.storage.FindItem("orders", "newer")->version.times,
              (ItemTimes{kStart - 90, 20'000, kept}));
  }
}

// It may end later than its container's default_ttl says, which such a store cannot tell.
TEST_F(ReconcilerTest, AStoreThatDoesNotKnowExpireAtBringsNoItemIntoAContainerThatHasSome) {
  harness.store.SetKnowsExpireAt(false);
  harness.store.Restart();
  harness.SweepFor(absl::Minutes(1));  // it is asked what it knows
  ItemVersion with_end = Version(kStart - 100);
  with_end.times.expire_at = kStart + 5000;
  harness.Write("orders", KeyOf("reported"), with_end);
  harness.store.Put("orders", KeyOf("lost"), Version(kStart - 100));
  Start();
  const Reconciliation done = Reconcile({"orders", /*dry_run=*/false});
  EXPECT_EQ(done.counts.missing, 1) << "it is counted";
  EXPECT_FALSE(harness.storage.FindItem("orders", "lost").has_value());
}

}  // namespace
}  // namespace ttl
