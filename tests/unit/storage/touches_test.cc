#include "service/storage/touches.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <ostream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "service/base/error_details.h"
#include "service/storage/upkeep/backup.h"
#include "service/storage/upkeep/backup_file.h"
#include "tests/testing/storage_for_test.h"

namespace ttl {

bool operator==(const TouchedItem& a, const TouchedItem& b) {
  return a.outcome == b.outcome && a.expire_time == b.expire_time;
}

void PrintTo(const TouchedItem& item, std::ostream* out) {
  *out << "outcome " << static_cast<int>(item.outcome) << " until " << item.expire_time.value_or(0);
}

namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;
using Outcome = TouchOutcome;
using ReadTime = Touches::ReadTime;

constexpr std::optional<int64_t> kNever;

// A container with a default_ttl of 60 s that allows touches.
class TouchesTest : public testing::Test {
 protected:
  TouchesTest() {
    storage_.Create("c", 60);
    storage_.AllowTouch("c");
  }

  void Track(const std::string& id, const ItemTimes& times) {
    ASSERT_TRUE(storage_.Track("c", {{KeyOf(id), {times, "", std::nullopt, 0}}}).ok());
  }

  int64_t TouchTime(const std::string& id) {
    return storage_.FindItem("c", id)->version.times.touch_time;
  }

  // Begins to touch an item, by the times that `read` gives.
  std::future<absl::StatusOr<TouchedItems>> BeginTouch(const std::string& id, ReadTime read,
                                                       int64_t within = 0) {
    auto promise = std::make_shared<std::promise<absl::StatusOr<TouchedItems>>>();
    storage_->touches().Touch(storage_.Find("c")->number, {{KeyOf(id)}, within}, std::move(read),
                              [promise](auto touched) { promise->set_value(std::move(touched)); });
    return promise->get_future();
  }

  // Gives the times `first`, and `later` at each further call. `meanwhile` happens after the first,
  // which is when the touch is judged and not committed yet.
  static ReadTime TimePasses(int64_t first, int64_t later, std::function<void()> meanwhile) {
    auto calls = std::make_shared<std::atomic<int>>(0);
    return [calls, first, later, meanwhile = std::move(meanwhile)] {
      if ((*calls)++ > 0) return SoundTime(later);
      meanwhile();
      return SoundTime(first);
    };
  }

  DeleteReport ReportOf(const DueItem& item, DeleteReport::Kind kind) {
    DeleteReport report;
    report.key = item.key;
    report.generation = item.item.generation;
    report.kind = kind;
    return report;
  }

  // An import of an item with this `_ts`, at kT + 100.
  void Import(const std::string& id, int64_t ts) {
    const absl::Time now = absl::FromUnixSeconds(kT + 100);
    const AdoptionTerms terms = {now, now, absl::Seconds(10), /*adopted=*/true};
    ASSERT_TRUE(Await<absl::StatusOr<std::vector<TrackOutcome>>>([&](auto done) {
                  storage_->items().Track(storage_.Find("c")->number,
                                          {{KeyOf(id), {{ts}, "", {}, 0}}}, terms, std::move(done));
                }).ok());
  }

  // The store's items as a scan reads them, at kT + 30, which may be `latest`.
  void Scan(std::vector<ItemReport> items, const std::string& container = "c", bool dry_run = false,
            int64_t latest = kT + 30) {
    const AdoptionTerms terms = {absl::FromUnixSeconds(kT + 30), absl::FromUnixSeconds(latest),
                                 absl::Seconds(10), true};
    const uint64_t number = storage_.Find(container)->number;
    ScannedItems& scanned = storage_->scanned_items();
    scanned.Begin(number);
    scanned.BeginPage();
    ASSERT_TRUE(Await<absl::StatusOr<std::vector<ScanComparison>>>([&](auto done) {
                  scanned.Apply(number, std::move(items), terms, /*knows_expire_at=*/true, dry_run,
                                std::move(done));
                }).ok());
    scanned.End();
  }

  // The format of the data as the records of a backup have it.
  std::string DataFormat() {
    const auto backup = storage_->StartBackup(kTestNow).value();
    std::string bytes;
    for (std::string next = backup->Next().value(); !next.empty(); next = backup->Next().value()) {
      bytes += next;
    }
    std::istringstream file(bytes);
    std::string format;
    EXPECT_TRUE(ReadBackup(file, "backup", [&](WriteSet changes) {
                  for (const auto& [key, value] : changes) {
                    if (key == "mformat") format = *value;
                  }
                  return absl::OkStatus();
                }).ok());
    return format;
  }

