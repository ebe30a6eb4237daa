// A store that fails, hangs, throttles, lies, or is another one.

#include <gtest/gtest.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <sstream>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "tests/testing/sweep_harness.h"

namespace ttl {
namespace {

FakePrimaryStore::BeforeDelete FailWith(grpc::StatusCode code) {
  return [code](auto&, auto&) { return grpc::Status(code, "scripted"); };
}

// What is logged while it lives.
class LogCapture {
 public:
  LogCapture() : before_(spdlog::default_logger()) {
    spdlog::set_default_logger(std::make_shared<spdlog::logger>(
        "test", std::make_shared<spdlog::sinks::ostream_sink_mt>(stream_)));
    spdlog::set_level(spdlog::level::trace);
  }
  ~LogCapture() { spdlog::set_default_logger(before_); }
  std::string Text() const { return stream_.str(); }
  int64_t Lines() const {
    const std::string text = Text();
    return std::count(text.begin(), text.end(), '\n');
  }

 private:
  std::ostringstream stream_;
  std::shared_ptr<spdlog::logger> before_;
};

TEST(SweeperStoreTest, AStoreThatIsDownForHoursLosesNothing) {
  SweepHarness h;
  h.storage.Create("c", 60);
  h.WriteMany("c", "due", 100, kStart - 100);
  h.store.FailInfo(grpc::Status(grpc::StatusCode::UNAVAILABLE, "down"));
  h.SweepFor(absl::Hours(2));
  EXPECT_EQ(h.store.ReceivedDeletes().size(), 0u);
  EXPECT_LE(h.store.InfoCalls(), 2 * 3600 + 10);
  EXPECT_FALSE(h.published.Store().reachable);
  EXPECT_TRUE(h.published.Store().held_until.has_value());
  EXPECT_TRUE(absl::StrContains(h.published.Store().last_error, "down"));
  h.store.FailInfo(grpc::Status::OK);
  h.SweepFor(absl::Seconds(1));
  EXPECT_EQ(h.store.Count("c"), 0);
  EXPECT_TRUE(h.published.Store().reachable);
  EXPECT_FALSE(h.published.Store().held_until.has_value());
}

TEST(SweeperStoreTest, FailingCallsAreRepeatedLater) {
  for (const auto code : {grpc::StatusCode::UNAVAILABLE, grpc::StatusCode::RESOURCE_EXHAUSTED}) {
    SweepHarness h;
    h.storage.Create("c", 60);
    h.WriteMany("c", "due", 100, kStart - 100);
    h.store.SetBeforeDelete(FailWith(code));
    h.SweepFor(absl::Seconds(10));
    // After 0, 0.1, 0.3 and 0.7 seconds, and then no more than once a second.
    EXPECT_GE(h.store.ReceivedDeletes().size(), 10u) << code;
    EXPECT_LE(h.store.ReceivedDeletes().size(), 14u) << code;
    EXPECT_EQ(h.TallyOf("c").unanswered, h.TallyOf("c").sent);
    h.store.SetBeforeDelete(nullptr);
    h.SweepFor(absl::Seconds(20));
    EXPECT_EQ(h.store.Count("c"), 0);
  }
}

TEST(SweeperStoreTest, AfterALostConnectionTheStoreIsLookedAtBeforeItIsSentAnything) {
  SweepHarness h;
  h.storage.Create("c", 60);
  h.WriteMany("c", "due", 100, kStart - 100);
  h.store.SetBeforeDelete(FailWith(grpc::StatusCode::UNAVAILABLE));
  h.SweepFor(absl::Milliseconds(50));
  EXPECT_EQ(h.store.InfoCalls(), 2);
  EXPECT_EQ(h.store.ReceivedDeletes().size(), 1u);
}

TEST(SweeperStoreTest, AStoreThatHangsCostsOneDeadlineAndRecovers) {
  SweeperOptions options;
  // For the store to say who it is, whatever the machine does.
  options.delete_deadline = absl::Seconds(4);
  SweepHarness h(options);
  h.storage.Create("c", 60);
  h.WriteMany("c", "due", 10, kStart - 100);
  h.store.Hang();
  EXPECT_EQ(h.Step().sent, 10);
  EXPECT_EQ(h.SweepNow(), 0);
  EXPECT_TRUE(h.published.View(h.storage.Find("c")->number).pace.held_until.has_value());
  EXPECT_TRUE(h.published.Store().reachable) << "it has said since who it is";
  h.store.Release();
  h.SweepFor(absl::Seconds(1));
  EXPECT_LT(h.store.Count("c"), 10);
  h.SweepFor(absl::Seconds(10));
  EXPECT_EQ(h.store.Count("c"), 0);
}

TEST(SweeperStoreTest, WithCallsCancelledTheSweeperStaysQuiet) {
  SweepHarness h;
  h.storage.Create("c", 60);
  h.WriteMany("c", "due", 10, kStart - 100);
  h.store.SetBeforeDelete([&](auto&, auto&) -> std::optional<grpc::Status> {
    h.client().Cancel();
    return std::nullopt;
  });
  h.SweepFor(absl::Minutes(1));
  EXPECT_EQ(h.TallyOf("c").unanswered, 10);
  EXPECT_EQ(h.store.ReceivedDeletes().size(), 1u);
}

// B63: the hundred oldest always fail.
TEST(SweeperStoreTest, FailingItemsDoNotBlockLaterOnes) {
  SweeperOptions options;
  options.batch_items = 100;
  SweepHarness h(options);
  h.storage.Create("c", -1);
  h.WriteMany("c", "bad", 100, kStart - 1000, 10);
  h.WriteMany("c", "good", 900, kStart - 500, 10);
  for (const std::string& id : h.storage.DueIds("c", kStart - 900)) {
    h.store.Poison("c", KeyOf(id), "403");
  }
  h.SweepNow();
  EXPECT_EQ(h.store.Count("c"), 100);
  EXPECT_EQ(h.TallyOf("c").failed, 100);
  h.SweepFor(absl::Hours(1));
  const TrackedItem item = *h.storage.FindItem("c", "bad00042");
  EXPECT_EQ(item.last_error, "403");
  EXPECT_EQ(item.attempts, 12);  // after 0, 1, 3, 7, ... 2047 seconds
  h.Restart();
  h.SweepFor(absl::Minutes(5));
  EXPECT_EQ(h.storage.FindItem("c", "bad00042")->attempts, 12);
}

TEST(SweeperStoreTest, AnItemThatFailsItsWholeBatchIsFoundAndPutAside) {
  for (const auto code : {grpc::StatusCode::INTERNAL, grpc::StatusCode::INVALID_ARGUMENT,
                          grpc::StatusCode::UNAVAILABLE}) {
    SweepHarness h;
    h.storage.Create("c", -1);
    h.WriteMany("c", "a", 300, kStart - 1000, 10);
    h.Write("c", "bad", kStart - 900, 10);
    h.WriteMany("c", "b", 300, kStart - 800, 10);
    h.store.SetBeforeDelete([code](auto& request, auto&) -> std::optional<grpc::Status> {
      for (const auto& item : request.items()) {
        if (item.id() == "bad") return grpc::Status(code, "boom");
      }
      return std::nullopt;
    });
    h.SweepFor(absl::Minutes(5));
    EXPECT_EQ(h.store.Count("c"), 1) << code;
    EXPECT_GE(h.storage.FindItem("c", "bad")->attempts, 1);
    EXPECT_TRUE(absl::StrContains(h.storage.FindItem("c", "bad")->last_error, "boom"));
    h.store.SetBeforeDelete(nullptr);
    h.SweepFor(absl::Hours(1));
    EXPECT_EQ(h.store.Count("c"), 0);
  }
}

TEST(SweeperStoreTest, BatchesThatAreTooLargeAreHalvedDownToWhatTheStoreTakes) {
  SweepHarness h;
  h.storage.Create("c", -1);
  h.WriteMany("c", "due", 600, kStart - 1000, 10);
  h.store.SetBeforeDelete([](auto& request, auto&) -> std::optional<grpc::Status> {
    if (request.items_size() <= 40) return std::nullopt;
    return grpc::Status(grpc::StatusCode::INVALID_ARGUMENT, "too many items");
  });
  h.SweepNow();
  EXPECT_EQ(h.store.Count("c"), 0);
  EXPECT_LE(h.store.ReceivedDeletes().size(), 45u);
}

// One container whose every call fails.
TEST(SweeperStoreTest, AFailingContainerDisturbsNoOther) {
  for (const auto code : {grpc::StatusCode::PERMISSION_DENIED, grpc::StatusCode::NOT_FOUND}) {
    SweepHarness h;
    h.storage.Create("bad", -1);
    h.storage.Create("good", -1);
    h.WriteMany("bad", "due", 100, kStart - 1000, 10);
    h.WriteMany("good", "due", 1200, kStart - 500, 10);
    h.store.SetBeforeDelete([code](auto& request, auto&) -> std::optional<grpc::Status> {
      if (request.container() != "bad") return std::nullopt;
      return grpc::Status(code, "scripted");
    });
    h.SweepFor(absl::Milliseconds(100));
    EXPECT_EQ(h.store.Count("good"), 0);
    EXPECT_EQ(h.store.Count("bad"), 100);
    h.store.SetBeforeDelete(nullptr);
    h.SweepFor(absl::Minutes(1));
    EXPECT_EQ(h.store.Count("bad"), 0);
  }
}

TEST(SweeperStoreTest, WrongNumbersOfResultsLoseNothing) {
  for (const int surplus : {-1, 1}) {
    SweepHarness h;
    h.storage.Create("c", -1);
    h.WriteMany("c", "due", 10, kStart - 1000, 10);
    h.store.SetBeforeDelete([surplus](auto& request, auto& response) {
      for (int i = 0; i < request.items_size() + surplus; ++i) {
        response.add_results()->set_outcome(v1::DELETE_OUTCOME_DELETED);
      }
      return grpc::Status::OK;
    });
    h.SweepFor(absl::Seconds(1));
    EXPECT_EQ(h.TallyOf("c").unanswered, h.TallyOf("c").sent);
    EXPECT_TRUE(h.storage.FindItem("c", "due00000").has_value());
    h.store.SetBeforeDelete(nullptr);
    h.SweepFor(absl::Minutes(1));
    EXPECT_EQ(h.store.Count("c"), 0);
  }
}

TEST(SweeperStoreTest, ModifiedWithoutStateIsShownAndAskedAgainRarely) {
  SweepHarness h;
  h.storage.Create("c", -1);
  h.Write("c", "a", kStart - 1000, 10);
  h.store.SetBeforeDelete([](auto&, auto& response) {
    response.add_results()->set_outcome(v1::DELETE_OUTCOME_MODIFIED);
    return grpc::Status::OK;
  });
  h.SweepFor(absl::Minutes(59));
  EXPECT_TRUE(h.storage.FindItem("c", "a")->state_unknown);
  EXPECT_EQ(h.TallyOf("c").sent, 1);
  EXPECT_EQ(h.TallyOf("c").unanswered, 1);
  h.store.SetBeforeDelete(nullptr);
  h.SweepFor(absl::Minutes(1));
  EXPECT_EQ(h.store.Count("c"), 0);
}

TEST(SweeperStoreTest, StoresThatContradictThemselvesMakeNoLoop) {
  SweepHarness h;
  h.storage.Create("c", -1);
  h.Write("c", "a", kStart - 1000, 10);
  for (const auto outcome : {v1::DELETE_OUTCOME_MODIFIED, v1::DELETE_OUTCOME_NOT_EXPIRED}) {
    h.store.SetBeforeDelete([outcome](auto&, auto& response) {
      v1::DeleteResult* result = response.add_results();
      result->set_outcome(outcome);
      result->mutable_current()->set_ts(kStart - 1000);
      result->mutable_current()->set_ttl(10);
      return grpc::Status::OK;
    });
    const int64_t before = h.TallyOf("c").sent;
    h.SweepFor(absl::Minutes(10));
    EXPECT_LE(h.TallyOf("c").sent - before, 10);
  }
}

TEST(SweeperStoreTest, EtagsAreSentOnlyToStoresThatCompareThem) {
  for (const bool compares : {true, false}) {
    SweepHarness h;
    h.store.SetComparesEtags(compares);
    h.storage.Create("c", -1);
    h.Write("c", "a", kStart - 1000, 10, "E1");
    h.SweepNow();
    EXPECT_EQ(h.store.ReceivedDeletes().at(0).request.items(0).etag(), compares ? "E1" : "");
  }
}

// B27: two machines, two clocks.
TEST(SweeperStoreTest, NoDeleteBeforeTheExpireTimeOnTheStoresClock) {
  for (const int64_t offset : {-5, 0, 5}) {
    SweepHarness h;
    h.SetStoreClockOffset(absl::Seconds(offset));
    h.storage.Create("c", -1);
    const int64_t store_now = kStart + offset;
    h.Write("c", "a", store_now, 3);
    h.SweepFor(absl::Seconds(20));
    EXPECT_EQ(h.store.Count("c"), 0);
    const auto received = h.store.ReceivedDeletes();
    ASSERT_EQ(received.size(), 1u) << offset;
    EXPECT_GE(received[0].at, absl::FromUnixSeconds(store_now + 3));
    EXPECT_EQ(h.published.Store().clock_skew, absl::Seconds(-offset));
  }
}

// Field report B27.
TEST(SweeperStoreTest, DeletesStopWhileClocksAreTooFarApart) {
  for (const int64_t offset : {-7200, 7200}) {
    SweepHarness h;
    h.SetStoreClockOffset(absl::Seconds(offset));
    h.storage.Create("c", -1);
    h.Write("c", "a", kStart - 100'000, 3);
    h.SweepFor(absl::Minutes(5));
    EXPECT_EQ(h.store.ReceivedDeletes().size(), 0u);
    EXPECT_TRUE(h.published.Store().skew_too_large);
    h.SetStoreClockOffset(absl::ZeroDuration());
    h.SweepFor(absl::Seconds(31));
    EXPECT_EQ(h.store.Count("c"), 0);
    EXPECT_FALSE(h.published.Store().skew_too_large);
  }
}

// One answer with a clock that cannot be: deletes wait until the store has been asked for its time.
TEST(SweeperStoreTest, OneAbsurdStoreNowIsNotBelieved) {
  for (const int64_t seconds : {int64_t{0}, int64_t{-62'135'596'801}, kStart + 4'000'000'000}) {
    LogCapture log;
    SweepHarness h;
    h.storage.Create("c", -1);
    h.Write("c", "a", kStart - 1000, 10);
    h.store.SetAfterDelete([seconds](auto&, auto& response) {
      response.mutable_store_now()->set_seconds(seconds);
      return grpc::Status::OK;
    });
    h.SweepNow();
    h.store.SetAfterDelete(nullptr);
    h.WriteMany("c", "more", 100, kStart - 1000, 10);
    h.SweepFor(absl::Milliseconds(10));
    EXPECT_EQ(h.store.Count("c"), 0) << seconds;
    EXPECT_FALSE(h.published.Store().skew_too_large);
    EXPECT_TRUE(absl::StrContains(log.Text(), "store_now")) << log.Text();
  }
}

TEST(SweeperStoreTest, AStoreWhoseClockIsRightAgainIsFoundWithinASecond) {
  SweepHarness h;
  h.SetStoreClockOffset(absl::Hours(5));
  h.storage.Create("c", -1);
  h.Write("c", "a", kStart - 1000, 10);
  h.SweepFor(absl::Seconds(5));
  EXPECT_TRUE(h.published.Store().skew_too_large);
  h.SetStoreClockOffset(absl::ZeroDuration());
  h.SweepFor(absl::Milliseconds(1100));
  EXPECT_EQ(h.store.Count("c"), 0);
}

// B90: every way for a batch to end has a count of its own.
TEST(SweeperStoreTest, UnfinishedDeletesAreNotCountedAsDone) {
  SweepHarness h;
  h.storage.Create("c", -1);
  h.WriteMany("c", "due", 10, kStart - 1000, 10);
  h.store.SetAfterDelete([](auto&, auto&) {
    return grpc::Status(grpc::StatusCode::DEADLINE_EXCEEDED, "applied, but the answer is lost");
  });
  h.SweepNow();
  EXPECT_EQ(h.TallyOf("c").unanswered, 10);
  EXPECT_EQ(h.TallyOf("c").deleted, 0);
  h.store.SetAfterDelete(nullptr);
  h.SweepFor(absl::Seconds(20));
  EXPECT_EQ(h.TallyOf("c").not_found, 10);
  EXPECT_EQ(h.TallyOf("c").sent, 20);
  EXPECT_TRUE(h.storage.DueIds("c", kStart + 100).empty());
}

// B92: many failures, few lines, and all one needs to know in them.
TEST(SweeperStoreTest, FailuresAreLoggedWithNameAndReasonAtALimitedRate) {
  LogCapture log;
  spdlog::set_level(spdlog::level::info);
  SweepHarness h;
  h.storage.Create("salesdb/orders", -1);
  h.WriteMany("salesdb/orders", "due", 1000, kStart - 1000, 10);
  for (const std::string& id : h.storage.DueIds("salesdb/orders", kStart)) {
    h.store.Poison("salesdb/orders", KeyOf(id), "PERMISSION_DENIED");
  }
  h.SweepFor(absl::Minutes(2));
  EXPECT_EQ(h.TallyOf("salesdb/orders").failed, 7000);
  EXPECT_GE(log.Lines(), 2);
  EXPECT_LE(log.Lines(), 13);
  EXPECT_TRUE(absl::StrContains(log.Text(), "salesdb/orders"));
  EXPECT_TRUE(absl::StrContains(log.Text(), "due0"));
  EXPECT_TRUE(absl::StrContains(log.Text(), "PERMISSION_DENIED"));
}

// B95: the log tells expiries from deletes by users.
TEST(SweeperStoreTest, TheLogMarksDeletesAsExpiriesWithTheirReason) {
  LogCapture log;
  SweepHarness h;
  h.storage.Create("c", -1);
  h.Write("c", "gone", kStart - 1000, 10);
  h.SweepNow();
  EXPECT_TRUE(absl::StrContains(log.Text(), "by TTL expiry"));
  EXPECT_TRUE(absl::StrContains(log.Text(), absl::StrCat("ts=", kStart - 1000, " ttl=10")));
}

TEST(SweeperStoreTest, WhileStorageRefusesWritesNothingIsSent) {
  SweepHarness h;
  h.storage.Create("c", -1);
  h.WriteMany("c", "due", 10, kStart - 1000, 10);
  ItemVersion version;
  version.times = {kStart, 10};
  h.storage.env().FailWrites(true);
  EXPECT_FALSE(h.storage.Track("c", {{KeyOf("x"), version}}).ok());
  h.SweepFor(absl::Seconds(10));
  EXPECT_EQ(h.store.ReceivedDeletes().size(), 0u);
  h.storage.env().FailWrites(false);
  h.storage.FinishHousekeeping();
  h.SweepFor(absl::Seconds(10));
  EXPECT_EQ(h.store.Count("c"), 0);
}

}  // namespace
}  // namespace ttl
