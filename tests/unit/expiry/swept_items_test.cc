// Which items a sweep deletes, and which it must not: illegal and extreme ttls, rewritten items,
// the brake, restored stores, and two sidecars with one store. tests/field_reports.md explains the
// numbers.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "absl/time/civil_time.h"
#include "absl/time/time.h"
#include "grpcpp/security/credentials.h"
#include "tests/testing/sweep_harness.h"

namespace ttl {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

constexpr int64_t kDay = 86400;

// Holds the first delete that arrives at a store back until it is released.
class FirstDeleteHeld {
 public:
  explicit FirstDeleteHeld(FakePrimaryStore& store) {
    store.SetBeforeDelete([this](auto&, auto&) {
      if (first_.exchange(false)) {
        arrived_.Notify();
        released_.WaitForNotification();
      }
      return std::optional<grpc::Status>();
    });
  }
  void AwaitArrival() { arrived_.WaitForNotification(); }
  void Release() { released_.Notify(); }

 private:
  std::atomic<bool> first_ = true;
  absl::Notification arrived_;
  absl::Notification released_;
};

// Sends a delete and does not wait for the answer.
void SendOne(SweepHarness& h) {
  while (h.RunOnce().sent == 0) ASSERT_TRUE(h.sweeper().AwaitCall());
}

// Another sidecar beside that of a harness: the same store and the same clock, but data
// of its own.
class SecondSidecar {
 public:
  explicit SecondSidecar(SweepHarness& first)
      : guarded_clock_(first.clock, std::nullopt),
        client_(first.store.address(), grpc::InsecureChannelCredentials()),
        moments_(first.clock, guarded_clock_),
        sweeper_(SweeperOptions(), Sweeper::Parts{*storage, &client_, published_, usage_, *levers_,
                                                  wake_, moments_}) {}

  void SweepNow() {
    for (;;) {
      Sweeper::StepResult step = sweeper_.RunOnce();
      bool awaited = false;
      while (sweeper_.AwaitCall()) {
        awaited = true;
        sweeper_.TakeIn(step);
      }
      if (!awaited && step.wait > absl::ZeroDuration()) return;
    }
  }

  DeleteTally TallyOf(const std::string& container) {
    return published_.View(storage.Find(container)->number).deletes.tally;
  }

  StorageForTest storage;

