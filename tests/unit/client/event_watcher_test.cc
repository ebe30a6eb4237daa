#include "ttl/event_watcher.h"

#include <sys/wait.h>
#include <unistd.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "service/base/mutex.h"
#include "tests/testing/fake_sidecar.h"
#include "tests/testing/rpc_matchers.h"
#include "tests/testing/rpc_proto.h"
#include "tests/testing/temp_dir.h"
#include "tests/testing/wait.h"
#include "ttl/client.h"
#include "ttl/error_details.h"
#include "ttl/feed_client.h"

namespace ttl {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const grpc::Status kUnavailable(grpc::StatusCode::UNAVAILABLE, "going down");

v1::WatchEventsResponse Response(const std::string& token, std::vector<uint64_t> sequences) {
  v1::WatchEventsResponse response;
  response.set_token(token);
  response.set_epoch(7);
  for (const uint64_t sequence : sequences) {
    v1::Event& event = *response.add_events();
    event.set_kind(v1::EVENT_KIND_EXPIRED);
    event.set_sequence(sequence);
  }
  return response;
}

v1::WatchEventsRequest OfContainer(const std::string& token = "") {
  v1::WatchEventsRequest request;
  request.mutable_containers()->add_ids("c");
  request.mutable_containers()->set_token(token);
  return request;
}

v1::WatchEventsRequest OfSubscription() {
  return Proto<v1::WatchEventsRequest>("subscription { container: 'c' name: 'archive' }");
}

TtlClientOptions OptionsFor(const std::string& address, bool wait_for_sidecar = true) {
  TtlClientOptions options;
  options.address = address;
  options.admin_deadline = absl::Seconds(60);  // missed by no machine
  options.wait_for_sidecar = wait_for_sidecar;
  return options;
}

// What a watcher called, in order.
class Calls {
 public:
  EventHandlers handlers() {
    return {.on_response =
                [this](const v1::WatchEventsResponse& response) {
                  MutexLock lock(mutex_);
                  for (const v1::Event& event : response.events()) {
                    calls_.push_back(absl::StrCat(event.sequence()));
                  }
                  if (response.events().empty()) calls_.push_back("heartbeat");
                },
            .on_break = [this](const absl::Status& status) { Add("broken", status); },
            .on_failure = [this](const absl::Status& status) { Add("failed", status); }};
  }

  std::vector<std::string> calls() const {
    MutexLock lock(mutex_);
    return calls_;
  }
  std::vector<absl::Status> statuses() const {
    MutexLock lock(mutex_);
    return statuses_;
  }
  bool Become(const std::vector<std::string>& wanted) const {
    return WaitUntil([&] { return calls() == wanted; });
  }

 private:
  void Add(const std::string& what, const absl::Status& status) {
    MutexLock lock(mutex_);
    calls_.push_back(what);
    statuses_.push_back(status);
  }

  mutable Mutex mutex_;
  std::vector<std::string> calls_ ABSL_GUARDED_BY(mutex_);
  std::vector<absl::Status> statuses_ ABSL_GUARDED_BY(mutex_);
};

class EventWatcherTest : public testing::Test {
 protected:
  std::unique_ptr<EventWatcher> Watch(const v1::WatchEventsRequest& request) {
    return client_.feed().Watch(request, calls_.handlers());
  }

  std::vector<v1::WatchEventsRequest> requests() const {
    return sidecar_.Requests<v1::WatchEventsRequest>("WatchEvents");
  }

