#include "client/cpp/checks/shared_checks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "service/base/mutex.h"
#include "tests/testing/channel.h"
#include "tests/testing/fake_item_service.h"
#include "tests/testing/fake_sidecar.h"
#include "tests/testing/rpc_sidecar.h"
#include "tests/testing/wait.h"
#include "ttl/client.h"

namespace ttl {
namespace {

using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

using Answer = absl::StatusOr<VisibilityAnswer>;

constexpr char kStream[] = "StreamCheckVisibility";
constexpr absl::Duration kLong = absl::Seconds(60);
constexpr std::chrono::hours kForEver(1);

const grpc::Status kUnavailable(grpc::StatusCode::UNAVAILABLE, "going down");
const grpc::Status kUnimplemented(grpc::StatusCode::UNIMPLEMENTED, "");

v1::VisibilityCheck CheckOf(const std::string& id) {
  v1::VisibilityCheck check;
  check.set_id(id);
  return check;
}

v1::StreamCheckVisibilityResponse Response(const std::vector<int>& visibilities) {
  v1::StreamCheckVisibilityResponse response;
  for (const int visibility : visibilities) {
    response.mutable_response()->mutable_visibilities()->Add(visibility);
    response.mutable_response()->add_expire_times(0);
  }
  return response;
}

v1::StreamCheckVisibilityResponse Error(int code, const std::string& message) {
  v1::StreamCheckVisibilityResponse response;
  response.mutable_error()->set_code(code);
  response.mutable_error()->set_message(message);
  return response;
}

// Shares checks over one channel, and answers what is asked alone by itself: UNTRACKED,
// which the fake sidecar never says unless told.
class Sharer {
 public:
  explicit Sharer(const std::shared_ptr<grpc::Channel>& channel, SharedChecks::Options options = {})
      : stub_(v1::ItemService::NewStub(channel)),
        checks_(*stub_, std::move(options),
                [this](absl::string_view, const v1::VisibilityCheck& check, absl::Duration) {
                  return AnswerAlone(check);
                }) {}

  Answer Check(const std::string& container, const std::string& id,
               absl::Duration deadline = kLong) {
    return checks_.Check(container, CheckOf(id), deadline);
  }

  std::future<Answer> CheckInThread(const std::string& container, const std::string& id,
                                    absl::Duration deadline = kLong) {
    return std::async(std::launch::async, [=, this] { return Check(container, id, deadline); });
  }

  SharedChecks& checks() { return checks_; }

  // The ids of what was asked alone, in order.
  std::vector<std::string> alone() const {
    const MutexLock lock(mutex_);
    return alone_;
  }

 private:
  Answer AnswerAlone(const v1::VisibilityCheck& check) {
    const MutexLock lock(mutex_);
    alone_.push_back(check.id());
    VisibilityAnswer answer;
    answer.visibility = v1::VISIBILITY_UNTRACKED;
    return answer;
  }

  const std::unique_ptr<v1::ItemService::Stub> stub_;
  mutable Mutex mutex_;
  std::vector<std::string> alone_ ABSL_GUARDED_BY(mutex_);
  SharedChecks checks_;
};

class SharedChecksTest : public testing::Test {
 protected:
  SharedChecks::Options Options() const {
    SharedChecks::Options options;
    options.address = sidecar_.address();
    return options;
  }

  // Starts over with other options.
  void ShareWith(SharedChecks::Options options) { sharer_.emplace(channel_, std::move(options)); }

  // A first check, which the sidecar holds until Release().
  std::future<Answer> HoldFirst(const std::string& container = "c") {
    sidecar_.Hang(kStream);
    std::future<Answer> first = sharer_->CheckInThread(container, "first");
    EXPECT_TRUE(WaitUntil([this] { return sidecar_.Calls(kStream) == 1; }));
    return first;
  }

  // Adds checks that wait behind it.
  void AddWaiting(std::vector<std::future<Answer>>& checks, int count,
                  const std::string& container = "c") {
    const size_t before = sharer_->checks().waiting();
    for (int i = 0; i < count; ++i) {
      checks.push_back(sharer_->CheckInThread(container, absl::StrCat(i)));
    }
    EXPECT_TRUE(WaitUntil([&] { return sharer_->checks().waiting() == before + count; }));
  }

