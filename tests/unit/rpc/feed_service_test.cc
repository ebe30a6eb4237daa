// The feed as its callers see it, over a real socket. Nothing announces or sweeps here: an item is
// announced if it is expired when it is reported.
#include "service/rpc/services/feed_service.h"

#include <gmock/gmock.h>
#include <grpcpp/client_context.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "service/base/done.h"
#include "service/rpc/services/event_streams.h"
#include "tests/testing/captured_log.h"
#include "tests/testing/channel.h"
#include "tests/testing/rpc_matchers.h"
#include "tests/testing/rpc_proto.h"
#include "tests/testing/rpc_sidecar.h"
#include "tests/testing/wait.h"

namespace ttl {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

using FeedStub = v1::FeedService::Stub;
using Response = v1::WatchEventsResponse;

constexpr char kRare[] = "heartbeat_interval { seconds: 60 } ";
constexpr char kFrequent[] = "heartbeat_interval { nanos: 100000000 } ";

// "EXPIRED a" of an event.
std::string Text(const v1::Event& event) {
  const std::string name = v1::EventKind_Name(event.kind());
  return absl::StrCat(name.substr(sizeof("EVENT_KIND_") - 1), event.id().empty() ? "" : " ",
                      event.id());
}

// One stream, as a client sees it. Cancelled when destroyed.
class Events {
 public:
  Events(FeedStub& stub, const std::string& request) {
    context_.set_deadline(absl::ToChronoTime(absl::Now() + absl::Seconds(60)));
    reader_ = stub.WatchEvents(&context_, Proto<v1::WatchEventsRequest>(request));
  }
  ~Events() {
    context_.TryCancel();
    if (reader_ != nullptr) End().IgnoreError();
  }

  std::optional<Response> Next() {
    Response response;
    if (!reader_->Read(&response)) return std::nullopt;
    last_ = response;
    return response;
  }

  // The next `count` events, or fewer if the stream ends.
  std::vector<std::string> Texts(size_t count) {
    std::vector<std::string> texts;
    while (texts.size() < count) {
      const auto response = Next();
      if (!response.has_value()) break;
      for (const v1::Event& event : response->events()) texts.push_back(Text(event));
    }
    return texts;
  }

  // The last response.
  const Response& last() const { return last_; }

  absl::Status End() {
    while (Next().has_value()) continue;
    const grpc::Status status = std::exchange(reader_, nullptr)->Finish();
    return absl::Status(static_cast<absl::StatusCode>(status.error_code()), status.error_message());
  }

 private:
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReader<Response>> reader_;
  Response last_;
};

class FeedServiceTest : public testing::Test {
 protected:
  explicit FeedServiceTest(RpcSidecar::Options options = {}) : sidecar_(std::move(options)) {}

  void SetUp() override { CreateContainer("c", "feed {}"); }

  void CreateContainer(const std::string& id, const std::string& fields) {
    ASSERT_THAT(Call(sidecar_.containers(), &v1::ContainerService::Stub::CreateContainer,
                     Proto<v1::CreateContainerRequest>(absl::StrCat(
                         "container { id: '", id, "' default_ttl: -1 ", fields, " }"))),
                IsOk());
  }
  absl::Status RemoveFeed(const std::string& id) {
    return Call(sidecar_.containers(), &v1::ContainerService::Stub::UpdateContainer,
                Proto<v1::UpdateContainerRequest>(
                    absl::StrCat("container { id: '", id, "' } update_mask { paths: 'feed' }")))
        .status();
  }

  // Tracks items that are expired, which tells so.
  void Expire(const std::vector<std::string>& ids, const std::string& container = "c") {
    for (const std::string& id : ids) {
      sidecar_.storage().TrackOne(container, id, sidecar_.Now() - 10, 5);
    }
  }

  absl::StatusOr<v1::Subscription> Subscribe(const std::string& name,
                                             const std::string& fields = "") {
    const auto created =
        Call(sidecar_.feed(), &FeedStub::CreateSubscription,
             Proto<v1::CreateSubscriptionRequest>(
                 absl::StrCat("subscription { container: 'c' name: '", name, "' ", fields, " }")));
    if (!created.ok()) return created.status();
    return created->subscription();
  }
  absl::Status Unsubscribe(const std::string& name) {
    return Call(sidecar_.feed(), &FeedStub::DeleteSubscription,
                Proto<v1::DeleteSubscriptionRequest>(
                    absl::StrCat("container: 'c' name: '", name, "'")))
        .status();
  }
  v1::Subscription Get(const std::string& name) {
    return Call(
               sidecar_.feed(), &FeedStub::GetSubscription,
               Proto<v1::GetSubscriptionRequest>(absl::StrCat("container: 'c' name: '", name, "'")))
        .value_or(v1::GetSubscriptionResponse())
        .subscription();
  }
  absl::StatusOr<uint64_t> Acknowledge(const std::string& name, uint64_t epoch, uint64_t sequence) {
    v1::AcknowledgeRequest request;
    request.set_container("c");
    request.set_name(name);
    request.set_epoch(epoch);
    request.set_sequence(sequence);
    const auto response = Call(sidecar_.feed(), &FeedStub::Acknowledge, request);
    if (!response.ok()) return response.status();
    return response->acknowledged_sequence();
  }