  StorageForTest storage_;
};

TEST_F(TouchesTest, EachItemIsJudgedByItself) {
  Track("inherits", {kT});
  Track("own ttl", {kT, 100});
  Track("ends", {kT, std::nullopt, kT + 90});
  Track("ends first", {kT, 100, kT + 40});
  Track("ends last", {kT, 100, kT + 1000});
  Track("for ever", {kT, kNeverExpires});
  Track("ahead", {kT + 40});
  Track("expired", {kT - 40});
  Track("short", {kT, 10});
  const auto touched =
      storage_.Touch("c",
                     {"inherits", "own ttl", "ends", "ends first", "ends last", "for ever", "ahead",
                      "expired", "short", "nowhere", "inherits"},
                     kT + 30);
  ASSERT_TRUE(touched.ok()) << touched.status();
  EXPECT_EQ(touched->touch_time, kT + 30);
  EXPECT_THAT(
      touched->items,
      ElementsAre(TouchedItem{Outcome::kTouched, kT + 90}, TouchedItem{Outcome::kTouched, kT + 130},
                  TouchedItem{Outcome::kTouched, kT + 90}, TouchedItem{Outcome::kTouched, kT + 40},
                  TouchedItem{Outcome::kTouched, kT + 130}, TouchedItem{Outcome::kTouched, kNever},
                  TouchedItem{Outcome::kTouched, kT + 100}, TouchedItem{Outcome::kExpired, kT + 20},
                  TouchedItem{Outcome::kExpired, kT + 10},
                  TouchedItem{Outcome::kNotTracked, kNever},
                  TouchedItem{Outcome::kTouched, kT + 90}));
  EXPECT_EQ(TouchTime("inherits"), kT + 30);
  EXPECT_EQ(TouchTime("expired"), 0);
}

TEST_F(TouchesTest, ItIsExpiredFromItsSecondOn) {
  Track("a", {kT});
  Track("b", {kT});
  EXPECT_EQ(storage_.TouchOne("c", "a", kT + 59).outcome, Outcome::kTouched);
  EXPECT_EQ(storage_.TouchOne("c", "b", kT + 60).outcome, Outcome::kExpired);
}

TEST_F(TouchesTest, AnItemWhoseCountdownStartedNotLongAgoIsLeftAlone) {
  Track("a", {kT, 1000});
  const auto touch = [&](int64_t now, int64_t within) {
    return storage_.Touch("c", {"a"}, now, within)->items.at(0).outcome;
  };
  EXPECT_EQ(touch(kT + 9, 10), Outcome::kRecent) << "it was written";
  EXPECT_EQ(TouchTime("a"), 0);
  EXPECT_EQ(touch(kT + 10, 10), Outcome::kTouched);
  EXPECT_EQ(touch(kT + 19, 10), Outcome::kRecent) << "it was touched";
  EXPECT_EQ(TouchTime("a"), kT + 10);
  EXPECT_EQ(touch(kT + 20, 10), Outcome::kTouched);
  EXPECT_EQ(touch(kT + 20, 0), Outcome::kTouched);
  EXPECT_EQ(touch(kT + 20, 1), Outcome::kRecent);
  EXPECT_EQ(touch(kT + 15, 0), Outcome::kTouched) << "the clock was put back";
  EXPECT_EQ(TouchTime("a"), kT + 20);
}

TEST_F(TouchesTest, KeysGivenTwiceAreTouchedInOrder) {
  Track("a", {kT});
  const auto touched = storage_.Touch("c", {"a", "a"}, kT + 20, 10);
  EXPECT_THAT(touched->items, ElementsAre(TouchedItem{Outcome::kTouched, kT + 80},
                                          TouchedItem{Outcome::kRecent, kT + 80}));
}

TEST_F(TouchesTest, ATouchIsKeptOverARestartAndGivenToChecks) {
  Track("a", {kT, 100});
  storage_.TouchOne("c", "a", kT + 30);
  const ItemTimes times = {.ts = kT, .ttl = 100, .touch_time = kT + 30};
  for (int run = 0; run < 2; ++run) {
    EXPECT_EQ(storage_.FindTimes("c", "a").value(), times) << "run " << run;
    EXPECT_EQ(storage_.FindTimes("c", "a").value(), times) << "from the cache";
    storage_.Reopen();
  }
}

TEST_F(TouchesTest, AReportKeepsTheTouchAndAnUntrackForgetsIt) {
  Track("a", {kT});
  storage_.TouchOne("c", "a", kT + 30);
  Track("a", {kT + 10});
  EXPECT_EQ(storage_.TouchOne("c", "a", kT + 30).expire_time, kT + 90);
  Track("a", {kT + 50});
  EXPECT_EQ(TouchTime("a"), kT + 30);
  storage_.UntrackOne("c", "a", kT + 50);
  Track("a", {kT + 20});
  EXPECT_EQ(TouchTime("a"), 0);
}

TEST_F(TouchesTest, ATouchIsOnePutAndTheEntryIsMovedByTheScanThatMeetsIt) {
  Track("a", {kT});
  Track("b", {kT, 60});
  const OperationCounts before = storage_->Counts();
  ASSERT_TRUE(storage_.Touch("c", {"a", "b"}, kT + 30).ok());
  const OperationCounts after = storage_->Counts();
  EXPECT_EQ(after.puts - before.puts, 2);
  EXPECT_EQ(after.deletes, before.deletes);
  EXPECT_EQ(after.syncs - before.syncs, 1);

  const DueScan early = storage_.Scan("c", kT + 60);
  EXPECT_THAT(early.due, IsEmpty());
  EXPECT_THAT(early.early, SizeIs(2));
  EXPECT_EQ(storage_.Tidy("c", early.early), 2);
  EXPECT_THAT(storage_.Scan("c", kT + 89).early, IsEmpty()) << "they stand at their new end";
  EXPECT_THAT(storage_.DueIds("c", kT + 89), IsEmpty());
  EXPECT_THAT(storage_.DueIds("c", kT + 90), SizeIs(2));
}

TEST_F(TouchesTest, TheTalliesFollowATouch) {
  Track("a", {kT});
  Track("b", {kT, 60});
  ASSERT_TRUE(storage_.Touch("c", {"a", "b"}, kT + 30).ok());
  for (int run = 0; run < 2; ++run) {
    storage_.FinishHousekeeping();  // counts again after a start
    const Container& container = *storage_.Find("c");
    const DueRule rule = ComputeDueRule(container.settings.policy, {}, kTestNow);
    const auto expired = [&](int64_t now) {
      return storage_->tallies().FiguresOf(container.number, rule, now).due.sum.items;
    };
    EXPECT_EQ(expired(kT + 89), 0) << "run " << run;
    EXPECT_EQ(expired(kT + 90), 2) << "run " << run;
    storage_.Reopen();
  }
}

TEST_F(TouchesTest, WhatCannotBeJudgedIsNotTouched) {
  Track("a", {kT});
  const absl::Status suspect = absl::UnavailableError("the clock is suspect");
  EXPECT_EQ(BeginTouch("a", [&] { return suspect; }).get().status(), suspect);
  EXPECT_EQ(TouchTime("a"), 0);
}

TEST_F(TouchesTest, AContainerThatForbidsTouchesKeepsEarlierOnes) {
  Track("a", {kT});
  storage_.TouchOne("c", "a", kT + 30);
  storage_.AllowTouch("c", false);
  const absl::Status refused = storage_.Touch("c", {"a"}, kT + 40).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(refused)) << refused;
  EXPECT_EQ(ReasonOf(refused), "TOUCH_NOT_ALLOWED");
  EXPECT_EQ(TouchTime("a"), kT + 30);
  EXPECT_TRUE(storage_.Find("c")->has_touches);
  storage_.Reopen();
  EXPECT_TRUE(storage_.Find("c")->has_touches);
  EXPECT_FALSE(storage_.Find("c")->settings.allow_touch);
}

