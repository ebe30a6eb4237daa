#include "ttl/local_evaluator.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/fake_watch_service.h"
#include "tests/testing/rpc_matchers.h"
#include "tests/testing/rpc_proto.h"
#include "tests/testing/rpc_sidecar.h"
#include "tests/testing/temp_dir.h"
#include "tests/testing/wait.h"

namespace ttl {
namespace {

using std::chrono::nanoseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr int64_t kT = 1'800'000'000;
constexpr JudgedItem kExpired{kT - 60, 60};

v1::WatchContainersResponse Message(const std::string& text) {
  return Proto<v1::WatchContainersResponse>(
      absl::StrCat("clock_state: CLOCK_STATE_SOUND server_time { seconds: ", kT, " } ", text));
}
v1::WatchContainersResponse Snapshot(const std::string& text) {
  return Message(absl::StrCat("event: WATCH_EVENT_SNAPSHOT_END ", text));
}

// An evaluator of a scripted sidecar, by a steady clock that the test moves.
class LocalEvaluatorTest : public testing::Test {
 protected:
  std::unique_ptr<LocalEvaluator> NewEvaluator(LocalEvaluatorOptions options = {}) {
    options.client.address = sidecar_.address();
    options.steady_clock = [this] { return steady_.load(); };
    return std::make_unique<LocalEvaluator>(std::move(options));
  }

  // Whether `id` comes to be judged like that.
  static bool Becomes(LocalEvaluator& evaluator, const std::string& id, LocalVerdict verdict) {
    const LocalEvaluator::Container& container = evaluator.Find(id);
    return WaitUntil([&] { return evaluator.Judge(container, kExpired) == verdict; });
  }