  // The names of all subscriptions that a request lists, with "|" between pages.
  std::vector<std::string> List(const std::string& fields) {
    auto request = Proto<v1::ListSubscriptionsRequest>(fields);
    std::vector<std::string> names;
    while (true) {
      const auto response = Call(sidecar_.feed(), &FeedStub::ListSubscriptions, request);
      if (!response.ok()) return {response.status().ToString()};
      for (const v1::Subscription& subscription : response->subscriptions()) {
        names.push_back(absl::StrCat(subscription.container(), "/", subscription.name()));
      }
      if (response->next_page_token().empty()) return names;
      names.push_back("|");
      request.set_page_token(response->next_page_token());
    }
  }

  v1::ContainerExpiryStatus ContainerStatus() {
    v1::GetExpiryStatusRequest request;
    request.set_container("c");
    return Call(sidecar_.expiry(), &v1::ExpiryService::Stub::GetExpiryStatus, request)
        .value_or(v1::GetExpiryStatusResponse())
        .container();
  }
  v1::FeedStatus Status() { return ContainerStatus().feed(); }
  v1::ExplainItemResponse Explain(const std::string& id) {
    return Call(sidecar_.expiry(), &v1::ExpiryService::Stub::ExplainItem,
                Proto<v1::ExplainItemRequest>(
                    absl::StrCat("container: 'c' partition_key: 'p' id: '", id, "'")))
        .value_or(v1::ExplainItemResponse());
  }
  // Does what the sweep does with a due item that the gates do not let pass.
  void SetAside(const std::string& id) {
    const std::optional<TrackedItem> item = sidecar_.storage().FindItem("c", id);
    ASSERT_TRUE(item.has_value());
    const auto moved = Await<absl::StatusOr<int64_t>>([&](auto done) {
      sidecar_.storage()->feed().SetAside(sidecar_.storage().Find("c")->number,
                                          {{KeyOf(id), item->generation, false}}, std::move(done));
    });
    ASSERT_EQ(moved.value_or(0), 1);
  }

  std::unique_ptr<Events> Watch(const std::string& request) {
    return std::make_unique<Events>(sidecar_.feed(), request);
  }
  std::unique_ptr<Events> WatchSubscription(const std::string& name,
                                            const std::string& heartbeat = kRare) {
    return Watch(absl::StrCat(heartbeat, "subscription { container: 'c' name: '", name, "' }"));
  }
  // Watches "c" behind the last response of `events`.
  std::unique_ptr<Events> Resume(const Response& response) {
    v1::WatchEventsRequest request;
    request.mutable_containers()->add_ids("c");
    request.mutable_containers()->set_token(response.token());
    return Watch(request.ShortDebugString());
  }

