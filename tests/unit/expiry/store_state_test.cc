#include "service/expiry/store/store_state.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/time/time.h"
#include "service/expiry/moment.h"

namespace ttl {
namespace {

constexpr absl::Duration kSteady = absl::Hours(1);
const absl::Time kWall = absl::FromUnixSeconds(1'800'000'000);

// The moment at which so much time has passed since the start of the test.
Moment After(absl::Duration passed) {
  const absl::Time now = kWall + passed;
  return {{.now = now, .for_deletes = now, .deletes_allowed = true}, kSteady + passed};
}

v1::GetStoreInfoResponse MakeInfo(absl::Duration store_clock_offset = absl::ZeroDuration(),
                                  absl::Duration passed = absl::ZeroDuration()) {
  v1::GetStoreInfoResponse info;
  info.set_store_id("store-1");
  info.mutable_now()->set_seconds(absl::ToUnixSeconds(kWall + passed + store_clock_offset));
  return info;
}

StoreState MakeKnown(absl::Duration store_clock_offset = absl::ZeroDuration()) {
  StoreState state(absl::Seconds(60));
  state.TakeInfo(MakeInfo(store_clock_offset), After(absl::ZeroDuration()),
                 After(absl::ZeroDuration()));
  return state;
}

TEST(StoreStateTest, ErrorsAreShownWithoutTheirPayloads) {
  absl::Status error = absl::ResourceExhaustedError("busy");
  error.SetPayload("a.type/x", absl::Cord("y"));
  StoreState state = MakeKnown();
  state.TakeCallError(error, /*answered=*/true);
  EXPECT_EQ(state.View(true, After(absl::Seconds(1))).last_error, "RESOURCE_EXHAUSTED: busy");
  state.TakeCallError(absl::UnavailableError("down"), /*answered=*/false);
  state.TakeInfoError(error, After(absl::Seconds(1)));
  EXPECT_EQ(state.View(true, After(absl::Seconds(1))).last_error, "RESOURCE_EXHAUSTED: busy");
}

TEST(StoreStateTest, InfoIsDueAtFirstAfterErrorsAndNowAndThen) {
  StoreState fresh(absl::Seconds(60));
  EXPECT_TRUE(fresh.IsInfoDue(kSteady));
  StoreState state = MakeKnown();
  EXPECT_FALSE(state.IsInfoDue(kSteady));
  EXPECT_FALSE(state.IsInfoDue(kSteady + absl::Seconds(29)));
  EXPECT_TRUE(state.IsInfoDue(kSteady + absl::Seconds(30)));
  state.TakeCallError(absl::InternalError("boom"), /*answered=*/true);
  EXPECT_FALSE(state.IsInfoDue(kSteady + absl::Seconds(1)));
  state.TakeCallError(absl::UnavailableError("down"), /*answered=*/false);
  EXPECT_TRUE(state.IsInfoDue(kSteady + absl::Seconds(1)));
}

TEST(StoreStateTest, UnusableInfoIsNamed) {
  struct Case {
    void (*spoil)(v1::GetStoreInfoResponse&);
    const char* field;
  };
  const Case cases[] = {
      {[](v1::GetStoreInfoResponse& info) { info.clear_store_id(); }, "store_id"},
      {[](v1::GetStoreInfoResponse& info) { info.set_store_id(std::string(257, 'x')); },
       "store_id"},
      {[](v1::GetStoreInfoResponse& info) { info.clear_now(); }, "now"},
      {[](v1::GetStoreInfoResponse& info) { info.set_max_batch_items(-1); }, "max_batch_items"},
  };
  EXPECT_TRUE(StoreState::ValidateInfo(MakeInfo()).ok());
  for (const Case& c : cases) {
    v1::GetStoreInfoResponse info = MakeInfo();
    c.spoil(info);
    const absl::Status status = StoreState::ValidateInfo(info);
    EXPECT_FALSE(status.ok());
    EXPECT_TRUE(absl::StrContains(status.message(), c.field)) << status;
  }
}

TEST(StoreStateTest, IsReadyOnceTheStoreHasSaidWhoItIsAndUntilItDoesNotAnswer) {
  StoreState state(absl::Seconds(60));
  EXPECT_FALSE(state.IsReady());
  state.TakeInfo(MakeInfo(), After(absl::ZeroDuration()), After(absl::ZeroDuration()));
  EXPECT_TRUE(state.IsReady());
  state.TakeCallError(absl::InternalError("boom"), /*answered=*/true);
  EXPECT_TRUE(state.IsReady());
  state.TakeCallError(absl::DeadlineExceededError("late"), /*answered=*/false);
  EXPECT_FALSE(state.IsReady());
  state.TakeInfo(MakeInfo(), After(absl::Seconds(1)), After(absl::Seconds(1)));
  EXPECT_TRUE(state.IsReady());
  state.TakeInfoError(absl::UnimplementedError("what?"), After(absl::Seconds(2)));
  EXPECT_FALSE(state.IsReady());
}

TEST(StoreStateTest, AStoreThatDoesNotAnswerIsLookedForEverySecond) {
  StoreState state = MakeKnown();
  for (int64_t second = 1; second < 100; ++second) {
    const Moment now = After(absl::Seconds(second));
    state.TakeInfoError(absl::UnavailableError("down"), now);
    EXPECT_FALSE(state.IsInfoDue(now.steady + absl::Milliseconds(999)));
    EXPECT_TRUE(state.IsInfoDue(now.steady + absl::Seconds(1)));
    EXPECT_EQ(state.View(true, now).held_until, now.time.for_deletes + absl::Seconds(1));
  }
}

TEST(StoreStateTest, TheStoresClockIsFollowedByTheSteadyClock) {
  StoreState fresh(absl::Seconds(60));
  EXPECT_EQ(fresh.Now(kSteady), std::nullopt);
  StoreState state = MakeKnown(-absl::Seconds(2));
  EXPECT_EQ(state.Now(kSteady + absl::Seconds(10)), kWall + absl::Seconds(8));
  EXPECT_EQ(state.View(true, After(absl::Seconds(10))).clock_skew, absl::Seconds(2));
}

TEST(StoreStateTest, ASlowAnswerCountsAsReadAtItsEnd) {
  StoreState state(absl::Seconds(60));
  // The store read its clock somewhere within four seconds.
  state.TakeInfo(MakeInfo(), After(-absl::Seconds(2)), After(absl::Seconds(2)));
  EXPECT_EQ(state.Now(kSteady + absl::Seconds(2)), kWall);
  EXPECT_EQ(state.View(true, After(absl::Seconds(2))).clock_skew, absl::ZeroDuration());
}

TEST(StoreStateTest, AnswersToDeletesUpdateTheClockUnlessTheyTookLong) {
  StoreState state = MakeKnown();
  v1::DeleteItemsResponse response;
  response.mutable_store_now()->set_seconds(absl::ToUnixSeconds(kWall) - 5);
  EXPECT_TRUE(
      state.TakeAnswer(response, After(-absl::Seconds(3)), After(absl::ZeroDuration())).ok());
  EXPECT_EQ(state.Now(kSteady), kWall);
  EXPECT_TRUE(
      state.TakeAnswer(response, After(absl::ZeroDuration()), After(absl::ZeroDuration())).ok());
  EXPECT_EQ(state.Now(kSteady), kWall - absl::Seconds(5));
}

TEST(StoreStateTest, AnAnswerToDeletesWithAnImpossibleClockMakesItAskForTheClock) {
  StoreState state = MakeKnown();
  v1::DeleteItemsResponse response;
  response.mutable_store_now()->set_seconds(absl::ToUnixSeconds(kWall) + 61);
  const Moment now = After(absl::ZeroDuration());
  const absl::Status taken = state.TakeAnswer(response, now, now);
  EXPECT_TRUE(absl::StrContains(taken.message(), "store_now")) << taken;
  EXPECT_FALSE(state.IsReady());
  EXPECT_TRUE(state.IsInfoDue(kSteady));
  EXPECT_EQ(state.Now(kSteady), kWall);
  EXPECT_FALSE(state.View(true, now).skew_too_large);
  EXPECT_TRUE(state.View(true, now).reachable);
  state.TakeInfo(MakeInfo(), now, now);
  EXPECT_TRUE(state.IsReady());
  EXPECT_EQ(state.View(true, now).last_error, "");
}

TEST(StoreStateTest, AStoreThatSaysItIsAnotherOneIsAskedWhoItIs) {
  StoreState state = MakeKnown();
  state.TakeCallError(absl::FailedPreconditionError("another store"), /*answered=*/true);
  EXPECT_FALSE(state.IsReady());
  EXPECT_TRUE(state.IsInfoDue(kSteady));
  EXPECT_TRUE(state.View(true, After(absl::ZeroDuration())).reachable);
}

TEST(StoreStateTest, ItIsAskedEverySecondWhileItsClockIsTooFarAway) {
  for (const int64_t seconds : {60, 61}) {
    const StoreState state = MakeKnown(absl::Seconds(seconds));
    EXPECT_EQ(state.IsInfoDue(kSteady + absl::Seconds(1)), seconds == 61);
  }
}

TEST(StoreStateTest, TheLastAnswerIsShownByTheClockOfNow) {
  StoreState state(absl::Seconds(60));
  Moment wrong = After(absl::ZeroDuration());
  wrong.time.now = absl::FromUnixSeconds(40);
  state.TakeInfo(MakeInfo(), wrong, wrong);
  EXPECT_EQ(state.View(true, After(absl::Seconds(7))).last_success_time, kWall);
}

TEST(StoreStateTest, SkewIsTooLargeBeyondTheLimitEitherWay) {
  for (const int64_t seconds : {-61, -60, 0, 60, 61}) {
    const StoreState state = MakeKnown(absl::Seconds(seconds));
    EXPECT_EQ(state.View(true, After(absl::ZeroDuration())).skew_too_large,
              seconds < -60 || seconds > 60)
        << seconds;
  }
}

TEST(StoreStateTest, TheViewTellsWhatHappened) {
  EXPECT_FALSE(MakeKnown().View(false, After(absl::ZeroDuration())).configured);
  StoreState state = MakeKnown();
  StoreView view = state.View(true, After(absl::ZeroDuration()));
  EXPECT_TRUE(view.configured);
  EXPECT_TRUE(view.reachable);
  EXPECT_EQ(view.store_id, "store-1");
  EXPECT_EQ(view.last_error, "");
  EXPECT_EQ(view.last_success_time, kWall);
  state.TakeInfoError(absl::UnavailableError("down"), After(absl::Seconds(5)));
  view = state.View(true, After(absl::Seconds(5)));
  EXPECT_FALSE(view.reachable);
  EXPECT_EQ(view.last_error, "UNAVAILABLE: down");
  EXPECT_EQ(view.last_success_time, kWall);
}

TEST(StoreStateTest, BatchesKeepToTheStoresLimit) {
  StoreState state = MakeKnown();
  EXPECT_EQ(state.MaxBatchItems(500), 500);
  v1::GetStoreInfoResponse info = MakeInfo();
  info.set_max_batch_items(20);
  state.TakeInfo(info, After(absl::ZeroDuration()), After(absl::ZeroDuration()));
  EXPECT_EQ(state.MaxBatchItems(500), 20);
  EXPECT_EQ(state.MaxBatchItems(10), 10);
}

}  // namespace
}  // namespace ttl
