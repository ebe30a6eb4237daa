// Items whose delete never works out, beside others that are due.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "tests/testing/sweep_harness.h"

namespace ttl {
namespace {

bool IsBad(const v1::ExpiredItem& item) { return absl::StartsWith(item.id(), "bad"); }

bool HasBad(const v1::DeleteItemsRequest& request) {
  return std::any_of(request.items().begin(), request.items().end(), IsBad);
}

int64_t GoneOf(SweepHarness& h, const std::string& prefix) {
  const auto deleted = h.store.Deleted();
  return std::count_if(deleted.begin(), deleted.end(),
                       [&](const auto& key) { return absl::StartsWith(key.second.id, prefix); });
}

// How often items named so were sent.
int64_t SentOf(SweepHarness& h, const std::string& prefix) {
  int64_t sent = 0;
  for (const auto& received : h.store.ReceivedDeletes()) {
    for (const auto& item : received.request.items()) sent += absl::StartsWith(item.id(), prefix);
  }
  return sent;
}

StuckPage Stuck(SweepHarness& h, const std::string& container) {
  return h.storage->expiry_index().ListStuck(*h.storage.Find(container), {}, 1000).value();
}

TEST(SweeperStuckTest, ModifiedToAnExpiredStateIsTriedAgainWithGrowingDelay) {
  SweepHarness h;
  h.storage.Create("c", -1);
  h.WriteMany("c", "bad", 600, kStart - 1000, 10);
  h.WriteMany("c", "good", 300, kStart - 500, 10);
  int64_t versions = 0;
  h.store.SetAfterDelete([&](auto& request, auto& response) {
    for (int i = 0; i < request.items_size(); ++i) {
      if (!IsBad(request.items(i))) continue;
      v1::DeleteResult& result = *response.mutable_results(i);
      result.Clear();
      result.set_outcome(v1::DELETE_OUTCOME_MODIFIED);
      result.mutable_current()->set_ts(request.items(i).ts());
      result.mutable_current()->set_ttl(request.items(i).ttl());
      result.mutable_current()->set_etag(absl::StrCat("version ", ++versions));
    }
    return grpc::Status::OK;
  });
  h.SweepFor(absl::Milliseconds(100));
  EXPECT_EQ(GoneOf(h, "good"), 300) << "they wait behind the others";
  h.SweepFor(absl::Seconds(8));
  EXPECT_EQ(SentOf(h, "bad"), 4 * 600);  // after 0, 1, 3 and 7 seconds
  const TrackedItem item = *h.storage.FindItem("c", "bad00042");
  EXPECT_EQ(item.attempts, 4);
  EXPECT_TRUE(absl::StrContains(item.last_error, "MODIFIED")) << item.last_error;
  EXPECT_EQ(Stuck(h, "c").items.size(), 600u);

  // A report of the store begins anew.
  h.store.SetAfterDelete(nullptr);
  h.Write("c", "bad00042", kStart - 100, 10);
  EXPECT_EQ(h.storage.FindItem("c", "bad00042")->attempts, 0);
  h.SweepFor(absl::Minutes(1));
  EXPECT_TRUE(Stuck(h, "c").items.empty());
}

TEST(SweeperStuckTest, AnswersThatChangeNothingAreRepeatedLessAndLessOften) {
  for (const auto outcome :
       {v1::DELETE_OUTCOME_NOT_EXPIRED, v1::DELETE_OUTCOME_FAILED, v1::DELETE_OUTCOME_MODIFIED}) {
    SweepHarness h;
    h.storage.Create("c", -1);
    h.Write("c", "a", kStart - 1000, 10);
    h.store.SetAfterDelete([&](auto& request, auto& response) {
      v1::DeleteResult& result = *response.mutable_results(0);
      result.Clear();
      result.set_outcome(outcome);
      if (outcome == v1::DELETE_OUTCOME_MODIFIED) {
        result.mutable_current()->set_ts(request.items(0).ts() - 1);
        result.mutable_current()->set_ttl(10);
      }
      // As if its clock were always a little behind.
      response.mutable_store_now()->set_seconds(request.items(0).expire_time() - 1);
      return grpc::Status::OK;
    });
    h.SweepFor(absl::Hours(1));
    EXPECT_LE(SentOf(h, "a"), 13) << outcome;  // after 0, 1, 3, 7, ... 2047 seconds
    EXPECT_EQ(Stuck(h, "c").items.size(), 1u) << outcome;
  }
}

// One item whose delete hangs, among others that are due.
TEST(SweeperStuckTest, AnItemWhoseDeleteHangsKeepsBackNoOthers) {
  SweepHarness h;
  h.storage.Create("c", -1);
  h.Write("c", "bad", kStart - 1000, 10);
  h.WriteMany("c", "good", 401, kStart - 500, 10);
  h.store.SetBeforeDelete([&](auto& request, auto&) -> std::optional<grpc::Status> {
    if (!HasBad(request)) return std::nullopt;
    h.clock.Advance(absl::Seconds(5));
    return grpc::Status(grpc::StatusCode::DEADLINE_EXCEEDED, "as if it had hung");
  });
  h.SweepFor(absl::Seconds(20));
  EXPECT_GE(GoneOf(h, "good"), 200);
  h.SweepFor(absl::Seconds(60));
  EXPECT_EQ(GoneOf(h, "good"), 401);
  h.SweepFor(absl::Minutes(2));
  ASSERT_EQ(Stuck(h, "c").items.size(), 1u);
  EXPECT_EQ(Stuck(h, "c").items[0].key, KeyOf("bad"));

  // What comes due later never shares a batch with it again.
  const int64_t before = SentOf(h, "bad");
  h.WriteMany("c", "more", 400, kStart - 500, 10);
  h.SweepFor(absl::Seconds(10));
  EXPECT_EQ(GoneOf(h, "more"), 400);
  h.SweepFor(absl::Minutes(30));
  EXPECT_LE(SentOf(h, "bad") - before, 8);
}

// The store deletes the batch, but its answer cannot be read while one item is in it.
TEST(SweeperStuckTest, AnItemThatSpoilsTheAnswerIsFound) {
  struct Case {
    const char* name;
    FakePrimaryStore::AfterDelete spoil;
  };
  const Case cases[] = {
      {"not parsable",
       [](auto& request, auto&) {
         return HasBad(request) ? grpc::Status(grpc::StatusCode::INTERNAL, "cannot be parsed")
                                : grpc::Status::OK;
       }},
      {"a result too few",
       [](auto& request, auto& response) {
         if (HasBad(request)) response.mutable_results()->RemoveLast();
         return grpc::Status::OK;
       }},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    SweepHarness h;
    h.storage.Create("c", -1);
    h.Write("c", "bad", kStart - 1000, 10);
    h.WriteMany("c", "good", 900, kStart - 500, 10);
    h.store.SetAfterDelete(c.spoil);
    h.SweepFor(absl::Milliseconds(500));
    EXPECT_EQ(h.storage->tallies().Tracked(h.storage.Find("c")->number).items, 1);
    EXPECT_LE(h.store.ReceivedDeletes().size(), 25u);
    EXPECT_EQ(h.published.Store().unconfirmed, "");
    ASSERT_EQ(Stuck(h, "c").items.size(), 1u);
    EXPECT_EQ(Stuck(h, "c").items[0].key, KeyOf("bad"));
    EXPECT_EQ(Stuck(h, "c").items[0].attempts, 1);
  }
}

TEST(SweeperStuckTest, WhileItemsWaitForTheirNextTryNoPassIsComplete) {
  SweepHarness h;
  const uint64_t number = h.storage.Create("c", -1)->number;
  const auto last_pass = [&] { return h.published.View(number).last_complete_pass_time; };
  h.Write("c", "good", kStart - 500, 10);
  h.SweepFor(absl::Seconds(1));
  const std::optional<absl::Time> before = last_pass();
  EXPECT_TRUE(before.has_value());
  h.Write("c", "bad", kStart - 500, 10);
  h.store.Poison("c", KeyOf("bad"), "locked");
  h.SweepFor(absl::Minutes(10));
  EXPECT_EQ(last_pass(), before);
  // Nothing waits any more once it has been written again.
  h.Write("c", "bad", h.Now(), 1000);
  h.Write("c", "good", h.Now() - 500, 10);
  h.SweepFor(absl::Seconds(1));
  EXPECT_GT(last_pass(), before);
}

// What is due since a time before clocks were set does not tell how late deletes are.
TEST(SweeperStuckTest, LatenessAndAgesAreNotFedByNonsenseTimes) {
  SweepHarness h;
  const ContainerPtr container = h.storage.Create("c", -1);
  h.Write("c", "device", 45, 1);
  h.Write("c", "inherits", kStart - 500, 10);
  const DueRule rule = {std::nullopt, 0};
  const ExpiryIndex& index = h.storage->expiry_index();
  EXPECT_EQ(index.OldestDueTime(*container, rule, kStart).value(), kStart - 490);
  EXPECT_EQ(index.CountDue(*container, rule, kStart, 100)->oldest_due_time, kStart - 490);
  EXPECT_EQ(index.CountDue(*container, rule, kStart, 100)->count, 2);
  h.SweepNow();
  EXPECT_EQ(h.store.Count("c"), 0);
  EXPECT_EQ(h.published.View(container->number).deletes.lateness.sum, absl::Seconds(490));
}

// The clock was wrong when the sweeper went to sleep.
TEST(SweeperStuckTest, AClockThatIsRightAgainEndsTheSleepAtOnce) {
  SweepHarness h;
  h.storage.Create("c", -1);
  h.SweepNow();
  h.clock.StepWall(-absl::Hours(1));  // suspect
  h.Write("c", "a", kStart - 5, 10);
  h.SweepFor(absl::Seconds(10));
  EXPECT_EQ(h.store.Count("c"), 1);
  h.clock.StepWall(absl::Hours(1));
  h.guarded_clock->Tick();
  h.SweepFor(absl::Milliseconds(1100));
  EXPECT_EQ(h.store.Count("c"), 0);
  EXPECT_FALSE(h.published.Store().skew_too_large);
}

}  // namespace
}  // namespace ttl