  RpcSidecar sidecar_;
};

TEST_F(FeedServiceTest, AStreamBeginsBehindTheLastEventAndBringsTheNextOnes) {
  Expire({"before"});
  const auto events = Watch(absl::StrCat(kFrequent, "containers { ids: 'c' }"));
  const auto heartbeat = events->Next();
  ASSERT_TRUE(heartbeat.has_value());
  EXPECT_THAT(heartbeat->events(), IsEmpty());
  EXPECT_EQ(heartbeat->server_time().seconds(), sidecar_.Now());
  EXPECT_EQ(heartbeat->clock_state(), v1::CLOCK_STATE_SOUND);
  Expire({"a", "b"});
  EXPECT_THAT(events->Texts(2), ElementsAre("EXPIRED a", "EXPIRED b"));
  sidecar_.storage().UntrackOne("c", "a", sidecar_.Now());
  EXPECT_THAT(events->Texts(1), ElementsAre("GONE a"));
}

TEST_F(FeedServiceTest, AStreamResumesBehindItsToken) {
  const auto first = Watch(absl::StrCat(kFrequent, "containers { ids: 'c' }"));
  ASSERT_TRUE(first->Next().has_value());
  const Response start = first->last();
  Expire({"a"});
  ASSERT_THAT(first->Texts(1), ElementsAre("EXPIRED a"));
  Expire({"b"});
  EXPECT_THAT(Resume(start)->Texts(2), ElementsAre("EXPIRED a", "EXPIRED b"));
  EXPECT_THAT(Resume(first->last())->Texts(1), ElementsAre("EXPIRED b"));
  sidecar_.Restart();
  EXPECT_THAT(Resume(start)->Texts(2), ElementsAre("EXPIRED a", "EXPIRED b"));
}

TEST_F(FeedServiceTest, EventsOfSeveralContainersComeInTheOrderOfTheLog) {
  CreateContainer("d", "feed {}");
  CreateContainer("unwatched", "feed {}");
  const auto events = Watch(absl::StrCat(kFrequent, "containers { ids: 'd' ids: 'c' }"));
  ASSERT_TRUE(events->Next().has_value());
  Expire({"1"}, "c");
  Expire({"2"}, "d");
  Expire({"3"}, "unwatched");
  Expire({"4"}, "c");
  EXPECT_THAT(events->Texts(3), ElementsAre("EXPIRED 1", "EXPIRED 2", "EXPIRED 4"));
}

TEST_F(FeedServiceTest, OnlyTheKindsAskedForAreSent) {
  const auto events =
      Watch(absl::StrCat(kFrequent, "containers { ids: 'c' kinds: EVENT_KIND_GONE }"));
  ASSERT_TRUE(events->Next().has_value());
  Expire({"a"});
  sidecar_.storage().UntrackOne("c", "a", sidecar_.Now());
  EXPECT_THAT(events->Texts(1), ElementsAre("GONE a"));
}

TEST_F(FeedServiceTest, MoreEventsThanAResponseHasComeInSeveral) {
  const auto events = Watch(absl::StrCat(kFrequent, "containers { ids: 'c' }"));
  ASSERT_TRUE(events->Next().has_value());
  const Response start = events->last();
  std::vector<std::string> ids;
  std::vector<std::string> texts;
  for (int i = 0; i < 1500; ++i) {
    ids.push_back(absl::StrCat(i));
    texts.push_back(absl::StrCat("EXPIRED ", i));
  }
  Expire(ids);
  sidecar_.feed_progress().Cover(*sidecar_.storage().Find("c"), std::nullopt, "");
  sidecar_.feed_progress().Advance(absl::FromUnixSeconds(sidecar_.Now()));
  const auto resumed = Resume(start);
  const auto part = resumed->Next();
  ASSERT_TRUE(part.has_value());
  EXPECT_EQ(part->events_size(), 1000);
  EXPECT_FALSE(part->has_watermark()) << "there is more";
  EXPECT_EQ(resumed->Texts(500).size(), 500);
  EXPECT_EQ(resumed->last().watermark().seconds(), sidecar_.Now());
  EXPECT_EQ(Resume(start)->Texts(1500), texts);
}

TEST_F(FeedServiceTest, TheWatermarkIsTheLeastOfAllContainersAndSaysWhoLags) {
  CreateContainer("d", "feed {}");
  const auto advance = [&](const std::string& id, int64_t first_unannounced) {
    sidecar_.feed_progress().Cover(*sidecar_.storage().Find(id), first_unannounced, "");
  };
  const int64_t now = sidecar_.Now();
  const auto events = Watch(absl::StrCat(kFrequent, "containers { ids: 'c' ids: 'd' }"));
  ASSERT_TRUE(events->Next().has_value());
  EXPECT_FALSE(events->last().has_watermark());
  EXPECT_THAT(events->last().lagging_containers(), ElementsAre("c", "d"));
  EXPECT_EQ(events->last().stall_reason(), "not started yet");

  advance("c", now + 100);
  advance("d", now - 50);
  sidecar_.feed_progress().Advance(absl::FromUnixSeconds(now));
  while (events->Next().has_value() && !events->last().has_watermark()) continue;
  EXPECT_EQ(events->last().watermark().seconds(), now - 51);
  EXPECT_THAT(events->last().lagging_containers(), ElementsAre("d"));
  EXPECT_EQ(events->last().stall_reason(), "");

  advance("d", now + 100);
  while (events->Next().has_value() && events->last().watermark().seconds() < now) continue;
  EXPECT_EQ(events->last().watermark().seconds(), now);
  EXPECT_THAT(events->last().lagging_containers(), IsEmpty());
}

TEST_F(FeedServiceTest, TokensOfOthersAreRefused) {
  CreateContainer("d", "feed {}");
  const auto events = Watch(absl::StrCat(kFrequent, "containers { ids: 'd' }"));
  ASSERT_TRUE(events->Next().has_value());
  EXPECT_THAT(Resume(events->last())->End(), IsInvalid("containers.token is of other containers"));
  EXPECT_THAT(Watch("containers { ids: 'c' token: 'x' }")->End(),
              IsInvalid("containers.token is 78 (1 bytes)"));
}

TEST_F(FeedServiceTest, AContainerWithoutAFeedHasNoEventsAndNoSubscriptions) {
  CreateContainer("off", "");
  const auto is_off =
      StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("container \"off\" has no feed"));
  EXPECT_THAT(Watch("containers { ids: 'c' ids: 'off' }")->End(), is_off);
  EXPECT_THAT(Watch("subscription { container: 'off' name: 's' }")->End(), is_off);
  EXPECT_THAT(Call(sidecar_.feed(), &FeedStub::GetSubscription,
                   Proto<v1::GetSubscriptionRequest>("container: 'off' name: 's'")),
              is_off);
  EXPECT_THAT(Call(sidecar_.feed(), &FeedStub::ListSubscriptions,
                   Proto<v1::ListSubscriptionsRequest>("container: 'off'")),
              is_off);
}