 private:
  PublishedSweep published_;
  UsageMeter usage_;
  std::unique_ptr<Levers> levers_ = Levers::Load(*storage, {}).value();
  WakeSignal wake_;
  GuardedClock guarded_clock_;
  PrimaryStoreClient client_;
  MomentReader moments_;
  Sweeper sweeper_;
};

// The longest ttls, written this side and that side of what 32 bits of seconds can hold.
// Field report B01.
TEST(SweptItemsTest, TheLongestTtlsAreNotSwept) {
  SweepHarness h;
  h.storage.Create("c", -1);
  const absl::Time eves[] = {absl::FromCivil(absl::CivilDay(2037, 12, 31), absl::UTCTimeZone()),
                             absl::FromCivil(absl::CivilDay(2038, 1, 20), absl::UTCTimeZone())};
  for (const absl::Time eve : eves) {
    h.SweepNow();
    h.clock.Advance(eve - *h.clock.Read().wall);
    h.guarded_clock->Tick();
    const int64_t ts = h.Now();
    h.Write("c", absl::StrCat("longest-", ts), ts, 2147483647);
    h.Write("c", absl::StrCat("cassandra-", ts), ts, 630720000);
    h.Restart();
    h.SweepFor(absl::Hours(1));
    EXPECT_THAT(h.store.ReceivedDeletes(), IsEmpty());
    EXPECT_THAT(h.storage.DueIds("c", ts + 2147483646),
                Not(Contains(absl::StrCat("longest-", ts))));
    EXPECT_THAT(h.storage.DueIds("c", ts + 2147483647), Contains(absl::StrCat("longest-", ts)));
  }
}

// A ttl that passed no validation: put into the store by another tool, and tracked by
// an older version of us.
// Field report B05.
TEST(SweptItemsTest, AnIllegalStoredTtlIsSkippedAndItsPageIsSwept) {
  constexpr int64_t kNoTtl = std::numeric_limits<int64_t>::max();
  SweepHarness h;
  h.storage.Create("c", 60);
  h.Write("c", "bad-known", kStart - 1000, kNoTtl);
  h.Write("c", "bad-unknown", kStart - 1000, 10);
  ItemVersion bad;
  bad.times = {kStart - 1000, kNoTtl};
  h.store.Put("c", KeyOf("bad-unknown"), bad);
  h.WriteMany("c", "good", 100, kStart - 1000);
  EXPECT_EQ(h.storage.DueIds("c", kStart).size(), 101u);
  h.SweepFor(absl::Hours(1));
  EXPECT_TRUE(h.store.Find("c", KeyOf("bad-known")).has_value());
  EXPECT_TRUE(h.store.Find("c", KeyOf("bad-unknown")).has_value());
  EXPECT_EQ(h.store.Count("c"), 2);
  EXPECT_LE(h.store.ReceivedDeletes().size(), 10u) << "what cannot be deleted is asked for rarely";
}

// Field report B13.
TEST(SweptItemsTest, AnItemsOwnTtlDeletesNothingWhileTtlIsOff) {
  SweepHarness h;
  h.storage.Create("c", std::nullopt);
  h.Write("c", "a", kStart - 4000, 1);
  h.SweepFor(absl::Hours(1));
  EXPECT_THAT(h.store.ReceivedDeletes(), IsEmpty());
  h.storage.SetDefaultTtl("c", -1);
  h.SweepNow();
  EXPECT_EQ(h.store.Count("c"), 0);
}

// Field report B21.
TEST(SweptItemsTest, AnItemFromTheFutureIsNotDeletedEarly) {
  SweepHarness h;
  h.storage.Create("c", -1);
  h.Write("c", "a", kStart + 600, 60);
  h.SweepFor(absl::Seconds(659));
  EXPECT_THAT(h.store.ReceivedDeletes(), IsEmpty());
  h.SweepFor(absl::Seconds(1));
  EXPECT_EQ(h.store.Count("c"), 0);
}

// The next sweep leaves alone what was created under the key of an expired item.
// Field report B32.
TEST(SweptItemsTest, AnItemCreatedOverAnExpiredOneLives) {
  SweepHarness h;
  h.storage.Create("c", -1);
  h.storage.Pause("c", true);
  h.Write("c", "a", kStart - 100, 10, "E1");
  h.SweepFor(absl::Seconds(10));
  h.Write("c", "a", h.Now(), 3600, "E2");
  h.storage.Pause("c", false);
  h.SweepFor(absl::Seconds(10));
  EXPECT_EQ(h.store.Find("c", KeyOf("a"))->etag, "E2");
  EXPECT_THAT(h.store.ReceivedDeletes(), IsEmpty());
}

// A was stopped between judgement and delete, B has taken over, and half of the items
// were written again meanwhile, reported to B alone. There is no owner here who could
// be deposed: a delete of either does no harm at any time.
// Field report B43.
TEST(SweptItemsTest, AResumedSidecarDeletesNoRewrittenItem) {
  for (const absl::Duration stopped : {absl::Seconds(1), absl::Minutes(2)}) {
    SCOPED_TRACE(stopped);
    SweepHarness a;
    SecondSidecar b(a);
    a.storage.Create("c", -1);
    b.storage.Create("c", -1);
    a.WriteMany("c", "i", 10, kStart - 100, 10);
    for (int i = 0; i < 10; ++i) {
      b.storage.TrackOne("c", absl::StrCat("i0000", i), kStart - 100, 10);
    }
    FirstDeleteHeld held(a.store);
    SendOne(a);
    held.AwaitArrival();
    a.clock.Advance(stopped);
    for (int i = 0; i < 5; ++i) {
      const std::string id = absl::StrCat("i0000", i);
      ItemVersion version;
      version.times = {a.Now(), 3600};
      a.store.Put("c", KeyOf(id), version);
      b.storage.TrackOne("c", id, a.Now(), 3600);
    }
    b.SweepNow();
    held.Release();
    a.SweepFor(absl::Minutes(2));
    EXPECT_EQ(a.store.Count("c"), 5);
    EXPECT_EQ(b.TallyOf("c").deleted, 5);
    EXPECT_EQ(a.TallyOf("c").deleted, 0);
    EXPECT_EQ(a.TallyOf("c").not_found, 5);
    EXPECT_EQ(a.TallyOf("c").modified, 5);
    EXPECT_THAT(a.store.Deleted(), SizeIs(5));
    for (int i = 0; i < 5; ++i) {
      EXPECT_EQ(a.storage.FindItem("c", absl::StrCat("i0000", i))->version.times.ttl, 3600);
    }
  }
}

// The brake. Of 11 items, 10 have been expired for a week.
class SweptItemsBrakeTest : public testing::Test {
 protected:
  SweptItemsBrakeTest() {
    settings_ = h_.storage.Create("c", kDay)->settings;
    settings_.brake = PolicyBrake{std::nullopt, /*max_newly_due_percent=*/5,
                                  /*release_after_seconds=*/600};
    EXPECT_TRUE(h_.storage.Update("c", settings_).ok());
    h_.WriteMany("c", "old", 10, kStart - 8 * kDay);
    h_.WriteMany("c", "young", 1, kStart - kDay / 2);
  }