  FakeSidecar sidecar_;
  TtlClient client_{OptionsFor(sidecar_.address())};
  Calls calls_;
};

TEST_F(EventWatcherTest, TellsEventsAndHeartbeatsInOrder) {
  sidecar_.Answer("WatchEvents", Response("t0", {}));
  sidecar_.Answer("WatchEvents", Response("t1", {3, 5}));
  sidecar_.Answer("WatchEvents", Response("t2", {8}));
  const v1::WatchEventsRequest request = Proto<v1::WatchEventsRequest>(
      "containers { ids: 'c' ids: 'd' token: 'start' kinds: EVENT_KIND_EXPIRED } "
      "heartbeat_interval { seconds: 2 }");
  const auto watcher = Watch(request);
  EXPECT_TRUE(calls_.Become({"heartbeat", "3", "5", "8"}));
  ASSERT_THAT(requests(), SizeIs(1));
  EXPECT_EQ(requests()[0].SerializeAsString(), request.SerializeAsString());
}

TEST_F(EventWatcherTest, ResumesBehindTheLastResponse) {
  sidecar_.Answer("WatchEvents", Response("t1", {3}));
  sidecar_.Answer("WatchEvents", Response("t2", {}));
  sidecar_.Fail("WatchEvents", kUnavailable);
  sidecar_.Fail("WatchEvents", kUnavailable);
  sidecar_.Answer("WatchEvents", Response("t3", {4}));
  const auto watcher = Watch(OfContainer("t0"));
  EXPECT_TRUE(calls_.Become({"3", "heartbeat", "broken", "broken", "4"}));
  ASSERT_THAT(requests(), SizeIs(3));
  EXPECT_EQ(requests()[0].containers().token(), "t0");
  EXPECT_EQ(requests()[1].containers().token(), "t2");
  EXPECT_EQ(requests()[2].containers().token(), "t2");
  EXPECT_THAT(requests()[2].containers().ids(), ElementsAre("c"));
  EXPECT_THAT(calls_.statuses()[0],
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("going down")));
}

TEST_F(EventWatcherTest, ResumesASubscriptionWithoutAToken) {
  sidecar_.Answer("WatchEvents", Response("t1", {3}));
  sidecar_.Fail("WatchEvents", kUnavailable);
  const auto watcher = Watch(OfSubscription());
  EXPECT_TRUE(WaitUntil([&] { return requests().size() == 2; }));
  for (const v1::WatchEventsRequest& request : requests()) {
    EXPECT_EQ(request.SerializeAsString(), OfSubscription().SerializeAsString());
  }
}

TEST_F(EventWatcherTest, AStreamThatTheSidecarEndsIsResumedToo) {
  sidecar_.Fail("WatchEvents", grpc::Status::OK);
  const auto watcher = Watch(OfContainer());
  EXPECT_TRUE(WaitUntil([&] { return requests().size() == 2; }));
  EXPECT_THAT(calls_.statuses(), ElementsAre(StatusIs(absl::StatusCode::kUnavailable)));
}

TEST_F(EventWatcherTest, WhatMayPassIsTriedAgain) {
  const std::vector<grpc::StatusCode> codes = {
      grpc::StatusCode::RESOURCE_EXHAUSTED, grpc::StatusCode::CANCELLED, grpc::StatusCode::INTERNAL,
      grpc::StatusCode::UNKNOWN};
  for (const grpc::StatusCode code : codes) {
    sidecar_.Answer("WatchEvents", Response("t", {}));  // which keeps the pauses short
    sidecar_.Fail("WatchEvents", {code, "for now"});
  }
  const auto watcher = Watch(OfContainer());
  EXPECT_TRUE(WaitUntil([&] { return requests().size() == codes.size() + 1; }));
  EXPECT_THAT(calls_.statuses(), SizeIs(codes.size()));
}

class GivesUp : public EventWatcherTest, public testing::WithParamInterface<grpc::StatusCode> {};

TEST_P(GivesUp, OnceAndForAll) {
  sidecar_.Answer("WatchEvents", Response("t1", {3}));
  sidecar_.Fail("WatchEvents", {GetParam(), "compare with the store"});
  const auto watcher = Watch(OfContainer());
  EXPECT_TRUE(calls_.Become({"3", "failed"}));
  EXPECT_THAT(calls_.statuses(), ElementsAre(StatusIs(static_cast<absl::StatusCode>(GetParam()),
                                                      HasSubstr("compare with the store"))));
  // What the next stream would bring is never asked for.
  sidecar_.Answer("WatchEvents", Response("t2", {4}));
  EXPECT_THAT(requests(), SizeIs(1));
}