TEST_F(FeedServiceTest, ASubscriptionBeginsBehindTheLastEventAndGoesOnBehindItsAcknowledgement) {
  Expire({"before"});
  const auto created = Subscribe("s");
  ASSERT_THAT(created, IsOk());
  EXPECT_EQ(created->create_time().seconds(), sidecar_.Now());
  EXPECT_FALSE(created->has_oldest_unacknowledged_time());
  Expire({"a", "b"});
  EXPECT_EQ(Get("s").oldest_unacknowledged_time().seconds(), sidecar_.Now());
  const auto events = WatchSubscription("s");
  ASSERT_THAT(events->Texts(2), ElementsAre("EXPIRED a", "EXPIRED b"));
  EXPECT_EQ(Get("s").streams(), 1);
  const uint64_t first = events->last().events(0).sequence();
  EXPECT_EQ(Acknowledge("s", events->last().epoch(), first).value(), first);
  EXPECT_EQ(Get("s").acknowledged_sequence(), first);
  EXPECT_THAT(WatchSubscription("s")->Texts(1), ElementsAre("EXPIRED b"));
  // Going back has no effect.
  EXPECT_EQ(Acknowledge("s", events->last().epoch(), first - 1).value(), first);
}

TEST_F(FeedServiceTest, WhatWasNotSentCannotBeAcknowledged) {
  const auto created = Subscribe("s");
  ASSERT_THAT(created, IsOk());
  ASSERT_THAT(Subscribe("other"), IsOk());
  Expire({"a", "b"});
  const uint64_t last = Get("s").last_sequence();
  const auto is_not_sent =
      StatusIs(absl::StatusCode::kOutOfRange, HasSubstr("sent to subscription \"s\""));
  EXPECT_THAT(Acknowledge("s", created->epoch(), last), is_not_sent);
  ASSERT_EQ(WatchSubscription("other")->Texts(2).size(), 2);
  EXPECT_THAT(Acknowledge("s", created->epoch(), last), is_not_sent);
  ASSERT_EQ(WatchSubscription("s")->Texts(2).size(), 2);
  EXPECT_THAT(Acknowledge("s", created->epoch(), last + 1), is_not_sent);
  EXPECT_THAT(Acknowledge("s", created->epoch(), last), IsOk());
}

TEST_F(FeedServiceTest, AnAcknowledgementOfAnotherLogIsRefused) {
  const auto created = Subscribe("s");
  ASSERT_THAT(created, IsOk());
  EXPECT_THAT(Acknowledge("s", created->epoch() + 1, 0),
              StatusIs(absl::StatusCode::kOutOfRange, HasSubstr("of another log")));
}

TEST_F(FeedServiceTest, OnlyTheConsumerOfASubscriptionMayAcknowledge) {
  const auto mine = Subscribe("mine", "consumer: 'address:test'");
  const auto theirs = Subscribe("theirs", "consumer: 'cn:shipping'");
  ASSERT_THAT(mine, IsOk());
  ASSERT_THAT(theirs, IsOk());
  EXPECT_THAT(Acknowledge("mine", mine->epoch(), 0), IsOk());
  EXPECT_THAT(Acknowledge("theirs", theirs->epoch(), 0),
              StatusIs(absl::StatusCode::kPermissionDenied,
                       AllOf(HasSubstr("\"address:test\" may not acknowledge"),
                             HasSubstr("\"cn:shipping\""))));
}