TEST_F(TouchesTest, TheFirstContainerThatAllowsTouchesRaisesTheDataFormat) {
  EXPECT_EQ(DataFormat(), "7");
}

TEST_F(TouchesTest, AnItemOfUnknownStateCountsAsNotTracked) {
  Track("a", {kT});
  const DueScan scan = storage_.Scan("c", kT + 60);
  storage_.Apply("c", {ReportOf(scan.due.at(0), DeleteReport::Kind::kStateUnknown)});
  EXPECT_EQ(storage_.TouchOne("c", "a", kT + 30).outcome, Outcome::kNotTracked);
}

// A policy that was loosened makes items live again that wait for their next try, or were adopted.
TEST_F(TouchesTest, ALiveItemThatWaitsForAnotherReasonIsFoundAtItsNewEnd) {
  Track("fails", {kT});
  DeleteReport later =
      ReportOf(storage_.Scan("c", kT + 60).due.at(0), DeleteReport::Kind::kRetryLater);
  later.retry_time = kT + 80;
  storage_.Apply("c", {later});
  const absl::Time adopted_at = absl::FromUnixSeconds(kT + 60);
  const AdoptionTerms terms = {adopted_at, adopted_at, absl::Seconds(20), true};
  ASSERT_TRUE(Await<absl::StatusOr<std::vector<TrackOutcome>>>([&](auto done) {
                storage_->items().Track(storage_.Find("c")->number,
                                        {{KeyOf("adopted"), {{kT}, "", {}, 0}}}, terms,
                                        std::move(done));
              }).ok());
  storage_.SetDefaultTtl("c", 100);
  ASSERT_TRUE(storage_.Touch("c", {"fails", "adopted"}, kT + 70).ok());
  const DueScan early = storage_.Scan("c", kT + 100);
  EXPECT_THAT(early.due, IsEmpty());
  EXPECT_EQ(storage_.Tidy("c", early.early), 2);
  EXPECT_THAT(storage_.DueIds("c", kT + 169), IsEmpty());
  EXPECT_THAT(storage_.DueIds("c", kT + 170), SizeIs(2));
}