INSTANTIATE_TEST_SUITE_P(
    EventWatcherTest, GivesUp,
    testing::Values(grpc::StatusCode::OUT_OF_RANGE, grpc::StatusCode::INVALID_ARGUMENT,
                    grpc::StatusCode::NOT_FOUND, grpc::StatusCode::FAILED_PRECONDITION,
                    grpc::StatusCode::PERMISSION_DENIED, grpc::StatusCode::UNAUTHENTICATED,
                    grpc::StatusCode::UNIMPLEMENTED));

// The token of a response counts only when its handler has returned.
TEST_F(EventWatcherTest, AResponseIsNotPassedWhileTheOneBeforeIsDealtWith) {
  sidecar_.Answer("WatchEvents", Response("t1", {1}));
  sidecar_.Answer("WatchEvents", Response("t2", {2}));
  Mutex mutex;
  mutex.Lock();
  EventHandlers handlers = calls_.handlers();
  handlers.on_response = [&mutex, inner = handlers.on_response](const auto& response) {
    inner(response);
    MutexLock lock(mutex);
  };
  const auto watcher = client_.feed().Watch(OfContainer(), std::move(handlers));
  EXPECT_TRUE(calls_.Become({"1"}));
  mutex.Unlock();
  EXPECT_TRUE(calls_.Become({"1", "2"}));
}

TEST_F(EventWatcherTest, DestructionEndsTheStreamAndCallsNothing) {
  sidecar_.Answer("WatchEvents", Response("t1", {1}));
  auto watcher = Watch(OfContainer());
  EXPECT_TRUE(calls_.Become({"1"}));
  watcher.reset();
  EXPECT_THAT(calls_.calls(), ElementsAre("1"));
  EXPECT_THAT(calls_.statuses(), IsEmpty());
}

TEST(EventWatcherWithoutServerTest, ResumesWhereItWasAfterARestart) {
  const TempDir directory;
  auto sidecar = std::make_unique<FakeSidecar>(directory.File("s.sock"));
  TtlClient client(OptionsFor(sidecar->address()));
  Calls calls;
  sidecar->Answer("WatchEvents", Response("t1", {1}));
  const auto watcher = client.feed().Watch(OfContainer(), calls.handlers());
  ASSERT_TRUE(calls.Become({"1"}));
  sidecar.reset();
  sidecar = std::make_unique<FakeSidecar>(directory.File("s.sock"));
  sidecar->Answer("WatchEvents", Response("t2", {2}));
  EXPECT_TRUE(WaitUntil([&] { return !calls.calls().empty() && calls.calls().back() == "2"; }));
  const auto requests = sidecar->Requests<v1::WatchEventsRequest>("WatchEvents");
  ASSERT_FALSE(requests.empty());
  EXPECT_EQ(requests[0].containers().token(), "t1");
}

TEST(EventWatcherWithoutServerTest, WaitsForASidecarThatIsAwayUnlessToldNotTo) {
  const TempDir directory;
  const std::string socket = directory.File("s.sock");
  Calls waiting;
  Calls impatient;
  TtlClient waiting_client(OptionsFor(absl::StrCat("unix:", socket)));
  TtlClient impatient_client(OptionsFor(absl::StrCat("unix:", socket), false));
  const auto waits = waiting_client.feed().Watch(OfContainer(), waiting.handlers());
  const auto does_not = impatient_client.feed().Watch(OfContainer(), impatient.handlers());
  EXPECT_TRUE(impatient.Become({"failed"}));
  EXPECT_THAT(impatient.statuses()[0], StatusIs(absl::StatusCode::kUnavailable));
  FakeSidecar sidecar(socket);
  sidecar.Answer("WatchEvents", Response("t1", {1}));
  EXPECT_TRUE(waiting.Become({"1"}));
}