TEST_F(FeedServiceTest, ASubscriptionOfFewKindsPassesTheOthers) {
  ASSERT_THAT(Subscribe("s", "kinds: EVENT_KIND_GONE"), IsOk());
  Expire({"a"});
  EXPECT_TRUE(Get("s").has_oldest_unacknowledged_time());
  const auto events = WatchSubscription("s", kFrequent);
  EXPECT_TRUE(
      WaitUntil([&] { return !Get("s").has_oldest_unacknowledged_time(); }, absl::Seconds(30)));
  sidecar_.storage().UntrackOne("c", "a", sidecar_.Now());
  ASSERT_THAT(events->Texts(1), ElementsAre("GONE a"));
  // What it reads waits for its consumer, and so does all behind it.
  Expire({"b"});
  EXPECT_LT(Get("s").acknowledged_sequence(), events->last().events(0).sequence());
}

TEST_F(FeedServiceTest, AStreamEndsWhenItsSubscriptionIsDeleted) {
  ASSERT_THAT(Subscribe("s"), IsOk());
  const auto events = WatchSubscription("s", kFrequent);
  ASSERT_TRUE(events->Next().has_value());
  ASSERT_THAT(Unsubscribe("s"), IsOk());
  const auto is_gone =
      StatusIs(absl::StatusCode::kNotFound, HasSubstr("container \"c\" has no subscription \"s\""));
  EXPECT_THAT(events->End(), is_gone);
  EXPECT_THAT(Unsubscribe("s"), is_gone);
  EXPECT_THAT(Acknowledge("s", 0, 0), is_gone);
  EXPECT_THAT(WatchSubscription("s")->End(), is_gone);
}