// Between the judgement of the touch and its commit the item expires, and the sweep finds it.
TEST_F(TouchesTest, ATouchIsAnsweredWhenTheFateOfItsItemIsKnown) {
  struct Case {
    const char* name;
    std::optional<DeleteReport::Kind> outcome;  // absent: the call had no answer
    Outcome touched;
  };
  for (const Case& c : {Case{"gone", DeleteReport::Kind::kGone, Outcome::kNotTracked},
                        Case{"unknown", DeleteReport::Kind::kStateUnknown, Outcome::kNotTracked},
                        Case{"later", DeleteReport::Kind::kRetryLater, Outcome::kTouched},
                        Case{"no answer", std::nullopt, Outcome::kTouched}}) {
    SCOPED_TRACE(c.name);
    Track(c.name, {kT, 10});
    std::optional<DeleteGate::Pass> pass;
    DueScan scan;
    auto touched = BeginTouch(c.name, TimePasses(kT + 9, kT + 10, [&] {
                                pass = storage_->delete_gate().TryEnter(storage_.Find("c")->number);
                                scan = storage_.Scan("c", kT + 10);
                              }));
    // A later commit is answered while the touch is not.
    Track("another", {kT + 1});
    EXPECT_NE(touched.wait_for(std::chrono::seconds(0)), std::future_status::ready);
    ASSERT_THAT(scan.due, SizeIs(1));
    if (c.outcome.has_value()) {
      DeleteReport report = ReportOf(scan.due[0], *c.outcome);
      report.retry_time = kT + 15;
      EXPECT_EQ(storage_.Apply("c", {report}), 1) << "what the store did is a fact";
    }
    pass.reset();
    EXPECT_EQ(touched.get()->items.at(0).outcome, c.touched);
    EXPECT_THAT(storage_.DueIds("c", kT + 18), IsEmpty());
    storage_.UntrackOne("c", c.name, kT);
  }
}

TEST_F(TouchesTest, ATouchOfALiveItemDoesNotWaitForDeletesInFlight) {
  Track("a", {kT});
  auto pass = storage_->delete_gate().TryEnter(storage_.Find("c")->number);
  auto touched = BeginTouch("a", [] { return SoundTime(kT + 30); });
  Track("another", {kT + 1});  // a later commit
  EXPECT_EQ(touched.wait_for(std::chrono::seconds(0)), std::future_status::ready);
  pass.reset();
  EXPECT_EQ(touched.get()->items.at(0).outcome, Outcome::kTouched);
}