  FakeWatchService sidecar_;
  std::atomic<nanoseconds> steady_ = nanoseconds(seconds(1000));
};

TEST_F(LocalEvaluatorTest, FollowsWhatTheSidecarTells) {
  const auto evaluator = NewEvaluator();
  EXPECT_EQ(evaluator->Judge(evaluator->Find("c"), kExpired), LocalVerdict::kUnknown);
  EXPECT_FALSE(evaluator->IsSure());
  sidecar_.Send(Snapshot("containers { id: 'c' default_ttl: 60 }"));
  EXPECT_TRUE(Becomes(*evaluator, "c", LocalVerdict::kExpired));
  EXPECT_TRUE(evaluator->IsSure());
  sidecar_.Send(Message("event: WATCH_EVENT_CHANGE containers { id: 'c' }"));
  EXPECT_TRUE(Becomes(*evaluator, "c", LocalVerdict::kVisible));
  sidecar_.Send(Message("event: WATCH_EVENT_CHANGE deleted_containers: 'c'"));
  EXPECT_TRUE(Becomes(*evaluator, "c", LocalVerdict::kUnknown));
}

TEST_F(LocalEvaluatorTest, JudgesManyAsOfOneInstant) {
  const auto evaluator = NewEvaluator();
  sidecar_.Send(Snapshot("containers { id: 'c' default_ttl: 60 }"));
  ASSERT_TRUE(Becomes(*evaluator, "c", LocalVerdict::kExpired));
  const std::vector<JudgedItem> items = {
      {kT - 60, std::nullopt}, {kT - 59, std::nullopt}, {kT - 60, -1}, {kT - 1, 1}, {-1, 1}};
  std::vector<LocalVerdict> verdicts(items.size(), LocalVerdict::kUnknown);
  steady_ = steady_.load() + std::chrono::milliseconds(500);
  EXPECT_EQ(evaluator->Judge(evaluator->Find("c"), items, absl::MakeSpan(verdicts)),
            absl::FromUnixSeconds(kT) + absl::Milliseconds(500));
  EXPECT_THAT(verdicts,
              ElementsAre(LocalVerdict::kExpired, LocalVerdict::kVisible, LocalVerdict::kVisible,
                          LocalVerdict::kExpired, LocalVerdict::kVisible));
}

TEST_F(LocalEvaluatorTest, JudgesAsOfAnEarlierInstant) {
  const auto evaluator = NewEvaluator({.client = {}, .max_staleness = absl::Hours(3)});
  sidecar_.Send(Snapshot("containers { id: 'c' default_ttl: 60 }"));
  ASSERT_TRUE(Becomes(*evaluator, "c", LocalVerdict::kExpired));
  const LocalEvaluator::Container& container = evaluator->Find("c");
  const absl::Time now = absl::FromUnixSeconds(kT);
  const auto judge = [&](const JudgedItem& item, absl::Time as_of) {
    return evaluator->JudgeAsOf(container, item, as_of);
  };
  EXPECT_EQ(*judge(kExpired, now), LocalVerdict::kExpired);
  EXPECT_EQ(*judge(kExpired, now - absl::Nanoseconds(1)), LocalVerdict::kVisible);
  EXPECT_EQ(*judge({kT - 3700, 100}, now - absl::Hours(1)), LocalVerdict::kExpired);
  // Possible by now, although more than a day ahead of as_of.
  EXPECT_EQ(*judge({kT + 86400, -1}, now - absl::Hours(1)), LocalVerdict::kVisible);
  // The sidecar's time may be ahead; what ends until then is still shown.
  EXPECT_EQ(*judge(kExpired, now + absl::Seconds(5)), LocalVerdict::kExpired);
  EXPECT_EQ(*judge({kT, 1}, now + absl::Seconds(5)), LocalVerdict::kVisible);
  EXPECT_THAT(judge(kExpired, now + absl::Seconds(5) + absl::Nanoseconds(1)),
              IsInvalid("as_of is 2027-01-15T08:00:05.000000001Z", "5 seconds after",
                        "2027-01-15T08:00:00Z"));
  EXPECT_THAT(judge(kExpired, now - absl::Hours(1) - absl::Nanoseconds(1)),
              IsInvalid("as_of is ", "at most 1 hour"));
}

TEST_F(LocalEvaluatorTest, WhileItIsUnsureAnInstantIsJudgedAsNowIs) {
  {
    const auto asking = NewEvaluator();
    EXPECT_EQ(*asking->JudgeAsOf(asking->Find("c"), kExpired, absl::FromUnixSeconds(kT)),
              LocalVerdict::kUnknown);
  }
  const auto going_on = NewEvaluator({.client = {}, .when_unsure = WhenUnsure::kGoOn});
  sidecar_.Send(Snapshot("containers { id: 'c' default_ttl: 60 }"));
  ASSERT_TRUE(Becomes(*going_on, "c", LocalVerdict::kExpired));
  steady_ = steady_.load() + seconds(10);
  ASSERT_FALSE(going_on->IsSure());
  const LocalEvaluator::Container& container = going_on->Find("c");
  const absl::Time now = absl::FromUnixSeconds(kT + 10);
  EXPECT_EQ(*going_on->JudgeAsOf(container, kExpired, now - absl::Seconds(11)),
            LocalVerdict::kVisible);
  EXPECT_EQ(*going_on->JudgeAsOf(container, {kT, 11}, now + absl::Hours(1)),
            LocalVerdict::kVisible);
}

TEST_F(LocalEvaluatorTest, LeavesExpiredItemsThatAHoldMayShowToTheSidecar) {
  const auto evaluator = NewEvaluator();
  sidecar_.Send(
      Snapshot("containers { id: 'c' default_ttl: 60 }"
               "containers { id: 'shows held' default_ttl: 60 show_held: true }"));
  ASSERT_TRUE(Becomes(*evaluator, "c", LocalVerdict::kExpired));
  const LocalEvaluator::Container& container = evaluator->Find("shows held");
  EXPECT_EQ(evaluator->Judge(container, kExpired), LocalVerdict::kUnknown);
  EXPECT_EQ(evaluator->Judge(container, {kT, 1000}), LocalVerdict::kVisible);
}

TEST_F(LocalEvaluatorTest, LeavesExpiredItemsThatMayHaveBeenTouchedToTheSidecar) {
  const auto evaluator = NewEvaluator();
  sidecar_.Send(
      Snapshot("containers { id: 'c' default_ttl: 60 }"
               "containers { id: 'touched' default_ttl: 60 allow_touch: true }"));
  ASSERT_TRUE(Becomes(*evaluator, "c", LocalVerdict::kExpired));
  const LocalEvaluator::Container& container = evaluator->Find("touched");
  EXPECT_EQ(evaluator->Judge(container, kExpired), LocalVerdict::kUnknown);
  EXPECT_EQ(evaluator->Judge(container, {kT, 1000}), LocalVerdict::kVisible);
}

TEST_F(LocalEvaluatorTest, JudgesByExpireAt) {
  const auto evaluator = NewEvaluator({.client = {}, .knows_expire_at = true});
  sidecar_.Send(Snapshot("containers { id: 'c' default_ttl: 60 }"));
  ASSERT_TRUE(Becomes(*evaluator, "c", LocalVerdict::kExpired));
  const auto judge = [&](const JudgedItem& item) {
    return evaluator->Judge(evaluator->Find("c"), item);
  };
  EXPECT_EQ(judge({kT - 100, std::nullopt, kT + 1}), LocalVerdict::kVisible);
  EXPECT_EQ(judge({kT - 1, std::nullopt, kT}), LocalVerdict::kExpired);
  EXPECT_EQ(judge({kT - 1, 5000, kT}), LocalVerdict::kExpired);
  EXPECT_EQ(judge({kT - 1, std::nullopt, 0}), LocalVerdict::kVisible) << "not legal";
}

TEST_F(LocalEvaluatorTest, SaysThatItKnowsOfHoldsAndTouchesAndOfExpireAtOnlyIfItsCallerDoes) {
  for (const bool knows_expire_at : {false, true}) {
    const size_t before = sidecar_.requests().size();
    const auto evaluator = NewEvaluator({.client = {}, .knows_expire_at = knows_expire_at});
    ASSERT_TRUE(WaitUntil([&] { return sidecar_.requests().size() > before; }));
    const auto request = sidecar_.requests().back();
    EXPECT_EQ(
        std::count(request.rules().begin(), request.rules().end(), v1::JUDGING_RULE_EXPIRE_AT),
        knows_expire_at ? 1 : 0);
    EXPECT_THAT(request.rules(),
                testing::IsSupersetOf({v1::JUDGING_RULE_SHOW_HELD, v1::JUDGING_RULE_TOUCH}));
  }
}

TEST_F(LocalEvaluatorTest, AsksForHeartbeatsThreeTimesAsOftenAsItNeedsThem) {
  const auto heartbeat_for = [&](absl::Duration max_staleness) {
    const size_t before = sidecar_.requests().size();
    const auto evaluator = NewEvaluator({.client = {}, .max_staleness = max_staleness});
    EXPECT_TRUE(WaitUntil([&] { return sidecar_.requests().size() > before; }));
    const auto request = sidecar_.requests().back();
    return absl::Seconds(request.heartbeat_interval().seconds()) +
           absl::Nanoseconds(request.heartbeat_interval().nanos());
  };
  EXPECT_EQ(heartbeat_for(LocalEvaluatorOptions().max_staleness), absl::Seconds(1));
  EXPECT_EQ(heartbeat_for(absl::Milliseconds(4500)), absl::Milliseconds(1500));
  EXPECT_EQ(heartbeat_for(absl::Milliseconds(1)), absl::Milliseconds(100));
  EXPECT_EQ(heartbeat_for(absl::InfiniteDuration()), absl::Minutes(1));
}

TEST_F(LocalEvaluatorTest, AStreamThatEndsIsOpenedAgainAndItsSnapshotReplacesWhatWasKnown) {
  const auto evaluator = NewEvaluator();
  sidecar_.Send(Snapshot("containers { id: 'gone' default_ttl: 60 }"));
  ASSERT_TRUE(Becomes(*evaluator, "gone", LocalVerdict::kExpired));
  // Which is known a moment after what it told.
  ASSERT_TRUE(WaitUntil([&] { return evaluator->StreamStatus().ok(); }));
  sidecar_.End(grpc::Status(grpc::StatusCode::UNAVAILABLE, "shutting down"));
  EXPECT_TRUE(WaitUntil([&] { return !evaluator->StreamStatus().ok(); }));
  EXPECT_THAT(evaluator->StreamStatus(),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("shutting down")));
  // What was known counts until it is too old.
  EXPECT_TRUE(evaluator->IsSure());
  sidecar_.Send(Snapshot("containers { id: 'c' default_ttl: 60 }"));
  EXPECT_TRUE(Becomes(*evaluator, "c", LocalVerdict::kExpired));
  EXPECT_TRUE(Becomes(*evaluator, "gone", LocalVerdict::kUnknown));
  EXPECT_TRUE(WaitUntil([&] { return evaluator->StreamStatus().ok(); }));
  EXPECT_EQ(sidecar_.requests().size(), 2u);
}

TEST_F(LocalEvaluatorTest, WithoutTheSidecarItIsSureForAWhileAndAgainOnceItIsBack) {
  const auto evaluator = NewEvaluator();
  sidecar_.Send(Snapshot("containers { id: 'c' default_ttl: 60 }"));
  ASSERT_TRUE(Becomes(*evaluator, "c", LocalVerdict::kExpired));
  sidecar_.StopServer();
  steady_ = seconds(1003) - nanoseconds(1);
  EXPECT_EQ(evaluator->Judge(evaluator->Find("c"), kExpired), LocalVerdict::kExpired);
  steady_ = seconds(1003);
  EXPECT_EQ(evaluator->Judge(evaluator->Find("c"), kExpired), LocalVerdict::kUnknown);
  sidecar_.StartServer();
  sidecar_.Send(Snapshot("containers { id: 'c' default_ttl: 60 }"));
  EXPECT_TRUE(Becomes(*evaluator, "c", LocalVerdict::kExpired));
}

TEST_F(LocalEvaluatorTest, WhenUnsureDoesWhatTheOptionsSay) {
  for (const auto& [when_unsure, verdict] :
       {std::pair(WhenUnsure::kAsk, LocalVerdict::kUnknown),
        std::pair(WhenUnsure::kShow, LocalVerdict::kVisible),
        std::pair(WhenUnsure::kGoOn, LocalVerdict::kExpired)}) {
    steady_ = seconds(1000);
    auto evaluator = NewEvaluator({.client = {}, .when_unsure = when_unsure});
    sidecar_.Send(Snapshot("containers { id: 'c' default_ttl: 60 }"));
    ASSERT_TRUE(Becomes(*evaluator, "c", LocalVerdict::kExpired));
    steady_ = seconds(2000);
    EXPECT_EQ(evaluator->Judge(evaluator->Find("c"), kExpired), verdict);
    // Else its stream might take what is meant for the next one.
    evaluator.reset();
    ASSERT_TRUE(WaitUntil([&] { return sidecar_.open_streams() == 0; }));
  }
}

TEST_F(LocalEvaluatorTest, ASidecarThatRefusesToBeWatchedIsAskedAgain) {
  const auto evaluator = NewEvaluator();
  sidecar_.End(grpc::Status(grpc::StatusCode::RESOURCE_EXHAUSTED, "too many"));
  EXPECT_TRUE(WaitUntil(
      [&] { return evaluator->StreamStatus().code() == absl::StatusCode::kResourceExhausted; }));
  sidecar_.Send(Snapshot("containers { id: 'c' default_ttl: 60 }"));
  EXPECT_TRUE(Becomes(*evaluator, "c", LocalVerdict::kExpired));
}

TEST_F(LocalEvaluatorTest, DestroyingItEndsItsStream) {
  auto evaluator = NewEvaluator();
  ASSERT_TRUE(WaitUntil([&] { return sidecar_.open_streams() == 1; }));
  evaluator.reset();
  EXPECT_TRUE(WaitUntil([&] { return sidecar_.open_streams() == 0; }));
}

TEST(LocalEvaluatorAloneTest, WithoutASidecarNothingIsKnownAndItEndsAtOnce) {
  const TempDir directory;
  LocalEvaluatorOptions options;
  options.client.address = absl::StrCat("unix:", directory.File("nobody.sock"));
  const auto start = std::chrono::steady_clock::now();
  {
    LocalEvaluator evaluator(options);
    EXPECT_EQ(evaluator.Judge(evaluator.Find("c"), kExpired), LocalVerdict::kUnknown);
    EXPECT_FALSE(evaluator.IsSure());
    EXPECT_THAT(evaluator.StreamStatus(), StatusIs(absl::StatusCode::kUnavailable));
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, seconds(30));
}

// An evaluator and the sidecar's own services, in one time.
class LocalEvaluatorWithSidecarTest : public testing::Test {
 protected:
  LocalEvaluatorWithSidecarTest() {
    LocalEvaluatorOptions options;
    options.client.address = sidecar_.address();
    options.max_staleness = absl::Milliseconds(300);
    options.steady_clock = [this] {
      return absl::ToChronoNanoseconds(*sidecar_.clock().Read().boot);
    };
    evaluator_ = std::make_unique<LocalEvaluator>(std::move(options));
  }

