// The sweeper under load, over many starts and stops, and the size of the index.
// tests/field_reports.md explains the numbers.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "service/base/mutex.h"
#include "tests/testing/sweep_harness.h"

namespace ttl {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

std::string IdOf(int64_t i) { return absl::StrFormat("i%05d", i); }

// The store reports that the items "i00000", ... are deleted.
void UntrackMany(SweepHarness& h, int64_t count, int64_t ts) {
  std::vector<ItemRemoval> removals;
  for (int64_t i = 0; i < count; ++i) removals.push_back({KeyOf(IdOf(i)), ts, std::nullopt});
  const auto removed = Await<absl::StatusOr<std::vector<UntrackOutcome>>>([&](auto done) {
    h.storage->items().Untrack(h.storage.Find("c")->number, std::move(removals), std::move(done));
  });
  EXPECT_TRUE(removed.ok()) << removed.status();
}

// Entries that the expiry index of "c" has, due or not, of living items or not.
size_t CountEntries(SweepHarness& h) {
  const DueScan scan = h.storage.Scan("c", kStart + 1'000'000'000, 1'000'000, 10'000'000);
  EXPECT_FALSE(scan.more);
  return scan.due.size() + scan.early.size();
}

// Reads of the database so far.
int64_t CountReads(SweepHarness& h) {
  const OperationCounts counts = h.storage->Counts();
  return counts.gets + counts.seeks + counts.steps;
}

int64_t CountEntriesOf(const std::string& directory) {
  const std::filesystem::directory_iterator all(directory);
  return std::distance(begin(all), end(all));
}

// Threads and open files of this process.
struct ProcessUse {
  int64_t threads = CountEntriesOf("/proc/self/task");
  int64_t files = CountEntriesOf("/proc/self/fd");
};

// gRPC's pools, which we share with the fake store, keep a thread more or less.
constexpr int64_t kPoolThreads = 5;

void ExpectNoMoreThan(const ProcessUse& before) {
  const ProcessUse after;
  EXPECT_LE(after.threads, before.threads + kPoolThreads);
  EXPECT_LE(after.files, before.files);
}

// 10,000 touches while the deletes of the same items are carried out: by the time a
// touch is answered, the item is there and stays, or it is gone.
// Field report B41.
TEST(SweeperLoadTest, ATouchIsAnsweredOkOnlyIfTheItemLives) {
  constexpr int64_t kItems = 10'000;
  SweepHarness h;
  h.storage.Create("c", -1);
  h.WriteMany("c", "i", kItems, kStart - 100, 10);
  const uint64_t number = h.storage.Find("c")->number;
  std::vector<std::atomic<bool>> answered_ok(kItems);
  // A store touches what it has, and reports that.
  const auto touch = [&](const std::vector<int64_t>& items) {
    std::vector<ItemReport> reports;
    for (const int64_t i : items) {
      ItemReport report;
      report.key = KeyOf(IdOf(i));
      report.version.times = {kStart, 10};
      if (!h.store.Find("c", report.key).has_value()) continue;
      h.store.Put("c", report.key, report.version);
      answered_ok[i] = true;
      reports.push_back(std::move(report));
    }
    if (reports.empty()) return;
    const auto tracked = Await<absl::StatusOr<std::vector<TrackOutcome>>>([&](auto done) {
      h.storage->items().Track(number, std::move(reports), AdoptionTerms(), std::move(done));
    });
    EXPECT_TRUE(tracked.ok()) << tracked.status();
  };
  // Of each batch: one item is touched before, one after its delete, and all others at
  // the same time.
  Mutex mutex;
  std::vector<std::thread> touching;  // under `mutex`
  h.store.SetBeforeDelete([&](auto& request, auto&) {
    std::vector<int64_t> items;
    for (const auto& item : request.items()) items.push_back(std::stoll(item.id().substr(1)));
    touch({items.front()});
    MutexLock lock(mutex);
    touching.emplace_back(touch, std::vector<int64_t>(items.rbegin() + 1, items.rend() - 1));
    return std::optional<grpc::Status>();
  });
  h.store.SetAfterDelete([&](auto& request, auto&) {
    touch({std::stoll(request.items(request.items_size() - 1).id().substr(1))});
    return grpc::Status::OK;
  });
  h.SweepNow();
  int64_t batches = 0;
  {
    MutexLock lock(mutex);
    for (std::thread& thread : touching) thread.join();
    batches = static_cast<int64_t>(touching.size());
  }
  h.SweepNow();
  h.store.SetBeforeDelete(nullptr);
  h.store.SetAfterDelete(nullptr);

  const int64_t ok = std::count(answered_ok.begin(), answered_ok.end(), true);
  EXPECT_GE(ok, batches);
  EXPECT_LE(ok, kItems - batches);
  for (int64_t i = 0; i < kItems; ++i) {
    const bool lives = h.store.Find("c", KeyOf(IdOf(i))).has_value();
    ASSERT_EQ(lives, answered_ok[i]) << IdOf(i);
    const std::optional<TrackedItem> tracked = h.storage.FindItem("c", IdOf(i));
    ASSERT_EQ(lives, tracked.has_value()) << IdOf(i);
    ASSERT_TRUE(!lives || tracked->version.times.ts == kStart) << IdOf(i);
  }
  h.SweepFor(absl::Seconds(9));
  EXPECT_EQ(h.store.Count("c"), ok);
  h.SweepFor(absl::Seconds(1));
  EXPECT_EQ(h.store.Count("c"), 0);
}

// Twice as many items become due as may be deleted: the age of the oldest rises and can
// be seen, and falls once the inflow ends.
// Field report B61.
TEST(SweeperLoadTest, TheOldestDueAgeShowsThatDeletesFallBehind) {
  SweepHarness h;
  h.SetLimit(100);
  const ContainerPtr container = h.storage.Create("c", -1);
  const auto backlog = [&] {
    const DueRule rule = ComputeDueRule(container->settings.policy, {}, kTestNow);
    return h.storage->expiry_index().CountDue(*container, rule, h.Now(), 100'000).value();
  };
  const auto oldest_age = [&] { return h.Now() - backlog().oldest_due_time.value_or(h.Now()); };
  int64_t age_before = 0;
  for (int second = 0; second < 40; ++second) {
    h.WriteMany("c", absl::StrFormat("s%02d-", second), 200, h.Now() - 1, 1);
    h.SweepFor(absl::Seconds(1));
    if (second % 10 != 9) continue;
    EXPECT_GT(oldest_age(), age_before);
    age_before = oldest_age();
  }
  EXPECT_NEAR(static_cast<double>(backlog().count), 4000, 120);
  EXPECT_NEAR(static_cast<double>(age_before), 20, 2);
  h.SweepFor(absl::Seconds(42));
  EXPECT_EQ(backlog().count, 0);
  EXPECT_EQ(backlog().oldest_due_time, std::nullopt);
}

// The number of calls at a time is changed in the middle of calls and of a tight rate.
// Field report B75.
TEST(SweeperLoadTest, ChangingTheNumberOfCallsLosesNothing) {
  SweeperOptions options;
  options.batch_items = 100;
  SweepHarness h(options);
  h.SetLimit(2000);
  for (int c = 0; c < 8; ++c) {
    const std::string container = absl::StrCat("c", c);
    h.storage.Create(container, -1);
    h.WriteMany(container, "i", 1000, kStart - 100, 10);
  }
  for (const int64_t calls : {4, 1, 8, 2}) {
    options.max_calls_under_way = calls;
    h.RestartSweeper(options);
    const int64_t before = h.store.CountAll();
    h.SweepFor(absl::Milliseconds(500));
    EXPECT_LT(h.store.CountAll(), before) << calls;
    h.clock.Advance(absl::Milliseconds(100));
    EXPECT_GT(h.RunOnce().sent, 0);
  }
  h.SweepFor(absl::Seconds(5));
  EXPECT_EQ(h.store.CountAll(), 0);
  EXPECT_THAT(h.store.Deleted(), SizeIs(8000));
  for (int c = 0; c < 8; ++c) {
    const DeleteTally tally = h.TallyOf(absl::StrCat("c", c));
    EXPECT_EQ(tally.failed + tally.throttled + tally.unanswered + tally.modified, 0) << c;
    EXPECT_THAT(h.storage.DueIds(absl::StrCat("c", c), kStart), IsEmpty());
  }
}

// Field report B77.
TEST(SweeperLoadTest, AThousandSweepersLeaveNothingBehind) {
  SweepHarness h;
  h.storage.Create("c", -1);
  int64_t written = 0;
  const auto start_and_stop = [&](bool in_mid_call) {
    h.Write("c", IdOf(written++), kStart - 100, 10);
    if (in_mid_call) {
      // The first answer says who the store is, the next step sends the delete.
      h.RunOnce();
      h.sweeper().AwaitCall();
      EXPECT_GT(h.RunOnce().sent, 0);
    } else {
      h.SweepNow();
    }
    h.RestartSweeper({});
  };
  for (int i = 0; i < 20; ++i) start_and_stop(i % 2 == 0);
  const ProcessUse before;
  for (int i = 0; i < 1000; ++i) start_and_stop(i % 2 == 0);
  h.SweepNow();
  EXPECT_EQ(h.store.Count("c"), 0);
  ExpectNoMoreThan(before);
}

// Field report B77.
TEST(SweeperLoadTest, AThousandContainersLeaveNothingBehind) {
  SweepHarness h;
  const auto live_and_die = [&](const std::string& container) {
    h.storage.Create(container, std::nullopt);
    h.storage.SetDefaultTtl(container, 60);
    h.Write(container, "a", kStart - 100);
    h.Step();
    h.Write(container, "b", kStart);
    h.storage.SetDefaultTtl(container, std::nullopt);
    ASSERT_TRUE(h.storage.Delete(container).ok());
  };
  live_and_die("first");
  const ProcessUse before;
  for (int i = 0; i < 1000; ++i) live_and_die(absl::StrCat("c", i));
  h.SweepNow();
  h.storage.FinishHousekeeping();
  EXPECT_THAT(h.store.Deleted(), SizeIs(1001));
  EXPECT_THAT(h.storage->containers().All(), IsEmpty());
  ExpectNoMoreThan(before);
  // Nothing is left to look at.
  const int64_t reads = CountReads(h);
  h.SweepFor(absl::Seconds(10));
  EXPECT_EQ(CountReads(h), reads);
}

// After a start all items are counted anew for the status. Deletes do not wait for it.
// Field report B78.
TEST(SweeperLoadTest, CountingDelaysNoDelete) {
  SweepHarness h;
  h.storage.Create("c", -1);
  h.WriteMany("c", "due", 10'000, kStart - 100, 10);
  h.WriteMany("c", "live", 1'000, kStart, 3600);
  h.Restart();
  const uint64_t number = h.storage.Find("c")->number;
  EXPECT_FALSE(h.storage->tallies().View(number).complete);
  h.SweepNow();
  EXPECT_EQ(h.store.Count("c"), 1000);
  EXPECT_FALSE(h.storage->tallies().View(number).complete) << "and the status says so";
  EXPECT_EQ(h.storage->tallies().View(number).tracked.items, 1000);
  h.storage.FinishHousekeeping();
  EXPECT_TRUE(h.storage->tallies().View(number).complete);
}

// An item of one second every 100 ms, and a store that takes 500 ms for every call.
// Field report B80.
TEST(SweeperLoadTest, DeletesContinueUnderASteadyStreamOneCallAtATime) {
  SweepHarness h;
  h.storage.Create("c", 1);
  std::atomic<int64_t> written = 0;
  const auto pass_time = [&](int tenths) {
    for (int i = 0; i < tenths; ++i) {
      h.clock.Advance(absl::Milliseconds(100));
      h.guarded_clock->Tick();
      h.Write("c", IdOf(written++), h.Now());
    }
  };
  std::atomic<int> calls = 0;
  h.store.SetBeforeDelete([&](auto&, auto&) {
    EXPECT_EQ(++calls, 1);
    pass_time(5);
    --calls;
    return std::optional<grpc::Status>();
  });
  const absl::Time end = kTestNow + absl::Minutes(2);
  while (*h.clock.Read().wall < end) {
    if (h.Step().sent == 0) pass_time(1);
  }
  const auto received = h.store.ReceivedDeletes();
  EXPECT_GE(received.size(), 100u);
  for (size_t i = 0; i < received.size(); ++i) {
    for (const auto& item : received[i].request.items()) {
      const absl::Duration lag = received[i].at - absl::FromUnixSeconds(item.expire_time());
      ASSERT_LE(lag, absl::Seconds(1)) << "in call " << i << " of " << received.size();
    }
  }
  // What two seconds bring in, and a call under way.
  EXPECT_LE(h.store.Count("c"), 30);
}

// Field report B81.
TEST(SweeperLoadTest, ItemsRemovedEarlyLeaveNoEntries) {
  SweepHarness h;
  h.storage.Create("c", -1);
  h.WriteMany("c", "live", 11, kStart, 7200);
  for (int round = 0; round < 10; ++round) {
    std::vector<ItemReport> created(5000);
    for (size_t i = 0; i < created.size(); ++i) {
      created[i].key = KeyOf(IdOf(static_cast<int64_t>(i)));
      created[i].version.times = {kStart, 3600};
    }
    ASSERT_TRUE(h.storage.Track("c", std::move(created)).ok());
    UntrackMany(h, 5000, kStart);
  }
  EXPECT_EQ(CountEntries(h), 11u);
  h.Restart();
  EXPECT_EQ(CountEntries(h), 11u);
  h.SweepFor(absl::Seconds(3601));
  EXPECT_THAT(h.store.ReceivedDeletes(), IsEmpty());
  EXPECT_EQ(h.store.Count("c"), 11);
}

// However often an item is touched, it has one entry, which is met once.
// Field report B81.
TEST(SweeperLoadTest, AnItemTouchedAHundredThousandTimesHasOneEntry) {
  SweepHarness h;
  h.storage.Create("c", -1);
  for (int64_t second = 0; second < 100; ++second) {
    std::vector<ItemReport> touches(1000);
    for (ItemReport& touch : touches) {
      touch.key = KeyOf("a");
      touch.version.times = {kStart + second, 3600};
    }
    h.store.Put("c", KeyOf("a"), touches.back().version);
    ASSERT_TRUE(h.storage.Track("c", std::move(touches)).ok());
  }
  EXPECT_LE(CountEntries(h), 1u);
  const uint64_t number = h.storage.Find("c")->number;
  h.SweepFor(absl::Seconds(3600 + 98));
  EXPECT_LE(h.published.View(number).early_entries, 1);
  EXPECT_THAT(h.store.ReceivedDeletes(), IsEmpty());
  h.SweepFor(absl::Seconds(1));
  EXPECT_EQ(h.store.Count("c"), 0);
  EXPECT_EQ(CountEntries(h), 0u);
}

// One that may not delete, while somebody else does: it keeps what the store has, and
// no more.
// Field report B82.
TEST(SweeperLoadTest, AStandbyDoesNotGrowAndTakesOverAtOnce) {
  SweepHarness h;
  h.storage.Create("c", -1);
  h.storage.Pause("c", true);
  for (int second = 0; second < 30; ++second) {
    const int64_t ts = h.Now();
    h.WriteMany("c", "i", 1000, ts, 1);
    EXPECT_EQ(CountEntries(h), 1000u);
    h.SweepFor(absl::Seconds(2));
    if (second == 29) break;
    for (int64_t i = 0; i < 1000; ++i) h.store.Erase("c", KeyOf(IdOf(i)));
    UntrackMany(h, 1000, ts);
  }
  EXPECT_THAT(h.store.ReceivedDeletes(), IsEmpty());
  EXPECT_EQ(CountEntries(h), 1000u);
  h.storage.Pause("c", false);
  h.SweepNow();
  EXPECT_EQ(h.store.Count("c"), 0);
  EXPECT_EQ(CountEntries(h), 0u);
}

// What a pass costs follows what is due; at scale in tests/unit/storage.
// Field report B89.
TEST(SweeperLoadTest, APassDoesNotReadLiveItems) {
  const auto cost_of_a_pass = [](int64_t live) {
    SweepHarness h;
    h.storage.Create("c", 3600);
    h.WriteMany("c", "due", 10, kStart - 3600);
    h.WriteMany("c", "live", live, kStart);
    const int64_t before = CountReads(h);
    EXPECT_EQ(h.SweepNow(), 10);
    return CountReads(h) - before;
  };
  EXPECT_EQ(cost_of_a_pass(20'000), cost_of_a_pass(10));
}

}  // namespace
}  // namespace ttl