// Both are judged while the item is in flight: the first in its last second, the second finds it
// alive by the first.
TEST_F(TouchesTest, ATouchThatReliesOnOneThatWaitsIsAnsweredWithIt) {
  struct Case {
    const char* name;
    int64_t time;    // of the second
    int64_t within;  // its unless_touched_within
  };
  for (const Case& c : {Case{"in the same second", kT + 9, 0}, Case{"a second later", kT + 10, 0},
                        Case{"recent", kT + 10, 5}}) {
    SCOPED_TRACE(c.name);
    Track(c.name, {kT, 10});
    std::optional<DeleteGate::Pass> pass;
    DueScan scan;
    auto first = BeginTouch(c.name, TimePasses(kT + 9, kT + 10, [&] {
                              pass = storage_->delete_gate().TryEnter(storage_.Find("c")->number);
                              scan = storage_.Scan("c", kT + 10);
                            }));
    auto second = BeginTouch(
        c.name, [time = c.time] { return SoundTime(time); }, c.within);
    Track("another", {kT + 1});
    EXPECT_NE(second.wait_for(std::chrono::seconds(0)), std::future_status::ready);
    ASSERT_THAT(scan.due, SizeIs(1));
    storage_.Apply("c", {ReportOf(scan.due[0], DeleteReport::Kind::kGone)});
    pass.reset();
    EXPECT_EQ(first.get()->items.at(0).outcome, Outcome::kNotTracked);
    EXPECT_EQ(second.get()->items.at(0).outcome, Outcome::kNotTracked);
  }
}

TEST_F(TouchesTest, AnItemThatMayHaveBeenExpiredBeforeTheClockWasPutBackStaysSo) {
  Track("a", {kT});
  const auto touched = BeginTouch("a", [] {
                         JudgingTime time = SoundTime(kT + 58);
                         time.latest = absl::FromUnixSeconds(kT + 60);
                         return time;
                       }).get();
  EXPECT_EQ(touched->items.at(0), (TouchedItem{Outcome::kExpired, kT + 60}));
  EXPECT_EQ(TouchTime("a"), 0);
}

TEST_F(TouchesTest, ATouchThatIsNotLaterThanTheLastWriteIsNotWritten) {
  Track("a", {kT + 30});
  const int64_t before = storage_->Counts().puts;
  for (const int64_t now : {kT + 20, kT + 30}) {
    EXPECT_EQ(storage_.TouchOne("c", "a", now), (TouchedItem{Outcome::kTouched, kT + 90}));
  }
  EXPECT_EQ(storage_->Counts().puts, before);
}

// The store has another version, which is newer than the touched one or not.
TEST_F(TouchesTest, AnotherVersionThatTheStoreHasKeepsTheTouch) {
  Track("a", {kT, 10});
  const DueScan scan = storage_.Scan("c", kT + 10);
  storage_.SetDefaultTtl("c", 100);
  Track("a", {kT + 5, 20});
  storage_.TouchOne("c", "a", kT + 20);
  DeleteReport modified = ReportOf(scan.due.at(0), DeleteReport::Kind::kModified);
  modified.generation = storage_.FindItem("c", "a")->generation;
  modified.current.times = {kT + 8, 20};
  EXPECT_EQ(storage_.Apply("c", {modified}), 1);
  EXPECT_EQ(storage_.FindItem("c", "a")->version.times,
            (ItemTimes{.ts = kT + 8, .ttl = 20, .touch_time = kT + 20}));
}

// What a scan of the store makes of items, in doubt and not.
TEST_F(TouchesTest, AScanCountsAsATouchOfWhatMayHaveLostOne) {
  struct Case {
    const char* name;
    bool in_doubt;
    int64_t scanned_ts;  // 0: as tracked
    int64_t touch_time;  // after it
  };
  for (const Case& c : {Case{"trusted, same", false, 0, kT + 20},
                        Case{"trusted, newer in the store", false, kT + 1, kT + 20},
                        Case{"trusted, older in the store", false, kT - 1, kT + 20},
                        Case{"doubt, same", true, 0, kT + 30},
                        Case{"doubt, newer in the store", true, kT + 1, kT + 30},
                        Case{"doubt, older in the store", true, kT - 1, kT + 30}}) {
    SCOPED_TRACE(c.name);
    Track(c.name, {kT});
    storage_.TouchOne("c", c.name, kT + 20);
    if (c.in_doubt) storage_->data_trust().Doubt("lost");
    const int64_t scanned = c.scanned_ts == 0 ? kT : c.scanned_ts;
    Scan({{KeyOf(c.name), {{scanned}, "", {}, 0}},
          {KeyOf(std::string(c.name) + ", missing"), {{kT - 100}, "", {}, 0}}});
    EXPECT_EQ(TouchTime(c.name), c.touch_time);
    EXPECT_EQ(TouchTime(std::string(c.name) + ", missing"), kT + 30);
    storage_->data_trust().Confirm("lost");
  }
  EXPECT_THAT(storage_.DueIds("c", kT + 60), IsEmpty());
}