  void SetDefaultTtl(int64_t default_ttl) {
    settings_.policy.default_ttl = default_ttl;
    EXPECT_TRUE(h_.storage.Update("c", settings_).ok());
  }

  SweepHarness h_;
  ContainerSettings settings_;
};

// Field report B48.
TEST_F(SweptItemsBrakeTest, ABrakeDoesNotHoldWhatWasDueBefore) {
  SetDefaultTtl(60);
  h_.SweepFor(absl::Seconds(1));
  EXPECT_EQ(h_.TallyOf("c").deleted, 10);
  EXPECT_TRUE(h_.store.Find("c", KeyOf("young00000")).has_value());
}

// Field report B48.
TEST_F(SweptItemsBrakeTest, ABrakeReleasesByItself) {
  SetDefaultTtl(60);
  h_.SweepFor(absl::Seconds(599));
  EXPECT_EQ(h_.store.Count("c"), 1);
  h_.SweepFor(absl::Seconds(2));
  EXPECT_EQ(h_.store.Count("c"), 0);
}

// Field report B48.
TEST_F(SweptItemsBrakeTest, AnOperatorReleasesABrakeWithoutARestart) {
  SetDefaultTtl(60);
  h_.SweepFor(absl::Seconds(10));
  EXPECT_EQ(h_.store.Count("c"), 1);
  const auto confirmed = Await<absl::StatusOr<ContainerPtr>>([&](auto done) {
    h_.storage->containers().ConfirmPolicy("c", "", kTestNow + absl::Seconds(10), std::move(done));
  });
  ASSERT_TRUE(confirmed.ok()) << confirmed.status();
  h_.SweepFor(absl::Seconds(1));
  EXPECT_EQ(h_.store.Count("c"), 0);
}

// Field report B48.
TEST_F(SweptItemsBrakeTest, WithoutAPolicyChangeNoBrakeIsPulled) {
  h_.SweepFor(absl::Seconds(1));
  EXPECT_EQ(h_.TallyOf("c").deleted, 10);
}

// The ttl of the version before never sticks.
// Field report B49.
TEST(SweptItemsTest, AReplacedItemKeepsNothingOfItsOldTtl) {
  SweepHarness h;
  h.storage.Create("c", -1);
  h.Write("c", "a", kStart, 60);
  h.Write("c", "a", kStart + 1);
  h.clock.Advance(absl::Seconds(1));
  h.SweepFor(absl::Hours(1));
  EXPECT_THAT(h.store.ReceivedDeletes(), IsEmpty());
  EXPECT_THAT(h.storage.DueIds("c", kStart + 1'000'000), IsEmpty());

  h.storage.SetDefaultTtl("c", 600);
  const int64_t now = h.Now();
  h.Write("c", "a", now, 60);
  h.Write("c", "a", now);
  EXPECT_THAT(h.storage.DueIds("c", now + 599), IsEmpty());
  h.SweepFor(absl::Seconds(599));
  EXPECT_EQ(h.store.Count("c"), 1);
  h.SweepFor(absl::Seconds(1));
  EXPECT_EQ(h.store.Count("c"), 0);
}

// Field report B50.
TEST(SweptItemsTest, AnUpdateMovesTheExpiry) {
  SweepHarness h;
  h.storage.Create("c", -1);
  h.Write("c", "a", kStart, 60);
  h.Write("c", "b", kStart, 60);
  h.SweepFor(absl::Seconds(30));
  h.Write("c", "a", kStart + 30, -1);
  h.SweepFor(absl::Seconds(1));
  h.Write("c", "b", kStart + 31, 3600);
  h.SweepFor(absl::Seconds(69));
  EXPECT_EQ(h.store.Count("c"), 2);
  EXPECT_THAT(h.store.ReceivedDeletes(), IsEmpty());
  h.SweepFor(absl::Hours(2));
  EXPECT_TRUE(h.store.Find("c", KeyOf("a")).has_value());
  EXPECT_FALSE(h.store.Find("c", KeyOf("b")).has_value());
}

// A store restored with the _ts of a month ago: what would go is known before any goes.
// Field report B53.
TEST(SweptItemsTest, ARestoredStoreLosesNothingBeforeDeletesAreResumed) {
  SweepHarness h;
  h.storage.Create("c", -1);
  const auto set_pause = [&](std::optional<Pause> pause) {
    const absl::Status status = Await<absl::Status>([&](auto done) {
      h.storage->containers().SetPauseOfAll(std::move(pause), std::move(done));
    });
    EXPECT_TRUE(status.ok()) << status;
  };
  set_pause(Pause{"restored", kTestNow});
  h.WriteMany("c", "old", 100, kStart - 30 * kDay, 7 * kDay);
  h.WriteMany("c", "young", 10, kStart - kDay, 7 * kDay);
  h.Restart();
  h.SweepFor(absl::Minutes(10));
  EXPECT_THAT(h.store.ReceivedDeletes(), IsEmpty());
  h.storage.FinishHousekeeping();
  const ContainerPtr container = h.storage.Find("c");
  const DueRule rule = ComputeDueRule(container->settings.policy, {}, kTestNow);
  const TallyView tally = h.storage->tallies().View(container->number);
  EXPECT_TRUE(tally.complete);
  EXPECT_EQ(tally.histogram.CountDue(rule, h.Now()).sum.items, 100);

  set_pause(std::nullopt);
  h.SweepNow();
  EXPECT_EQ(h.store.Count("c"), 10);
}

// A patch that the store answers with the _ts of before, and one with a new _ts. Either
// way the expiry follows what the store has, and not our time of the call.
// Field report B54.
TEST(SweptItemsTest, TheExpiryIsComputedFromTheTsThatTheStoreReturned) {
  for (const int64_t returned_ts : {kStart, kStart + 30}) {
    SCOPED_TRACE(returned_ts);
    SweepHarness h;
    h.storage.Create("c", -1);
    h.Write("c", "a", kStart, 60, "E1");
    h.SweepFor(absl::Seconds(30));
    h.Write("c", "a", returned_ts, 60, "E2");
    EXPECT_THAT(h.storage.DueIds("c", returned_ts + 59), IsEmpty());
    EXPECT_THAT(h.storage.DueIds("c", returned_ts + 60), ElementsAre("a"));
    h.SweepFor(absl::Seconds(returned_ts + 59 - h.Now()));
    EXPECT_EQ(h.store.Count("c"), 1);
    h.SweepFor(absl::Seconds(1));
    EXPECT_EQ(h.store.Count("c"), 0);
    EXPECT_EQ(h.TallyOf("c").sent, 1);
  }
}

// There is no token that could grow old: a pass that is broken off again and again
// makes progress each time.
// Field report B69.
TEST(SweptItemsTest, AnInterruptedPassContinuesWhereItWas) {
  SweeperOptions options;
  options.batch_items = 100;
  SweepHarness h(options);
  h.storage.Create("c", -1);
  h.WriteMany("c", "i", 3000, kStart - 100, 10);
  for (int64_t left = 3000; left > 0; left -= 300) {
    ASSERT_EQ(h.store.Count("c"), left);
    for (int batch = 0; batch < 3; ++batch) EXPECT_EQ(h.Step().sent, 100);
    h.Restart();
  }
  EXPECT_EQ(h.store.Count("c"), 0);
  h.SweepNow();
  EXPECT_THAT(h.store.ReceivedDeletes(), SizeIs(30)) << "no item is sent twice";
}

// A pass that an error, an operator or a stop has ended is not the last good one.
// Field report B90.
TEST(SweptItemsTest, OnlyACompletePassUpdatesTheLastPassTime) {
  SweeperOptions options;
  options.batch_items = 10;
  SweepHarness h(options);
  h.storage.Create("c", -1);
  h.WriteMany("c", "i", 100, kStart - 100, 10);
  const uint64_t number = h.storage.Find("c")->number;
  const auto last_pass = [&] { return h.published.View(number).last_complete_pass_time; };
  h.store.SetBeforeDelete(
      [](auto&, auto&) { return grpc::Status(grpc::StatusCode::UNAVAILABLE, "away"); });
  h.SweepFor(absl::Minutes(1));
  EXPECT_EQ(last_pass(), std::nullopt) << "after an error";
  h.store.SetBeforeDelete(nullptr);
  h.SetLimit(0);
  h.SweepFor(absl::Minutes(1));
  EXPECT_EQ(last_pass(), std::nullopt) << "none allowed";
  h.SetLimit(std::nullopt);
  h.RestartSweeper(options);
  EXPECT_EQ(h.Step().sent, 10);
  EXPECT_EQ(last_pass(), std::nullopt) << "stopped in the middle";
  h.RestartSweeper(options);
  h.SweepFor(absl::Minutes(10));
  EXPECT_EQ(h.store.Count("c"), 0);
  ASSERT_TRUE(last_pass().has_value());
  EXPECT_GT(*last_pass(), kTestNow + absl::Minutes(2));
}

// Both meet the same expired item before either has deleted it.
// Field report B93.
TEST(SweptItemsTest, TwoSidecarsDeleteAnItemOnce) {
  SweepHarness a;
  SecondSidecar b(a);
  a.storage.Create("c", -1);
  b.storage.Create("c", -1);
  a.Write("c", "a", kStart - 100, 10, "E1");
  b.storage.TrackOne("c", "a", kStart - 100, 10);
  FirstDeleteHeld held(a.store);
  SendOne(a);
  held.AwaitArrival();
  b.SweepNow();
  held.Release();
  a.SweepFor(absl::Minutes(1));
  b.SweepNow();
  EXPECT_THAT(a.store.Deleted(), SizeIs(1));
  EXPECT_EQ(b.TallyOf("c").deleted, 1);
  EXPECT_EQ(a.TallyOf("c").deleted, 0);
  EXPECT_EQ(a.TallyOf("c").not_found, 1);
  EXPECT_FALSE(a.storage.FindItem("c", "a").has_value());
  EXPECT_FALSE(b.storage.FindItem("c", "a").has_value());
  ASSERT_THAT(a.store.ReceivedDeletes(), SizeIs(2)) << "nobody asks again";
  const v1::ExpiredItem sent = a.store.ReceivedDeletes()[0].request.items(0);
  EXPECT_EQ(sent.id(), "a");
  EXPECT_EQ(sent.etag(), "E1");
}

}  // namespace
}  // namespace ttl