  // How many checks each message had.
  std::vector<int> MessageSizes() const {
    std::vector<int> sizes;
    for (const auto& message : sidecar_.Requests<v1::StreamCheckVisibilityRequest>(kStream)) {
      sizes.push_back(message.request().checks_size());
    }
    return sizes;
  }

  FakeSidecar sidecar_;
  const std::shared_ptr<grpc::Channel> channel_ = NewTestChannel(sidecar_.address());
  std::optional<Sharer> sharer_{std::in_place, channel_, Options()};
};

TEST_F(SharedChecksTest, ALoneCheckIsAMessageOfItsOwn) {
  v1::StreamCheckVisibilityResponse expired = Response({v1::VISIBILITY_EXPIRED});
  expired.mutable_response()->set_expire_times(0, 1060);
  expired.mutable_response()->mutable_judged_at()->set_seconds(1060);
  expired.mutable_response()->mutable_judged_at()->set_nanos(500);
  sidecar_.Answer(kStream, expired);
  v1::VisibilityCheck check = CheckOf(std::string("a\0b", 3));
  check.set_partition_key("p");
  check.set_ts(1000);
  check.set_ttl(60);

  const Answer answer = sharer_->checks().Check("sales/orders", check, kLong);
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_TRUE(answer->expired());
  EXPECT_EQ(answer->expire_time, 1060);
  EXPECT_EQ(answer->judged_at, absl::FromUnixSeconds(1060) + absl::Nanoseconds(500));
  const auto sent = sidecar_.Requests<v1::StreamCheckVisibilityRequest>(kStream).at(0).request();
  EXPECT_EQ(sent.container(), "sales/orders");
  ASSERT_EQ(sent.checks_size(), 1);
  EXPECT_EQ(sent.checks(0).SerializeAsString(), check.SerializeAsString());
}

TEST_F(SharedChecksTest, OneStreamServesOneCheckAfterTheOther) {
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(sharer_->Check("c", "a")->visibility, v1::VISIBILITY_VISIBLE);
  }
  EXPECT_EQ(sidecar_.CheckStreams(), 1);
  EXPECT_THAT(MessageSizes(), AllOf(testing::SizeIs(10), Each(1)));
  EXPECT_THAT(sharer_->alone(), IsEmpty());
}

TEST_F(SharedChecksTest, WhatWaitsGoesTogether) {
  std::vector<std::future<Answer>> checks;
  checks.push_back(HoldFirst());
  AddWaiting(checks, 20);
  sidecar_.Release();
  for (auto& check : checks) EXPECT_EQ(check.get()->visibility, v1::VISIBILITY_VISIBLE);
  EXPECT_THAT(MessageSizes(), ElementsAre(1, 20));
}

TEST_F(SharedChecksTest, EachGetsTheAnswerToItsOwnCheck) {
  std::vector<std::future<Answer>> checks;
  checks.push_back(HoldFirst());
  std::vector<int> told;
  for (int i = 0; i < 20; ++i) {
    AddWaiting(checks, 1);
    told.push_back(i % 2 == 0 ? v1::VISIBILITY_EXPIRED : v1::VISIBILITY_VISIBLE);
  }
  sidecar_.Answer(kStream, Response(told));
  sidecar_.Release();
  for (size_t i = 0; i < told.size(); ++i) EXPECT_EQ(checks[i + 1].get()->visibility, told[i]);
}

TEST_F(SharedChecksTest, MessagesAreBoundedAndSentWithoutWaitingForAnswers) {
  SharedChecks::Options options = Options();
  options.max_checks_per_message = 3;
  ShareWith(options);
  std::vector<std::future<Answer>> checks;
  checks.push_back(HoldFirst());
  AddWaiting(checks, 10);
  sidecar_.Release();
  for (auto& check : checks) EXPECT_TRUE(check.get().ok());
  EXPECT_THAT(MessageSizes(), ElementsAre(1, 3, 3, 3, 1));
}

TEST_F(SharedChecksTest, ContainersDoNotShareMessages) {
  std::vector<std::future<Answer>> checks;
  checks.push_back(HoldFirst());
  AddWaiting(checks, 3, "gone");
  AddWaiting(checks, 2, "c");
  sidecar_.Answer(kStream, Error(grpc::StatusCode::NOT_FOUND, "no container \"gone\""));
  sidecar_.Release();
  EXPECT_TRUE(checks[0].get().ok());
  for (int i : {1, 2, 3}) {
    EXPECT_EQ(checks[i].get().status(), absl::NotFoundError("no container \"gone\""));
  }
  for (int i : {4, 5}) EXPECT_EQ(checks[i].get()->visibility, v1::VISIBILITY_VISIBLE);
  EXPECT_THAT(MessageSizes(), ElementsAre(1, 3, 2));
}

TEST_F(SharedChecksTest, OneThatWaitsTooLongDoesNotDisturbOthers) {
  std::vector<std::future<Answer>> checks;
  checks.push_back(HoldFirst());
  AddWaiting(checks, 5);
  const Answer hasty = sharer_->Check("c", "hasty", absl::Milliseconds(20));
  EXPECT_EQ(hasty.status().code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_THAT(std::string(hasty.status().message()),
              AllOf(HasSubstr(sidecar_.address()), HasSubstr("20ms")));
  sidecar_.Release();
  for (auto& check : checks) EXPECT_EQ(check.get()->visibility, v1::VISIBILITY_VISIBLE);
  EXPECT_EQ(sidecar_.CheckStreams(), 1);
  EXPECT_THAT(sharer_->alone(), IsEmpty());
}

TEST_F(SharedChecksTest, OneThatLeavesWhileItLeadsDoesNotDisturbOthers) {
  sidecar_.Hang(kStream);
  // Long enough for all to come to wait behind it, whatever the machine does.
  std::future<Answer> hasty = sharer_->CheckInThread("c", "hasty", absl::Seconds(5));
  ASSERT_TRUE(WaitUntil([this] { return sidecar_.Calls(kStream) == 1; }));
  std::vector<std::future<Answer>> checks;
  AddWaiting(checks, 5);
  EXPECT_EQ(hasty.get().status().code(), absl::StatusCode::kDeadlineExceeded);
  // The stream that was silent for so long is given up, and they use another.
  for (auto& check : checks) EXPECT_EQ(check.get()->visibility, v1::VISIBILITY_VISIBLE);
  EXPECT_EQ(sidecar_.CheckStreams(), 2);
  EXPECT_THAT(sharer_->alone(), IsEmpty());
}

TEST_F(SharedChecksTest, ASidecarThatHangsBlocksNobodyBeyondItsDeadline) {
  sidecar_.Hang(kStream);
  // Long enough to get there: else the next one would be the one that hangs.
  const Answer answer = sharer_->Check("c", "a", absl::Milliseconds(4050));
  EXPECT_EQ(answer.status().code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_THAT(std::string(answer.status().message()), HasSubstr("4.05s"));
  EXPECT_EQ(sharer_->Check("c", "b")->visibility, v1::VISIBILITY_VISIBLE);
  EXPECT_EQ(sidecar_.CheckStreams(), 2);
  EXPECT_THAT(sharer_->alone(), IsEmpty());
}

TEST_F(SharedChecksTest, DeadlinesTooShortForAnyAnswerDoNotBreakTheStream) {
  ASSERT_TRUE(sharer_->Check("c", "a").ok());
  for (const absl::Duration deadline : {absl::ZeroDuration(), -absl::InfiniteDuration()}) {
    EXPECT_EQ(sharer_->Check("c", "hasty", deadline).status().code(),
              absl::StatusCode::kDeadlineExceeded);
  }
  EXPECT_TRUE(sharer_->Check("c", "a", absl::InfiniteDuration()).ok());
  EXPECT_EQ(sidecar_.CheckStreams(), 1);
}

TEST_F(SharedChecksTest, WhatWasUnderWayWhenTheStreamBrokeIsAskedAlone) {
  ASSERT_TRUE(sharer_->Check("c", "before").ok());
  sidecar_.Fail(kStream, kUnavailable);
  EXPECT_EQ(sharer_->Check("c", "during")->visibility, v1::VISIBILITY_UNTRACKED);
  EXPECT_EQ(sharer_->Check("c", "after")->visibility, v1::VISIBILITY_VISIBLE);
  EXPECT_THAT(sharer_->alone(), ElementsAre("during"));
  EXPECT_EQ(sidecar_.CheckStreams(), 2);
}

TEST_F(SharedChecksTest, WhatWasAnsweredBeforeTheStreamBrokeIsAnswered) {
  SharedChecks::Options options = Options();
  options.max_checks_per_message = 2;
  ShareWith(options);
  std::vector<std::future<Answer>> checks;
  checks.push_back(HoldFirst());
  AddWaiting(checks, 6);
  sidecar_.Answer(kStream, Response({v1::VISIBILITY_EXPIRED, v1::VISIBILITY_EXPIRED}));
  sidecar_.Fail(kStream, kUnavailable);
  sidecar_.Release();
  std::map<v1::Visibility, int> counts;
  for (auto& check : checks) ++counts[check.get()->visibility];
  EXPECT_EQ(counts[v1::VISIBILITY_VISIBLE], 1);
  EXPECT_EQ(counts[v1::VISIBILITY_EXPIRED], 2);
  EXPECT_EQ(counts[v1::VISIBILITY_UNTRACKED], 4);
}

TEST_F(SharedChecksTest, AStreamThatNeverAnsweredIsNotTriedAgainForAWhile) {
  SharedChecks::Options options = Options();
  options.rest = kForEver;
  ShareWith(options);
  sidecar_.Fail(kStream, kUnavailable);
  for (const char* id : {"a", "b", "c"}) {
    EXPECT_EQ(sharer_->Check("c", id)->visibility, v1::VISIBILITY_UNTRACKED);
  }
  EXPECT_THAT(sharer_->alone(), ElementsAre("a", "b", "c"));
  EXPECT_EQ(sidecar_.CheckStreams(), 1);
}

TEST_F(SharedChecksTest, AfterThatWhileStreamsAreTriedAgain) {
  SharedChecks::Options options = Options();
  options.rest = std::chrono::nanoseconds(0);
  ShareWith(options);
  sidecar_.Fail(kStream, kUnavailable);
  EXPECT_EQ(sharer_->Check("c", "a")->visibility, v1::VISIBILITY_UNTRACKED);
  EXPECT_EQ(sharer_->Check("c", "b")->visibility, v1::VISIBILITY_VISIBLE);
}

TEST_F(SharedChecksTest, ASidecarWithoutTheMethodIsAskedAloneForGood) {
  SharedChecks::Options options = Options();
  options.rest = std::chrono::nanoseconds(0);
  ShareWith(options);
  sidecar_.Fail(kStream, kUnimplemented);
  for (const char* id : {"a", "b", "c"}) {
    EXPECT_EQ(sharer_->Check("c", id)->visibility, v1::VISIBILITY_UNTRACKED);
  }
  EXPECT_EQ(sidecar_.CheckStreams(), 1);
}

TEST_F(SharedChecksTest, EveryoneWhoLeavesMayHaveLed) {
  // Deadlines about as long as an answer takes, so that leaders, successors and those
  // whose answer is on its way leave at any time.
  std::vector<std::future<int>> threads;
  for (int thread = 0; thread < 32; ++thread) {
    threads.push_back(std::async(std::launch::async, [this, thread] {
      int wrong = 0;
      for (int i = 0; i < 200; ++i) {
        const absl::Duration deadline = absl::Microseconds((thread * 37 + i * 101) % 3000);
        const Answer answer = sharer_->Check("c", "a", deadline);
        wrong += !answer.ok() && !absl::IsDeadlineExceeded(answer.status());
      }
      return wrong;
    }));
  }
  for (auto& thread : threads) EXPECT_EQ(thread.get(), 0);
  EXPECT_EQ(sharer_->Check("c", "a")->visibility, v1::VISIBILITY_VISIBLE);
}

TEST(SharedChecksOfAnOldSidecarTest, AreAskedAlone) {
  FakeItemService old([] { return absl::FromUnixSeconds(1000); });  // has no streams
  Sharer sharer(old.channel());
  for (const char* id : {"a", "b", "c"}) {
    EXPECT_EQ(sharer.Check("c", id)->visibility, v1::VISIBILITY_UNTRACKED);
  }
  EXPECT_THAT(sharer.alone(), ElementsAre("a", "b", "c"));
}

TEST_F(SharedChecksTest, TheWrongNumberOfAnswersIsAnErrorOfThatMessageOnly) {
  v1::StreamCheckVisibilityResponse no_times = Response({v1::VISIBILITY_EXPIRED});
  no_times.mutable_response()->clear_expire_times();
  const int expired = v1::VISIBILITY_EXPIRED;
  for (const auto& wrong : {Response({}), Response({expired, expired}), no_times,
                            v1::StreamCheckVisibilityResponse()}) {
    sidecar_.Answer(kStream, wrong);
    const absl::Status status = sharer_->Check("c", "a").status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
    EXPECT_THAT(std::string(status.message()), HasSubstr("for 1 entry"));
  }
  EXPECT_TRUE(sharer_->Check("c", "a").ok());
  EXPECT_EQ(sidecar_.CheckStreams(), 1);
}

TEST_F(SharedChecksTest, UnknownVisibilityCountsAsVisible) {
  for (const int unknown : {0, 4, 99, -1}) {
    sidecar_.Answer(kStream, Response({unknown}));
    EXPECT_EQ(sharer_->Check("c", "a")->visibility, v1::VISIBILITY_VISIBLE) << unknown;
  }
}

TEST_F(SharedChecksTest, ErrorsOfALoneCheckAreItsOwn) {
  sidecar_.Answer(kStream, Error(grpc::StatusCode::DATA_LOSS, "unreadable"));
  EXPECT_EQ(sharer_->Check("c", "a").status(), absl::DataLossError("unreadable"));
  sidecar_.Answer(kStream, Error(grpc::StatusCode::RESOURCE_EXHAUSTED, "try later"));
  EXPECT_EQ(sharer_->Check("c", "a").status(), absl::ResourceExhaustedError("try later"));
  EXPECT_THAT(sharer_->alone(), IsEmpty());
  EXPECT_EQ(sidecar_.CheckStreams(), 1);
}

TEST_F(SharedChecksTest, ErrorCodesThatAreNoneAreUnknown) {
  for (const int code : {0, 17, -1, 1000}) {
    sidecar_.Answer(kStream, Error(code, "odd"));
    EXPECT_EQ(sharer_->Check("c", "a").status(), absl::UnknownError("odd")) << code;
  }
}

TEST_F(SharedChecksTest, WhatIsUnavailableIsAskedAgainLikeAnyRead) {
  sidecar_.Answer(kStream, Error(grpc::StatusCode::UNAVAILABLE, "not yet"));
  EXPECT_EQ(sharer_->Check("c", "a")->visibility, v1::VISIBILITY_UNTRACKED);
  EXPECT_THAT(sharer_->alone(), ElementsAre("a"));
}

TEST_F(SharedChecksTest, ABusySidecarIsNotAskedAgain) {
  std::vector<std::future<Answer>> checks;
  checks.push_back(HoldFirst());
  AddWaiting(checks, 3);
  sidecar_.Answer(kStream, Error(grpc::StatusCode::RESOURCE_EXHAUSTED, "try later"));
  sidecar_.Release();
  for (int i : {1, 2, 3}) {
    EXPECT_EQ(checks[i].get().status(), absl::ResourceExhaustedError("try later"));
  }
  EXPECT_THAT(sharer_->alone(), IsEmpty());
}

TEST_F(SharedChecksTest, AnErrorThatMayBeOfOneCheckMakesEachAskAlone) {
  std::vector<std::future<Answer>> checks;
  checks.push_back(HoldFirst());
  AddWaiting(checks, 3);
  sidecar_.Answer(kStream, Error(grpc::StatusCode::DATA_LOSS, "one of them is unreadable"));
  sidecar_.Release();
  for (int i : {1, 2, 3}) EXPECT_EQ(checks[i].get()->visibility, v1::VISIBILITY_UNTRACKED);
  EXPECT_THAT(sharer_->alone(), testing::UnorderedElementsAre("0", "1", "2"));
}

TEST_F(SharedChecksTest, KeysThatAreRefusedShareNothing) {
  const std::string longest_id(1023, 'i');
  v1::VisibilityCheck check = CheckOf(longest_id);
  check.set_partition_key(std::string(2048, 'p'));
  EXPECT_TRUE(sharer_->checks().Check("c", check, kLong).ok());
  EXPECT_THAT(sharer_->alone(), IsEmpty());

  check.set_partition_key(std::string(2049, 'p'));
  EXPECT_TRUE(sharer_->checks().Check("c", check, kLong).ok());
  EXPECT_TRUE(sharer_->Check("c", longest_id + "i").ok());
  EXPECT_THAT(sharer_->alone(), ElementsAre(longest_id, longest_id + "i"));
  EXPECT_THAT(MessageSizes(), ElementsAre(1));
}

TEST_F(SharedChecksTest, BeyondTheLimitChecksAreRefused) {
  SharedChecks::Options options = Options();
  options.max_waiting = 3;
  ShareWith(options);
  std::vector<std::future<Answer>> checks;
  checks.push_back(HoldFirst());
  AddWaiting(checks, 3);
  const absl::Status refused = sharer_->Check("c", "one too many").status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(refused.message()),
              AllOf(HasSubstr("3 checks"), HasSubstr(sidecar_.address())));
  sidecar_.Release();
  for (auto& check : checks) EXPECT_TRUE(check.get().ok());
  EXPECT_TRUE(sharer_->Check("c", "later").ok());
}

TEST_F(SharedChecksTest, DestructionWaitsForNobody) {
  sharer_.reset();  // never used
  ShareWith(Options());
  ASSERT_TRUE(sharer_->Check("c", "a").ok());
  sharer_.reset();  // with an open stream

  ShareWith(Options());
  sidecar_.Hang(kStream);
  ASSERT_FALSE(sharer_->Check("c", "a", absl::Milliseconds(1)).ok());
  sharer_.reset();  // with a message that is not answered
}

// Every third is visible, expired or untracked.
v1::Visibility Truth(int key) {
  constexpr v1::Visibility kTruths[] = {v1::VISIBILITY_VISIBLE, v1::VISIBILITY_EXPIRED,
                                        v1::VISIBILITY_UNTRACKED};
  return kTruths[key % 3];
}

TEST(SharedChecksOfARealSidecarTest, HundredsOfThreadsGetTheTruthAboutTheirKeys) {
  constexpr int kThreads = 200;
  RpcSidecar sidecar;
  ASSERT_TRUE(sidecar.Create(-1).ok());
  for (int key = 0; key < kThreads; ++key) {
    if (Truth(key) == v1::VISIBILITY_UNTRACKED) continue;
    const int64_t ttl = Truth(key) == v1::VISIBILITY_EXPIRED ? 60 : 3600;
    ASSERT_TRUE(sidecar.Track(absl::StrCat(key), sidecar.Now() - 60, ttl).ok());
  }
  Sharer sharer(NewTestChannel(sidecar.address()));
  std::vector<std::future<int>> threads;
  for (int key = 0; key < kThreads; ++key) {
    threads.push_back(std::async(std::launch::async, [&sharer, key] {
      v1::VisibilityCheck check = CheckOf(absl::StrCat(key));
      check.set_partition_key("p");
      int right = 0;
      for (int i = 0; i < 50; ++i) {
        const bool unknown = i % 10 == 9;
        const Answer answer = sharer.checks().Check(unknown ? "gone" : "c", check, kLong);
        right += unknown ? absl::IsNotFound(answer.status())
                         : answer.ok() && answer->visibility == Truth(key);
      }
      return right;
    }));
  }
  for (auto& thread : threads) EXPECT_EQ(thread.get(), 50);
  EXPECT_THAT(sharer.alone(), IsEmpty());
}

// CANCELLED is what a call of its own gets that is under way when the server ends.
bool IsAboutShutdown(const absl::Status& error) {
  return absl::IsUnavailable(error) || absl::IsCancelled(error);
}

TEST(SharedChecksOfARealSidecarTest, GoOnThroughItsRestart) {
  RpcSidecar sidecar;
  ASSERT_TRUE(sidecar.Create(-1).ok());
  ASSERT_TRUE(sidecar.Track("expired", sidecar.Now() - 60, 60).ok());
  TtlClientOptions options;
  options.address = sidecar.address();
  options.check_deadline = absl::Seconds(20);
  TtlClient client(options);
  v1::VisibilityCheck check = CheckOf("expired");
  check.set_partition_key("p");

  std::atomic<bool> restarted = false;
  std::vector<std::future<absl::Status>> threads;
  for (int thread = 0; thread < 16; ++thread) {
    threads.push_back(std::async(std::launch::async, [&] {
      // Either the truth, or that there is nobody to ask, or no more.
      absl::Status wrong;
      for (bool is_back = false; !is_back;) {
        const bool must_answer = restarted;
        const Answer answer = client.CheckItem("c", check);
        if (answer.ok() && !answer->expired()) wrong = absl::InternalError("shown");
        if (!answer.ok() && !IsAboutShutdown(answer.status())) wrong = answer.status();
        is_back = must_answer && answer.ok();
      }
      return wrong;
    }));
  }
  sidecar.Restart();
  restarted = true;
  for (auto& thread : threads) EXPECT_EQ(thread.get(), absl::OkStatus());
}

}  // namespace
}  // namespace ttl