TEST_F(TouchesTest, AScanTouchesNothingWithoutTouchesOrInADryRun) {
  storage_.Create("plain", 60);
  storage_->data_trust().Doubt("lost");
  Track("a", {kT});
  Scan({{KeyOf("a"), {{kT}, "", {}, 0}}}, "c", /*dry_run=*/true);
  EXPECT_EQ(TouchTime("a"), 0);
  Scan({{KeyOf("a"), {{kT}, "", {}, 0}}}, "plain");
  EXPECT_EQ(storage_.FindItem("plain", "a")->version.times, ItemTimes{kT});
  storage_->data_trust().Confirm("lost");
}

TEST_F(TouchesTest, AnImportOfATouchedItemAdoptsWhatIsDueByItsTouch) {
  for (const char* id : {"touched", "untouched"}) Track(id, {kT});
  storage_.TouchOne("c", "touched", kT + 50);
  Import("touched", kT + 5);
  Import("untouched", kT + 5);
  EXPECT_EQ(storage_.FindItem("c", "touched")->adopted_until, 0) << "it lives";
  EXPECT_EQ(storage_.FindItem("c", "untouched")->adopted_until, kT + 110);
}

// The clock is suspect: it may be up to a minute later than it says.
TEST_F(TouchesTest, AScanCountsAsATouchAtTheLatestTimeThatItMayBe) {
  Track("newer", {kT + 20});
  storage_->data_trust().Doubt("lost");
  Scan({{KeyOf("newer"), {{kT}, "", {}, 0}}, {KeyOf("missing"), {{kT}, "", {}, 0}}}, "c",
       /*dry_run=*/false, /*latest=*/kT + 90);
  EXPECT_EQ(TouchTime("newer"), kT + 90);
  EXPECT_EQ(TouchTime("missing"), kT + 90);
  storage_->data_trust().Confirm("lost");
}

TEST_F(TouchesTest, AnImportCountsAsATouchOnlyWhileTheDataIsInDoubt) {
  for (const char* id : {"same", "newer"}) Track(id, {kT + 80});
  Import("trusted", kT + 90);
  EXPECT_EQ(TouchTime("trusted"), 0);
  storage_->data_trust().Doubt("lost");
  Import("missing", kT + 80);
  Import("same", kT + 80);
  Import("newer", kT + 70);  // than what the store has
  Track("reported", {kT + 80});
  EXPECT_EQ(TouchTime("missing"), kT + 100);
  EXPECT_EQ(TouchTime("same"), kT + 100);
  EXPECT_EQ(TouchTime("newer"), kT + 100);
  EXPECT_EQ(TouchTime("reported"), 0) << "it is no import";
  storage_->data_trust().Confirm("lost");
}

// Judged without the touch, which nobody has made: what the store had before pulls the brake.
TEST_F(TouchesTest, AnItemThatCountsAsTouchedIsAdoptedUntilItIsDueAgain) {
  Scan({{KeyOf("long ago"), {{kT - 1000}, "", {}, 0}},
        {KeyOf("short"), {{kT - 1000, 5}, "", {}, 0}},
        {KeyOf("ends"), {{kT - 1000, std::nullopt, kT - 500}, "", {}, 0}},
        {KeyOf("live"), {{kT + 20}, "", {}, 0}}});
  const auto adopted_until = [&](const char* id) {
    return storage_.FindItem("c", id)->adopted_until;
  };
  EXPECT_EQ(adopted_until("long ago"), kT + 90);
  EXPECT_EQ(adopted_until("short"), kT + 40) << "the grace";
  EXPECT_EQ(adopted_until("ends"), kT + 40) << "expire_at is not moved";
  EXPECT_EQ(adopted_until("live"), 0);
  EXPECT_EQ(storage_->tallies().Adopted(storage_.Find("c")->number).items, 3);
  EXPECT_THAT(storage_.Scan("c", kT + 89).early, IsEmpty()) << "it stays adopted until it is due";
  EXPECT_THAT(storage_.DueIds("c", kT + 89), UnorderedElementsAre("short", "ends"));
  EXPECT_THAT(storage_.DueIds("c", kT + 90),
              UnorderedElementsAre("short", "ends", "long ago", "live"));
}

}  // namespace
}  // namespace ttl