  LocalVerdict Judge(const JudgedItem& item) {
    return evaluator_->Judge(evaluator_->Find("c"), item);
  }
  bool Becomes(const JudgedItem& item, LocalVerdict verdict) {
    return WaitUntil([&] { return Judge(item) == verdict; });
  }
  // Whether it comes to be sure and to know what time it is: a heartbeat that was on its way
  // when the clock was moved tells the time before.
  bool FollowsTheClock() {
    return WaitUntil([&] {
      return evaluator_->IsSure() &&
             evaluator_->Judge(evaluator_->Find("c"), absl::Span<const JudgedItem>(), {}) ==
                 *sidecar_.clock().Read().wall;
    });
  }
  // What the sidecar says of the item.
  v1::Visibility Ask(const JudgedItem& item) {
    v1::CheckVisibilityRequest request;
    request.set_container("c");
    v1::VisibilityCheck& check = *request.add_checks();
    check.set_id("i");
    check.set_ts(item.ts);
    if (item.ttl.has_value()) check.set_ttl(*item.ttl);
    const auto response = Call(sidecar_.items(), &v1::ItemService::Stub::CheckVisibility, request);
    return response.ok() ? response->visibilities(0) : v1::VISIBILITY_UNSPECIFIED;
  }

  RpcSidecar sidecar_;
  std::unique_ptr<LocalEvaluator> evaluator_;
};

TEST_F(LocalEvaluatorWithSidecarTest, AgreesWithTheSidecarUpToTheSecond) {
  ASSERT_THAT(sidecar_.Create(60), IsOk());
  const int64_t now = sidecar_.Now();
  ASSERT_TRUE(Becomes({now - 60, std::nullopt}, LocalVerdict::kExpired));
  const std::vector<JudgedItem> items = {
      {now, std::nullopt}, {now, 59}, {now, 61}, {now, -1},
      {now - 60, 121},     {0, 60},   {now, 0},  {now + 86'400, 60},
      {now * 1000, 60}};
  for (int step = 0; step < 5; ++step) {
    // Just before, at and just after the seconds at which they expire.
    sidecar_.clock().Advance(step == 0 ? absl::Seconds(59) - absl::Nanoseconds(1)
                                       : absl::Milliseconds(500));
    ASSERT_TRUE(FollowsTheClock());
    for (const JudgedItem& item : items) {
      const bool expired = Ask(item) == v1::VISIBILITY_EXPIRED;
      EXPECT_EQ(Judge(item), expired ? LocalVerdict::kExpired : LocalVerdict::kVisible)
          << item.ts - now << " after step " << step;
    }
  }
}

TEST_F(LocalEvaluatorWithSidecarTest, FollowsChangesOfPolicyDeletionAndRestart) {
  const JudgedItem item{sidecar_.Now() - 60, std::nullopt};
  ASSERT_THAT(sidecar_.Create(60), IsOk());
  EXPECT_TRUE(Becomes(item, LocalVerdict::kExpired));
  ASSERT_THAT(sidecar_.SetDefaultTtl(61), IsOk());
  EXPECT_TRUE(Becomes(item, LocalVerdict::kVisible));
  ASSERT_TRUE(sidecar_.storage().Delete("c").ok());
  EXPECT_TRUE(Becomes(item, LocalVerdict::kUnknown));
  ASSERT_THAT(sidecar_.Create(60), IsOk());
  EXPECT_TRUE(Becomes(item, LocalVerdict::kExpired));
  sidecar_.Restart();
  ASSERT_THAT(sidecar_.SetDefaultTtl(61), IsOk());
  EXPECT_TRUE(Becomes(item, LocalVerdict::kVisible));
}

TEST_F(LocalEvaluatorWithSidecarTest, WhileTheSidecarsClockIsSuspectItDoesNotKnow) {
  const JudgedItem item{sidecar_.Now() - 60, std::nullopt};
  ASSERT_THAT(sidecar_.Create(60), IsOk());
  EXPECT_TRUE(Becomes(item, LocalVerdict::kExpired));
  sidecar_.clock().StepWall(absl::Hours(1));
  EXPECT_TRUE(Becomes(item, LocalVerdict::kUnknown));
  sidecar_.clock().StepWall(-absl::Hours(1));
  EXPECT_TRUE(Becomes(item, LocalVerdict::kExpired));
}

}  // namespace
}  // namespace ttl