TEST_F(EventWatcherTest, OnceConnectedItWaitsInAnyCase) {
  TtlClient impatient(OptionsFor(sidecar_.address(), /*wait_for_sidecar=*/false));
  sidecar_.Answer("WatchEvents", Response("t1", {1}));
  sidecar_.Fail("WatchEvents", kUnavailable);
  sidecar_.Answer("WatchEvents", Response("t2", {2}));
  const auto watcher = impatient.feed().Watch(OfContainer(), calls_.handlers());
  EXPECT_TRUE(calls_.Become({"1", "broken", "2"}));
}

TEST_F(EventWatcherTest, AChildOfTheProcessIsRefused) {
  const pid_t child = fork();
  ASSERT_NE(child, -1);
  if (child == 0) {
    Calls calls;
    const auto watcher = client_.feed().Watch(OfContainer(), calls.handlers());
    const bool is_refused =
        calls.Become({"failed"}) && absl::IsFailedPrecondition(calls.statuses()[0]);
    _exit(is_refused ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST_F(EventWatcherTest, AnAcknowledgementIsRepeatedUntilItIsAnswered) {
  for (int i = 0; i < 5; ++i) sidecar_.Fail("Acknowledge", kUnavailable);
  EXPECT_EQ(client_.feed().Acknowledge("c", "archive", 7, 42).value(), 42u);
  const auto requests = sidecar_.Requests<v1::AcknowledgeRequest>("Acknowledge");
  ASSERT_THAT(requests, SizeIs(6));
  EXPECT_EQ(requests[5].SerializeAsString(),
            Proto<v1::AcknowledgeRequest>("container: 'c' name: 'archive' epoch: 7 sequence: 42")
                .SerializeAsString());
}

// In between, somebody may have deleted or created one of that name.
TEST_F(EventWatcherTest, ChangesOfSubscriptionsAreSentOnce) {
  for (const char* method : {"CreateSubscription", "DeleteSubscription"}) {
    sidecar_.Fail(method, kUnavailable);
  }
  const auto subscription = Proto<v1::Subscription>(
      "container: 'c' name: 'archive' gate: true give_up_after { seconds: 604800 }");
  EXPECT_THAT(client_.feed().CreateSubscription(subscription),
              StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_THAT(client_.feed().DeleteSubscription("c", "archive"),
              StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_EQ(sidecar_.Calls("CreateSubscription"), 1);
  EXPECT_EQ(sidecar_.Calls("DeleteSubscription"), 1);
  const auto created = sidecar_.Requests<v1::CreateSubscriptionRequest>("CreateSubscription")[0];
  EXPECT_EQ(created.subscription().SerializeAsString(), subscription.SerializeAsString());
  const auto deleted = sidecar_.Requests<v1::DeleteSubscriptionRequest>("DeleteSubscription")[0];
  EXPECT_EQ(deleted.container(), "c");
  EXPECT_EQ(deleted.name(), "archive");
}

TEST_F(EventWatcherTest, SubscriptionsAreReadAgainAndListedOverPages) {
  sidecar_.Fail("GetSubscription", kUnavailable);
  v1::GetSubscriptionResponse one;
  one.mutable_subscription()->set_acknowledged_sequence(5);
  sidecar_.Answer("GetSubscription", one);
  EXPECT_EQ(client_.feed().GetSubscription("c", "a")->acknowledged_sequence(), 5u);

  v1::ListSubscriptionsResponse page;
  page.add_subscriptions()->set_name("a");
  page.set_next_page_token("next");
  sidecar_.Answer("ListSubscriptions", page);
  page.mutable_subscriptions(0)->set_name("b");
  page.clear_next_page_token();
  sidecar_.Answer("ListSubscriptions", page);
  const auto all = client_.feed().ListSubscriptions("c");
  ASSERT_THAT(all, IsOk());
  ASSERT_THAT(*all, SizeIs(2));
  EXPECT_EQ((*all)[1].name(), "b");
  const auto requests = sidecar_.Requests<v1::ListSubscriptionsRequest>("ListSubscriptions");
  EXPECT_EQ(requests[1].container(), "c");
  EXPECT_EQ(requests[1].page_token(), "next");
}

}  // namespace
}  // namespace ttl
