// A store that pushes back: throttling, wishes to wait, slowness, absence.

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>

#include "absl/time/time.h"
#include "tests/testing/retry_info_status.h"
#include "tests/testing/sweep_harness.h"

namespace ttl {
namespace {

FakePrimaryStore::BeforeDelete ThrottleAll(std::optional<int64_t> retry_after_seconds) {
  return [=](const auto& request, auto& response) -> std::optional<grpc::Status> {
    for (int i = 0; i < request.items_size(); ++i) {
      response.add_results()->set_outcome(v1::DELETE_OUTCOME_THROTTLED);
    }
    if (retry_after_seconds.has_value()) {
      response.mutable_retry_after()->set_seconds(*retry_after_seconds);
    }
    return grpc::Status::OK;
  };
}

struct PushBackTest : testing::Test {
  PushBackTest() {
    number = h.storage.Create("c", -1)->number;
    h.SetLimit(1000);
    h.WriteMany("c", "due", 20'000, kStart - 100, 10);
  }

  int64_t SentWithin(absl::Duration duration) {
    const int64_t before = h.TallyOf("c").sent;
    h.SweepFor(duration);
    return h.TallyOf("c").sent - before;
  }
  std::optional<double> Bearable() { return h.published.View(number).pace.bearable_per_second; }

  SweepHarness h;
  uint64_t number;
};

TEST_F(PushBackTest, ThrottlingCutsTheRateAtOnceAndItGrowsBackSlowly) {
  SentWithin(absl::Seconds(2));
  h.store.SetBeforeDelete(ThrottleAll(std::nullopt));
  SentWithin(absl::Milliseconds(100));
  h.store.SetBeforeDelete(nullptr);
  ASSERT_TRUE(Bearable().has_value());
  const int64_t first_second = SentWithin(absl::Seconds(1));
  EXPECT_LE(first_second, 660);
  EXPECT_GE(first_second, 200);
  SentWithin(absl::Seconds(15));
  EXPECT_EQ(Bearable(), std::nullopt);
  EXPECT_NEAR(SentWithin(absl::Seconds(1)), 1000, 101);
}

// Each cut would be to half of what was deleted lately, and the next answer is lost before the rate
// has grown back.
TEST_F(PushBackTest, StoreThatLosesOneAnswerInFortyGetsDeletesAtTheLimit) {
  int calls = 0;
  h.store.SetAfterDelete([&](const auto&, auto&) {
    if (++calls % 41 != 0) return grpc::Status::OK;
    return grpc::Status(grpc::StatusCode::UNAVAILABLE, "the answer is lost");
  });
  EXPECT_GE(SentWithin(absl::Seconds(15)), 13'000);
  EXPECT_EQ(Bearable(), std::nullopt);
}

// After push-back the rate is half of what the store deleted in the last second before it, and it
// is back within ten seconds of the last one, however long the store refused everything.
TEST_F(PushBackTest, TheOldRateIsBackWithinTenSecondsOfTheLastPushBack) {
  SentWithin(absl::Seconds(3));
  h.store.SetBeforeDelete(
      [](auto&, auto&) { return grpc::Status(grpc::StatusCode::RESOURCE_EXHAUSTED, "too busy"); });
  SentWithin(absl::Milliseconds(150));
  EXPECT_NEAR(Bearable().value_or(0), 500, 110);
  SentWithin(absl::Seconds(6));
  h.store.SetBeforeDelete(nullptr);
  SentWithin(absl::Seconds(10));
  EXPECT_GE(SentWithin(absl::Seconds(1)), 900);
}

// B58: a store that throttles all the time is asked now and then, and not forgotten.
TEST_F(PushBackTest, UnderLastingThrottlingTheSweepBacksOffToItsFloor) {
  SentWithin(absl::Seconds(1));
  h.store.SetBeforeDelete(ThrottleAll(std::nullopt));
  SentWithin(absl::Seconds(30));
  const int64_t within_a_minute = SentWithin(absl::Minutes(1));
  EXPECT_LE(within_a_minute, 200);
  EXPECT_GE(within_a_minute, 30);
  EXPECT_EQ(h.TallyOf("c").failed, 0);
  EXPECT_EQ(h.storage.FindItem("c", "due19999")->attempts, 0);
}

TEST_F(PushBackTest, RetryAfterInAnAnswerIsHonoured) {
  h.store.SetBeforeDelete(ThrottleAll(20));
  SentWithin(absl::Milliseconds(1));
  h.store.SetBeforeDelete(nullptr);
  EXPECT_EQ(SentWithin(absl::Milliseconds(19'900)), 0);
  EXPECT_GT(SentWithin(absl::Milliseconds(200)), 0);
}

TEST_F(PushBackTest, RetryAfterBesideDeletesIsAPauseAndNoPushBack) {
  int calls = 0;
  h.store.SetBeforeDelete([&](auto&, auto& response) -> std::optional<grpc::Status> {
    ++calls;
    response.mutable_retry_after()->set_nanos(500'000'000);
    return std::nullopt;
  });
  EXPECT_GT(SentWithin(absl::Seconds(5)), 0);
  EXPECT_GE(calls, 9);
  EXPECT_LE(calls, 11);
  EXPECT_EQ(Bearable(), std::nullopt);
}

TEST_F(PushBackTest, RetryInfoInAnErrorIsHonoured) {
  for (const auto code : {grpc::StatusCode::RESOURCE_EXHAUSTED, grpc::StatusCode::UNAVAILABLE}) {
    h.store.SetBeforeDelete(
        [code](auto&, auto&) { return WithRetryInfo(code, absl::Seconds(20)); });
    SentWithin(absl::Milliseconds(200));
    h.store.SetBeforeDelete(nullptr);
    EXPECT_EQ(SentWithin(absl::Milliseconds(19'700)), 0);
    EXPECT_GT(SentWithin(absl::Seconds(2)), 0);
  }
}

TEST_F(PushBackTest, TheWishOfOneContainerHoldsNoOther) {
  h.storage.Create("other", -1);
  h.WriteMany("other", "due", 10, kStart - 50, 10);
  h.store.SetBeforeDelete([](auto& request, auto&) -> std::optional<grpc::Status> {
    if (request.container() != "c") return std::nullopt;
    return WithRetryInfo(grpc::StatusCode::RESOURCE_EXHAUSTED, absl::Seconds(20));
  });
  h.SweepFor(absl::Milliseconds(500));
  EXPECT_EQ(h.store.Count("other"), 0);
  EXPECT_EQ(h.store.Count("c"), 20'000);
}

TEST_F(PushBackTest, AStoreThatBecomesSlowIsPushBack) {
  absl::Duration takes = absl::Milliseconds(30);
  h.store.SetBeforeDelete([&](auto&, auto&) -> std::optional<grpc::Status> {
    h.clock.Advance(takes);
    return std::nullopt;
  });
  SentWithin(absl::Seconds(3));
  EXPECT_EQ(Bearable(), std::nullopt);
  takes = absl::Milliseconds(90);
  SentWithin(absl::Seconds(1));
  EXPECT_TRUE(Bearable().has_value());
}

TEST_F(PushBackTest, AStoreThatWasAwayIsFoundAgainWithinASecondOrTwo) {
  for (const auto code : {grpc::StatusCode::UNAVAILABLE, grpc::StatusCode::DEADLINE_EXCEEDED}) {
    h.store.FailInfo(grpc::Status(code, "away"));
    h.store.SetBeforeDelete([code](auto&, auto&) { return grpc::Status(code, "away"); });
    h.SweepFor(absl::Minutes(10));
    h.store.FailInfo(grpc::Status::OK);
    h.store.SetBeforeDelete(nullptr);
    const int64_t before = h.store.Count("c");
    h.SweepFor(absl::Milliseconds(2100));
    EXPECT_LT(h.store.Count("c"), before) << code;
  }
}

}  // namespace
}  // namespace ttl