TEST_F(FeedServiceTest, AStreamDoesNotGoOnForAnotherSubscriptionOfTheSameName) {
  ASSERT_THAT(Subscribe("s"), IsOk());
  const auto events = WatchSubscription("s", kFrequent);
  ASSERT_TRUE(events->Next().has_value());
  sidecar_.clock().Advance(absl::Seconds(1));
  ASSERT_THAT(Unsubscribe("s"), IsOk());
  ASSERT_THAT(Subscribe("s"), IsOk());
  EXPECT_THAT(events->End(), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_TRUE(WaitUntil([&] { return Get("s").streams() == 0; }));
}

TEST_F(FeedServiceTest, AFeedStaysWhileItHasSubscriptions) {
  ASSERT_THAT(Subscribe("s"), IsOk());
  EXPECT_THAT(RemoveFeed("c"), StatusIs(absl::StatusCode::kFailedPrecondition));
  const auto events = Watch(absl::StrCat(kFrequent, "containers { ids: 'c' }"));
  ASSERT_TRUE(events->Next().has_value());
  ASSERT_THAT(Unsubscribe("s"), IsOk());
  EXPECT_THAT(RemoveFeed("c"), IsOk());
  EXPECT_THAT(events->End(), StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST_F(FeedServiceTest, ForceRemovesAFeedWithItsSubscriptionsAndIsLogged) {
  ASSERT_THAT(Subscribe("s"), IsOk());
  const auto events = WatchSubscription("s", kFrequent);
  ASSERT_TRUE(events->Next().has_value());
  const CapturedLog log;
  ASSERT_THAT(Call(sidecar_.containers(), &v1::ContainerService::Stub::UpdateContainer,
                   Proto<v1::UpdateContainerRequest>(
                       "container { id: 'c' } update_mask { paths: 'feed' } force: true")),
              IsOk());
  EXPECT_THAT(log.text(),
              HasSubstr("warning subscriptions disregarded because of force: container=\"c\" "
                        "subscriptions=1 caller=\"address:test\""));
  // Whichever of the two it finds gone first.
  EXPECT_THAT(events->End(), AnyOf(StatusIs(absl::StatusCode::kFailedPrecondition),
                                   StatusIs(absl::StatusCode::kNotFound)));
}

TEST_F(FeedServiceTest, SubscriptionsAreListedInPages) {
  CreateContainer("b", "feed {}");
  for (const char* name : {"2", "1", "3"}) ASSERT_THAT(Subscribe(name), IsOk());
  ASSERT_THAT(
      Call(sidecar_.feed(), &FeedStub::CreateSubscription,
           Proto<v1::CreateSubscriptionRequest>("subscription { container: 'b' name: 'x' }")),
      IsOk());
  EXPECT_THAT(List(""), ElementsAre("b/x", "c/1", "c/2", "c/3"));
  EXPECT_THAT(List("page_size: 2"), ElementsAre("b/x", "c/1", "|", "c/2", "c/3"));
  EXPECT_THAT(List("container: 'c' page_size: 2"), ElementsAre("c/1", "c/2", "|", "c/3"));
  EXPECT_THAT(List("container: 'b' page_size: 1"), ElementsAre("b/x"));
}

TEST_F(FeedServiceTest, TheStatusSaysHowFarTheFeedAndItsSubscriptionsAre) {
  ASSERT_THAT(Subscribe("s"), IsOk());
  Expire({"a", "b"});
  sidecar_.clock().Advance(absl::Seconds(30));
  sidecar_.feed_progress().Cover(*sidecar_.storage().Find("c"), std::nullopt, "");
  sidecar_.feed_progress().Advance(absl::FromUnixSeconds(sidecar_.Now()));
  const v1::FeedStatus status = Status();
  EXPECT_EQ(status.events(), 2);
  EXPECT_GT(status.bytes(), 0);
  EXPECT_EQ(status.expired_items(), 2);
  EXPECT_EQ(status.last_sequence(), Get("s").last_sequence());
  EXPECT_EQ(status.watermark().seconds(), sidecar_.Now());
  ASSERT_EQ(status.subscriptions_size(), 1);
  const v1::SubscriptionStatus& subscription = status.subscriptions(0);
  EXPECT_EQ(subscription.name(), "s");
  EXPECT_EQ(subscription.unacknowledged_events(), 2);
  EXPECT_FALSE(subscription.is_lower_bound());
  EXPECT_EQ(subscription.oldest_unacknowledged_time().seconds(), sidecar_.Now() - 30);
  EXPECT_EQ(subscription.streams(), 0);
  EXPECT_FALSE(subscription.has_lost_events());
}

TEST_F(FeedServiceTest, AnItemIsExplainedWithItsEvent) {
  Expire({"announced"});
  sidecar_.storage().TrackOne("c", "unannounced", sidecar_.Now(), 5);
  sidecar_.clock().Advance(absl::Seconds(5));
  EXPECT_EQ(Explain("announced").expired_sequence(), Status().last_sequence());
  EXPECT_EQ(Explain("unannounced").expired_sequence(), 0);
}

TEST_F(FeedServiceTest, AGateBeginsAtTheOldestEventAndShowsItsSettings) {
  Expire({"before"});
  const auto created = Subscribe("s", "gate: true give_up_after { seconds: 60 }");
  ASSERT_THAT(created, IsOk());
  EXPECT_TRUE(created->gate());
  EXPECT_EQ(created->give_up_after().seconds(), 60);
  EXPECT_EQ(created->given_up_sequence(), 0);
  EXPECT_EQ(created->oldest_unacknowledged_time().seconds(), sidecar_.Now());
  EXPECT_TRUE(Get("s").gate());
  EXPECT_EQ(Get("s").give_up_after().seconds(), 60);
  EXPECT_THAT(WatchSubscription("s")->Texts(1), ElementsAre("EXPIRED before"));
  EXPECT_TRUE(Status().subscriptions(0).gate());
  ASSERT_THAT(Subscribe("other"), IsOk());
  EXPECT_FALSE(Get("other").gate());
  EXPECT_FALSE(Get("other").has_give_up_after());
}

TEST_F(FeedServiceTest, TheStatusSaysWhatWaitsForWhichGate) {
  const auto gate = Subscribe("archive", "gate: true");
  ASSERT_THAT(gate, IsOk());
  Expire({"a", "b"});
  EXPECT_EQ(Status().gated_items(), 0);
  ASSERT_NO_FATAL_FAILURE(SetAside("a"));
  ASSERT_NO_FATAL_FAILURE(SetAside("b"));
  const v1::ContainerExpiryStatus waiting = ContainerStatus();
  EXPECT_EQ(waiting.feed().gated_items(), 2);
  EXPECT_THAT(waiting.feed().waiting_for(), ElementsAre("archive"));
  EXPECT_FALSE(waiting.feed().is_full());
  EXPECT_THAT(waiting.holds(), Contains(v1::DELETE_HOLD_GATE));
  EXPECT_EQ(waiting.backlog(), 0);
  EXPECT_FALSE(waiting.has_oldest_due_age());
  const auto events = WatchSubscription("archive");
  ASSERT_EQ(events->Texts(2).size(), 2);
  ASSERT_THAT(Acknowledge("archive", gate->epoch(), events->last().events().rbegin()->sequence()),
              IsOk());
  EXPECT_EQ(ContainerStatus().backlog(), 2) << "they may be deleted now";
}

TEST_F(FeedServiceTest, AnItemSaysForWhichGatesItWaits) {
  const auto gate = Subscribe("archive", "gate: true");
  ASSERT_THAT(gate, IsOk());
  ASSERT_THAT(Subscribe("billing", "gate: true"), IsOk());
  ASSERT_THAT(Subscribe("mail"), IsOk());
  Expire({"a"});
  sidecar_.storage().TrackOne("c", "live", sidecar_.Now(), 5);
  const v1::ExplainItemResponse waits = Explain("a");
  EXPECT_THAT(waits.waiting_for(), ElementsAre("archive", "billing"));
  EXPECT_THAT(waits.holds(), Contains(v1::DELETE_HOLD_GATE));
  EXPECT_THAT(waits.explanation(),
              HasSubstr(absl::StrCat("to acknowledge event ", waits.expired_sequence())));
  EXPECT_THAT(Explain("live").waiting_for(), IsEmpty());
  ASSERT_EQ(WatchSubscription("archive")->Texts(1).size(), 1);
  ASSERT_THAT(Acknowledge("archive", gate->epoch(), waits.expired_sequence()), IsOk());
  EXPECT_THAT(Explain("a").waiting_for(), ElementsAre("billing"));
  ASSERT_THAT(Unsubscribe("billing"), IsOk());
  EXPECT_THAT(Explain("a").waiting_for(), IsEmpty());
  EXPECT_THAT(Explain("a").holds(), Not(Contains(v1::DELETE_HOLD_GATE)));
}

TEST_F(FeedServiceTest, AGateThatLostEventsGetsAResyncAndMayNotPassWhatItHasNotSeen) {
  const auto gate = Subscribe("archive", "gate: true");
  ASSERT_THAT(gate, IsOk());
  std::vector<std::string> ids;
  for (int i = 0; i < 3000; ++i) ids.push_back(absl::StrCat(std::string(1000, 'x'), i));
  Expire(ids);
  // Three times as many bytes as it may have from now on.
  ContainerSettings settings = sidecar_.storage().Find("c")->settings;
  settings.feed->max_bytes = FeedSettings::kMinMaxBytes;
  ASSERT_TRUE(sidecar_.storage().Update("c", settings).ok());
  sidecar_.storage().FinishHousekeeping();
  const v1::Subscription lost = Get("archive");
  ASSERT_TRUE(lost.has_lost_events());
  EXPECT_THAT(Acknowledge("archive", gate->epoch(), lost.last_sequence()),
              StatusIs(absl::StatusCode::kOutOfRange, HasSubstr("sent to subscription")));
  const auto events = WatchSubscription("archive");
  ASSERT_TRUE(events->Next().has_value());
  ASSERT_EQ(events->last().events_size(), 1);
  const v1::Event resync = events->last().events(0);
  EXPECT_EQ(Text(resync), "RESYNC");
  EXPECT_THAT(Acknowledge("archive", gate->epoch(), resync.sequence()), IsOk());
  EXPECT_FALSE(Get("archive").has_lost_events());
  ASSERT_TRUE(events->Next().has_value());
  EXPECT_EQ(events->last().events(0).kind(), v1::EVENT_KIND_EXPIRED);
  EXPECT_GT(events->last().events(0).sequence(), resync.sequence());
}

TEST_F(FeedServiceTest, AWatcherOfContainersHearsOfTheFirstGateAndOfTheEndOfTheLast) {
  const auto has_holds = [&] {
    return Call(sidecar_.containers(), &v1::ContainerService::Stub::GetContainer,
                Proto<v1::GetContainerRequest>("id: 'c'"))
        .value()
        .container()
        .has_holds();
  };
  grpc::ClientContext context;
  context.set_deadline(absl::ToChronoTime(absl::Now() + absl::Seconds(60)));
  const auto watcher = sidecar_.containers().WatchContainers(
      &context,
      Proto<v1::WatchContainersRequest>("rules: [1, 2] heartbeat_interval { seconds: 60 }"));
  v1::WatchContainersResponse message;
  const auto next_change = [&] {
    while (watcher->Read(&message) && message.event() != v1::WATCH_EVENT_CHANGE) continue;
    return message.containers_size() == 1 && message.containers(0).has_holds();
  };
  ASSERT_TRUE(watcher->Read(&message));
  ASSERT_THAT(Subscribe("ordinary"), IsOk());
  EXPECT_FALSE(has_holds());
  ASSERT_THAT(Subscribe("s", "gate: true"), IsOk());
  EXPECT_TRUE(next_change());
  ASSERT_THAT(Subscribe("t", "gate: true"), IsOk());
  ASSERT_THAT(Unsubscribe("s"), IsOk());
  EXPECT_TRUE(has_holds());
  ASSERT_THAT(Unsubscribe("t"), IsOk());
  EXPECT_FALSE(next_change());
  context.TryCancel();
  while (watcher->Read(&message)) continue;
  watcher->Finish();
}

TEST_F(FeedServiceTest, SubscriptionsAreLoggedWithTheirCaller) {
  const CapturedLog log;
  ASSERT_THAT(Subscribe("s", "kinds: EVENT_KIND_PURGED consumer: 'cn:shipping'"), IsOk());
  ASSERT_THAT(Unsubscribe("s"), IsOk());
  const std::string rest =
      ": container=\"c\" subscription=\"s\" settings={kinds=PURGED consumer=\"cn:shipping\"} "
      "caller=\"address:test\"\n";
  EXPECT_EQ(log.text(),
            absl::StrCat("info subscription created", rest, "info subscription deleted", rest));
}

TEST_F(FeedServiceTest, WhenTheServerStopsOpenStreamsEndAndLaterOnesToo) {
  const auto events = Watch(absl::StrCat(kFrequent, "containers { ids: 'c' }"));
  ASSERT_TRUE(events->Next().has_value());
  sidecar_.EndStreams();
  const auto is_end = StatusIs(absl::StatusCode::kUnavailable, HasSubstr("shutting down"));
  EXPECT_THAT(events->End(), is_end);
  EXPECT_THAT(Watch("containers { ids: 'c' }")->End(), is_end);
}

TEST_F(FeedServiceTest, WhenThereAreTooManyStreamsOneIsRefusedUntilAnotherEnds) {
  const std::string request = absl::StrCat(kFrequent, "containers { ids: 'c' }");
  std::vector<std::unique_ptr<Events>> streams;
  for (size_t i = 0; i < EventStreams::kMaxStreams; ++i) streams.push_back(Watch(request));
  for (const auto& stream : streams) ASSERT_TRUE(stream->Next().has_value());
  EXPECT_THAT(Watch(request)->End(),
              StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("100")));
  streams.pop_back();
  EXPECT_TRUE(WaitUntil([&] { return Watch(request)->Next().has_value(); }));
}

// Streams with a stall limit, and more events than a connection takes in before somebody reads.
class StalledStreamTest : public FeedServiceTest {
 protected:
  explicit StalledStreamTest(absl::Duration limit) : FeedServiceTest(WithLimit(limit)) {}

  static RpcSidecar::Options WithLimit(absl::Duration limit) {
    RpcSidecar::Options options;
    options.stall_limit = limit;
    return options;
  }

  void SetUp() override {
    FeedServiceTest::SetUp();
    ASSERT_THAT(Subscribe("s"), IsOk());
    std::vector<std::string> ids;
    for (int i = 0; i < 1000; ++i) ids.push_back(absl::StrCat(std::string(1000, 'x'), i));
    Expire(ids);
  }
  // A stream of the subscription that takes in less than its first response until it is read.
  std::unique_ptr<Events> WatchWithoutReading() {
    return std::make_unique<Events>(
        *small_, absl::StrCat(kRare, "subscription { container: 'c' name: 's' }"));
  }
  MethodCounts Counts() { return sidecar_.call_counters().Get().at("FeedService/WatchEvents"); }
  // Streams that ended because their client does not read.
  int64_t CutOff() {
    return Counts().calls.by_code[static_cast<size_t>(absl::StatusCode::kDeadlineExceeded)];
  }

  const std::unique_ptr<FeedStub> small_ =
      v1::FeedService::NewStub(NewSmallChannel(sidecar_.address()));
};

class StreamOfAFifthOfASecondTest : public StalledStreamTest {
 protected:
  StreamOfAFifthOfASecondTest() : StalledStreamTest(absl::Milliseconds(200)) {}
};

TEST_F(StreamOfAFifthOfASecondTest, OneThatIsNotReadIsCutOffAndAnIdleOneStays) {
  const auto idle = Watch(absl::StrCat(kRare, "containers { ids: 'c' }"));
  ASSERT_TRUE(WaitUntil([&] { return Counts().open_streams == 1; }));
  const auto stalled = WatchWithoutReading();
  EXPECT_TRUE(WaitUntil([&] { return CutOff() == 1; }));
  EXPECT_EQ(Get("s").streams(), 0);
  EXPECT_THAT(stalled->End(), StatusIs(absl::StatusCode::kCancelled));
  Expire({"next"});
  EXPECT_THAT(idle->Texts(1), ElementsAre("EXPIRED next"));
}

class StreamOfTwoSecondsTest : public StalledStreamTest {
 protected:
  StreamOfTwoSecondsTest() : StalledStreamTest(absl::Seconds(2)) {}
};

TEST_F(StreamOfTwoSecondsTest, OneThatIsNotReadLosesItsPlaceAndLearnsWhy) {
  const auto stalled = WatchWithoutReading();
  ASSERT_TRUE(WaitUntil([&] { return Get("s").streams() == 1; }));
  EXPECT_TRUE(WaitUntil([&] { return Get("s").streams() == 0; }));
  EXPECT_THAT(stalled->End(), StatusIs(absl::StatusCode::kDeadlineExceeded,
                                       HasSubstr("the client read no message for 2s")));
}

}  // namespace
}  // namespace ttl
