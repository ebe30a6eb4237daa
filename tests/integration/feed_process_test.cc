// The feed of a real sidecar against a store on a real socket: what expires is announced at its
// second and ends once, whatever happens in between, and a reader misses nothing.

#include <gmock/gmock.h>
#include <grpcpp/client_context.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "tests/integration/sidecar_calls.h"
#include "tests/testing/channel.h"
#include "tests/testing/fake_primary_store.h"
#include "tests/testing/sidecar_process.h"
#include "tests/testing/status_details.h"
#include "tests/testing/temp_dir.h"
#include "tests/testing/wait.h"
#include "ttl/v1/container_service.grpc.pb.h"
#include "ttl/v1/feed_service.grpc.pb.h"
#include "ttl/v1/item_service.grpc.pb.h"
#include "ttl/v1/maintenance_service.grpc.pb.h"

namespace ttl {
namespace {

using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

constexpr absl::Duration kPatience = absl::Seconds(60);

int64_t Now() { return absl::ToUnixSeconds(absl::Now()); }

// The error of a call; its message begins with the reason.
absl::Status StatusWithReason(const grpc::Status& status) {
  const auto details = ReadStatusDetails(status.error_details());
  return absl::Status(
      static_cast<absl::StatusCode>(status.error_code()),
      absl::StrCat(details.has_value() ? details->reason : "", ": ", status.error_message()));
}

std::string ReasonIn(const absl::Status& status) {
  return std::string(status.message().substr(0, status.message().find(':')));
}

// "EXPIRED a" of an event.
std::string Text(const v1::Event& event) {
  const std::string name = v1::EventKind_Name(event.kind());
  return absl::StrCat(name.substr(sizeof("EVENT_KIND_") - 1), event.id().empty() ? "" : " ",
                      event.id());
}

// A stream of events, as a client sees it. Cancelled when destroyed.
class Watcher {
 public:
  Watcher(const std::shared_ptr<grpc::Channel>& channel, v1::WatchEventsRequest request,
          absl::Duration heartbeat = absl::Milliseconds(100))
      : stub_(v1::FeedService::NewStub(channel)) {
    request.mutable_heartbeat_interval()->set_seconds(absl::ToInt64Seconds(heartbeat));
    request.mutable_heartbeat_interval()->set_nanos(
        absl::ToInt64Nanoseconds(heartbeat % absl::Seconds(1)));
    context_.set_deadline(absl::ToChronoTime(absl::Now() + kPatience));
    context_.set_wait_for_ready(true);
    reader_ = stub_->WatchEvents(&context_, request);
  }
  ~Watcher() {
    context_.TryCancel();
    if (reader_ != nullptr) Drain();
  }

  std::optional<v1::WatchEventsResponse> Next() {
    v1::WatchEventsResponse response;
    if (!reader_->Read(&response)) return std::nullopt;
    last_ = response;
    events_.insert(events_.end(), response.events().begin(), response.events().end());
    return response;
  }

  // Reads until `is_over` of the last response; false if the stream ended before.
  bool ReadUntil(absl::FunctionRef<bool(const v1::WatchEventsResponse&)> is_over) {
    std::optional<v1::WatchEventsResponse> response;
    do {
      response = Next();
    } while (response.has_value() && !is_over(*response));
    return response.has_value();
  }

  // The events so far, once there are `count`; fewer if the stream ended before.
  const std::vector<v1::Event>& Events(size_t count) {
    while (events_.size() < count && Next().has_value()) continue;
    return events_;
  }
  std::vector<std::string> Texts(size_t count) {
    std::vector<std::string> texts;
    for (const v1::Event& event : Events(count)) texts.push_back(Text(event));
    return texts;
  }

  // The last response.
  const v1::WatchEventsResponse& last() const { return last_; }

  // How the stream ended; what comes before is thrown away.
  grpc::Status End() {
    v1::WatchEventsResponse response;
    while (reader_->Read(&response)) continue;
    return std::exchange(reader_, nullptr)->Finish();
  }

 private:
  void Drain() { End(); }

  const std::unique_ptr<v1::FeedService::Stub> stub_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReader<v1::WatchEventsResponse>> reader_;
  v1::WatchEventsResponse last_;
  std::vector<v1::Event> events_;
};

v1::WatchEventsRequest OfContainers(const std::vector<std::string>& ids,
                                    const std::string& token = "") {
  v1::WatchEventsRequest request;
  for (const std::string& id : ids) request.mutable_containers()->add_ids(id);
  request.mutable_containers()->set_token(token);
  return request;
}

v1::WatchEventsRequest OfSubscription(const std::string& container, const std::string& name) {
  v1::WatchEventsRequest request;
  request.mutable_subscription()->set_container(container);
  request.mutable_subscription()->set_name(name);
  return request;
}

// A sidecar, a store, and the calls that tests make of both. Items are of the partition "p".
class FeedProcessTest : public testing::Test {
 protected:
  void Start(std::vector<std::string> flags = {}, const std::string& name = "sidecar") {
    SidecarProcessOptions options;
    options.dir = dir_.path();
    options.name = name;
    options.store_address = store_.address();
    options.flags = std::move(flags);
    sidecar_ = std::make_unique<SidecarProcess>(options);
    ASSERT_NO_FATAL_FAILURE(StartAgain());
  }

  void StartAgain() {
    const absl::Status started = sidecar_->Start();
    ASSERT_TRUE(started.ok()) << started;
    calls_ = std::make_unique<SidecarCalls>(sidecar_->channel());
    containers_ = v1::ContainerService::NewStub(sidecar_->channel());
    items_ = v1::ItemService::NewStub(sidecar_->channel());
    feed_ = v1::FeedService::NewStub(sidecar_->channel());
    maintenance_ = v1::MaintenanceService::NewStub(sidecar_->channel());
  }

  template <typename Stub, typename Request, typename Response>
  absl::StatusOr<Response> Call(Stub& stub,
                                grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&,
                                                             Response*),
                                const std::decay_t<Request>& request) {
    grpc::ClientContext context;
    context.set_deadline(absl::ToChronoTime(absl::Now() + kPatience));
    Response response;
    const grpc::Status status = (stub.*method)(&context, request, &response);
    if (status.ok()) return response;
    return StatusWithReason(status);
  }

  void Create(const std::string& id, std::optional<int64_t> default_ttl,
              const v1::FeedSettings& feed = v1::FeedSettings()) {
    v1::CreateContainerRequest request;
    request.mutable_container()->set_id(id);
    if (default_ttl.has_value()) request.mutable_container()->set_default_ttl(*default_ttl);
    *request.mutable_container()->mutable_feed() = feed;
    const auto created = Call(*containers_, &v1::ContainerService::Stub::CreateContainer, request);
    ASSERT_TRUE(created.ok()) << created.status();
  }
  absl::Status Update(const v1::Container& container, const std::string& path) {
    v1::UpdateContainerRequest request;
    *request.mutable_container() = container;
    request.mutable_update_mask()->add_paths(path);
    return Call(*containers_, &v1::ContainerService::Stub::UpdateContainer, request).status();
  }
  absl::Status RemoveFeed(const std::string& id) {
    v1::Container container;
    container.set_id(id);
    return Update(container, "feed");
  }
  void Delete(const std::string& id) {
    v1::DeleteContainerRequest request;
    request.set_id(id);
    const auto deleted = Call(*containers_, &v1::ContainerService::Stub::DeleteContainer, request);
    ASSERT_TRUE(deleted.ok()) << deleted.status();
  }

  // Writes an item to the store and reports it.
  void Write(const std::string& container, const std::string& id, int64_t ts, int64_t ttl) {
    ItemVersion version;
    version.times = {ts, ttl};
    store_.Put(container, {"p", id}, version);
    v1::TrackItemsRequest request;
    request.set_container(container);
    v1::Item& item = *request.add_items();
    item.set_partition_key("p");
    item.set_id(id);
    item.set_ts(ts);
    item.set_ttl(ttl);
    const auto tracked = Call(*items_, &v1::ItemService::Stub::TrackItems, request);
    ASSERT_TRUE(tracked.ok()) << tracked.status();
  }
  void Untrack(const std::string& container, const std::string& id, int64_t ts) {
    store_.Erase(container, {"p", id});
    v1::UntrackItemsRequest request;
    request.set_container(container);
    v1::ItemDeletion& item = *request.add_items();
    item.set_partition_key("p");
    item.set_id(id);
    item.set_ts(ts);
    const auto untracked = Call(*items_, &v1::ItemService::Stub::UntrackItems, request);
    ASSERT_TRUE(untracked.ok()) << untracked.status();
  }

  absl::StatusOr<v1::Subscription> Subscribe(const std::string& container, const std::string& name,
                                             std::vector<v1::EventKind> kinds = {}) {
    v1::CreateSubscriptionRequest request;
    request.mutable_subscription()->set_container(container);
    request.mutable_subscription()->set_name(name);
    for (const v1::EventKind kind : kinds) request.mutable_subscription()->add_kinds(kind);
    const auto created = Call(*feed_, &v1::FeedService::Stub::CreateSubscription, request);
    if (!created.ok()) return created.status();
    return created->subscription();
  }
  absl::StatusOr<v1::Subscription> GetSubscription(const std::string& container,
                                                   const std::string& name) {
    v1::GetSubscriptionRequest request;
    request.set_container(container);
    request.set_name(name);
    const auto found = Call(*feed_, &v1::FeedService::Stub::GetSubscription, request);
    if (!found.ok()) return found.status();
    return found->subscription();
  }
  absl::StatusOr<uint64_t> Acknowledge(const std::string& container, const std::string& name,
                                       uint64_t epoch, uint64_t sequence) {
    v1::AcknowledgeRequest request;
    request.set_container(container);
    request.set_name(name);
    request.set_epoch(epoch);
    request.set_sequence(sequence);
    const auto done = Call(*feed_, &v1::FeedService::Stub::Acknowledge, request);
    if (!done.ok()) return done.status();
    return done->acknowledged_sequence();
  }

  // Writes a backup of the sidecar to `path`.
  void BackUp(const std::string& path) {
    grpc::ClientContext context;
    const auto stream = maintenance_->BackUpData(&context, v1::BackUpDataRequest());
    std::ofstream file(path, std::ios::binary);
    v1::BackUpDataResponse part;
    while (stream->Read(&part)) file << part.data();
    ASSERT_TRUE(stream->Finish().ok());
  }
  // Makes the data of a sidecar `name` from a backup.
  void Restore(const std::string& path, const std::string& name) {
    SidecarProcessOptions options;
    options.dir = dir_.path();
    options.name = name;
    options.flags = {"--restore", path};
    SidecarProcess restore(options);
    ASSERT_TRUE(restore.Launch().ok());
    ASSERT_EQ(restore.process()->Wait(kPatience)->code, 0) << restore.Log();
  }

  std::unique_ptr<Watcher> Watch(const v1::WatchEventsRequest& request) {
    return std::make_unique<Watcher>(sidecar_->channel(), request);
  }
  // A stream that begins now: its first heartbeat has come.
  std::unique_ptr<Watcher> WatchFromNow(const std::vector<std::string>& ids) {
    auto watcher = Watch(OfContainers(ids));
    EXPECT_TRUE(watcher->Next().has_value());
    return watcher;
  }

  const TempDir dir_;
  FakePrimaryStore store_{[] { return absl::Now(); }};
  std::unique_ptr<SidecarProcess> sidecar_;
  std::unique_ptr<SidecarCalls> calls_;
  std::unique_ptr<v1::ContainerService::Stub> containers_;
  std::unique_ptr<v1::ItemService::Stub> items_;
  std::unique_ptr<v1::FeedService::Stub> feed_;
  std::unique_ptr<v1::MaintenanceService::Stub> maintenance_;
};

TEST_F(FeedProcessTest, AnItemIsAnnouncedWithinTheSecondOfItsExpiryAndAgainWhenItIsDeleted) {
  ASSERT_NO_FATAL_FAILURE(Start());
  ASSERT_NO_FATAL_FAILURE(Create("c", -1));
  const auto watcher = WatchFromNow({"c"});
  const int64_t ts = Now();
  ASSERT_NO_FATAL_FAILURE(Write("c", "a", ts, 2));
  const std::vector<v1::Event> events = watcher->Events(2);
  ASSERT_EQ(events.size(), 2);
  const v1::Event& expired = events[0];
  EXPECT_EQ(Text(expired), "EXPIRED a");
  EXPECT_EQ(expired.container(), "c");
  EXPECT_EQ(expired.partition_key(), "p");
  EXPECT_EQ(expired.ts(), ts);
  EXPECT_EQ(expired.expire_time(), ts + 2);
  EXPECT_EQ(expired.ttl_source(), v1::TTL_SOURCE_ITEM);
  EXPECT_FALSE(expired.late());
  EXPECT_EQ(expired.event_time().seconds(), ts + 2);  // within the second
  const v1::Event& purged = events[1];
  EXPECT_EQ(Text(purged), "PURGED a");
  EXPECT_EQ(purged.expired_sequence(), expired.sequence());
  EXPECT_GT(purged.sequence(), expired.sequence());
  EXPECT_FALSE(store_.Find("c", {"p", "a"}).has_value());
}

TEST_F(FeedProcessTest, AnExpiryEndsAsTheItemDoes) {
  ASSERT_NO_FATAL_FAILURE(Start());
  ASSERT_NO_FATAL_FAILURE(Create("c", 1));
  ASSERT_TRUE(calls_->Pause("c", "a test").ok());
  const auto watcher = WatchFromNow({"c"});
  const int64_t ts = Now() - 10;
  for (const char* id : {"rewritten", "untracked"}) {
    ASSERT_NO_FATAL_FAILURE(Write("c", id, ts, 5));
  }
  ASSERT_EQ(watcher->Events(2).size(), 2);
  ASSERT_NO_FATAL_FAILURE(Write("c", "rewritten", ts + 1, 1000));
  ASSERT_NO_FATAL_FAILURE(Untrack("c", "untracked", ts));
  EXPECT_THAT(watcher->Texts(4), ElementsAre("EXPIRED rewritten", "EXPIRED untracked",
                                             "REPLACED rewritten", "GONE untracked"));
  const auto& events = watcher->Events(4);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_TRUE(events[i].late());
    EXPECT_EQ(events[i + 2].expired_sequence(), events[i].sequence());
    EXPECT_EQ(events[i + 2].ts(), ts);
  }
  EXPECT_EQ(events[2].new_ts(), ts + 1);
}

TEST_F(FeedProcessTest, AChangeOfPolicyIsOneEventAndRevivesWhatItShowsAgain) {
  ASSERT_NO_FATAL_FAILURE(Start());
  ASSERT_NO_FATAL_FAILURE(Create("c", 5));
  ASSERT_TRUE(calls_->Pause("c", "a test").ok());
  const auto watcher = WatchFromNow({"c"});
  const int64_t ts = Now() - 10;
  ASSERT_TRUE(calls_->Track("c", "a", ts).ok());
  ASSERT_EQ(watcher->Events(1).size(), 1);
  ASSERT_TRUE(calls_->SetDefaultTtl("c", 1000).ok());
  ASSERT_EQ(watcher->Events(3).size(), 3);
  ASSERT_TRUE(calls_->SetDefaultTtl("c", 3).ok());
  EXPECT_THAT(watcher->Texts(5), ElementsAre("EXPIRED a", "POLICY_CHANGED", "REVIVED a",
                                             "POLICY_CHANGED", "EXPIRED a"));
  const auto& events = watcher->Events(5);
  EXPECT_EQ(events[1].old_default_ttl(), 5);
  EXPECT_EQ(events[1].default_ttl(), 1000);
  EXPECT_EQ(events[2].expired_sequence(), events[0].sequence());
  EXPECT_EQ(events[2].expire_time(), ts + 1000);
  EXPECT_TRUE(events[4].late());
}

TEST_F(FeedProcessTest, AnItemIsAnnouncedBeforeItsEnd) {
  ASSERT_NO_FATAL_FAILURE(Start());
  v1::FeedSettings feed;
  feed.mutable_notice()->set_seconds(100);
  ASSERT_NO_FATAL_FAILURE(Create("c", -1, feed));
  const auto watcher = WatchFromNow({"c"});
  const int64_t ts = Now();
  ASSERT_NO_FATAL_FAILURE(Write("c", "a", ts, 60));
  ASSERT_NO_FATAL_FAILURE(Write("c", "later", ts, 1000));
  EXPECT_THAT(watcher->Texts(1), ElementsAre("EXPIRING a"));
  EXPECT_EQ(watcher->Events(1)[0].expire_time(), ts + 60);
}

// Each item is announced once to be expired and once to be deleted, in the order of the log.
void ExpectEachOnce(const std::vector<v1::Event>& events, size_t count) {
  std::map<std::string, uint64_t> expired;
  std::set<std::string> purged;
  uint64_t last = 0;
  for (const v1::Event& event : events) {
    EXPECT_GT(event.sequence(), last);
    last = event.sequence();
    if (event.kind() == v1::EVENT_KIND_EXPIRED) {
      EXPECT_TRUE(expired.emplace(event.id(), event.sequence()).second) << event.id();
    } else {
      EXPECT_EQ(event.kind(), v1::EVENT_KIND_PURGED) << Text(event);
      EXPECT_TRUE(purged.insert(event.id()).second) << event.id();
      EXPECT_EQ(event.expired_sequence(), expired[event.id()]) << event.id();
    }
  }
  EXPECT_EQ(expired.size(), count);
  EXPECT_EQ(purged.size(), count);
}

TEST_F(FeedProcessTest, AReaderResumesByItsTokenOverKillsAndMissesNothing) {
  constexpr int kRounds = 4;
  constexpr int kItems = 200;
  ASSERT_NO_FATAL_FAILURE(Start());
  ASSERT_NO_FATAL_FAILURE(Create("c", -1));
  std::string token = WatchFromNow({"c"})->last().token();
  std::vector<v1::Event> events;
  for (int round = 0; round < kRounds; ++round) {
    auto watcher = Watch(OfContainers({"c"}, token));
    const int64_t ts = Now();
    for (int i = 0; i < kItems; ++i) {
      ASSERT_NO_FATAL_FAILURE(Write("c", absl::StrCat(round, "-", i), ts, 1 + i % 2));
    }
    // Somewhere between the first event and the last delete.
    ASSERT_TRUE(watcher->ReadUntil([&](const v1::WatchEventsResponse& response) {
      events.insert(events.end(), response.events().begin(), response.events().end());
      token = response.token();
      return !events.empty() && response.events_size() > 0;
    }));
    sidecar_->Kill();
    ASSERT_NO_FATAL_FAILURE(StartAgain());
  }
  auto watcher = Watch(OfContainers({"c"}, token));
  const size_t all = 2 * kRounds * kItems;
  while (events.size() < all) {
    const auto response = watcher->Next();
    ASSERT_TRUE(response.has_value()) << events.size() << " of " << all;
    events.insert(events.end(), response->events().begin(), response->events().end());
  }
  // An answer of the store that a kill has lost makes the second delete GONE.
  for (v1::Event& event : events) {
    if (event.kind() == v1::EVENT_KIND_GONE) event.set_kind(v1::EVENT_KIND_PURGED);
  }
  ExpectEachOnce(events, kRounds * kItems);
}

TEST_F(FeedProcessTest, ASubscriptionGoesOnBehindItsAcknowledgementAfterAKill) {
  ASSERT_NO_FATAL_FAILURE(Start());
  ASSERT_NO_FATAL_FAILURE(Create("c", -1));
  ASSERT_TRUE(Subscribe("c", "s").ok());
  ASSERT_TRUE(calls_->Pause("c", "a test").ok());
  for (const char* id : {"a", "b", "d"}) {
    ASSERT_NO_FATAL_FAILURE(Write("c", id, Now() - 10, 5));
  }
  uint64_t acknowledged = 0;
  {
    const auto watcher = Watch(OfSubscription("c", "s"));
    ASSERT_THAT(watcher->Texts(3), ElementsAre("EXPIRED a", "EXPIRED b", "EXPIRED d"));
    acknowledged = watcher->Events(3)[1].sequence();
    const auto done = Acknowledge("c", "s", watcher->last().epoch(), acknowledged);
    ASSERT_TRUE(done.ok()) << done.status();
    EXPECT_EQ(*done, acknowledged);
    // Going back has no effect.
    EXPECT_EQ(Acknowledge("c", "s", watcher->last().epoch(), 1).value(), acknowledged);
  }
  sidecar_->Kill();
  ASSERT_NO_FATAL_FAILURE(StartAgain());
  const auto subscription = GetSubscription("c", "s");
  ASSERT_TRUE(subscription.ok()) << subscription.status();
  EXPECT_EQ(subscription->acknowledged_sequence(), acknowledged);
  // Nothing was sent since the start.
  EXPECT_EQ(ReasonIn(Acknowledge("c", "s", subscription->epoch(), acknowledged + 1).status()),
            "SEQUENCE_NOT_SENT");
  const auto watcher = Watch(OfSubscription("c", "s"));
  EXPECT_THAT(watcher->Texts(1), ElementsAre("EXPIRED d"));
  EXPECT_TRUE(
      Acknowledge("c", "s", watcher->last().epoch(), watcher->Events(1)[0].sequence()).ok());
  EXPECT_TRUE(
      WaitUntil([&] { return !GetSubscription("c", "s")->has_oldest_unacknowledged_time(); }));
}

TEST_F(FeedProcessTest, ATokenOfAnotherLogIsRefused) {
  ASSERT_NO_FATAL_FAILURE(Start());
  ASSERT_NO_FATAL_FAILURE(Create("c", -1));
  const std::string token = WatchFromNow({"c"})->last().token();
  EXPECT_TRUE(Watch(OfContainers({"c"}, token))->Next().has_value());
  const auto reason = [&] {
    return ReasonIn(StatusWithReason(Watch(OfContainers({"c"}, token))->End()));
  };
  ASSERT_TRUE(RemoveFeed("c").ok());
  EXPECT_EQ(reason(), "FEED_OFF");
  v1::Container on;
  on.set_id("c");
  on.mutable_feed();
  ASSERT_TRUE(Update(on, "feed").ok());
  EXPECT_EQ(reason(), "LOG_REPLACED");
  ASSERT_NO_FATAL_FAILURE(Delete("c"));
  EXPECT_EQ(reason(), "CONTAINER_NOT_FOUND");
  ASSERT_NO_FATAL_FAILURE(Create("c", -1));
  EXPECT_EQ(reason(), "LOG_REPLACED");
}

TEST_F(FeedProcessTest, AStreamEndsWhenItsLogDoes) {
  ASSERT_NO_FATAL_FAILURE(Start());
  ASSERT_NO_FATAL_FAILURE(Create("off", -1));
  ASSERT_NO_FATAL_FAILURE(Create("deleted", -1));
  ASSERT_NO_FATAL_FAILURE(Create("unsubscribed", -1));
  ASSERT_TRUE(Subscribe("unsubscribed", "s").ok());
  const auto off = WatchFromNow({"off"});
  const auto deleted = WatchFromNow({"deleted"});
  const auto unsubscribed = Watch(OfSubscription("unsubscribed", "s"));
  ASSERT_TRUE(unsubscribed->Next().has_value());
  // A feed with subscriptions stays.
  EXPECT_EQ(ReasonIn(RemoveFeed("unsubscribed")), "SUBSCRIPTIONS_EXIST");
  ASSERT_TRUE(RemoveFeed("off").ok());
  ASSERT_NO_FATAL_FAILURE(Delete("deleted"));
  v1::DeleteSubscriptionRequest request;
  request.set_container("unsubscribed");
  request.set_name("s");
  ASSERT_TRUE(Call(*feed_, &v1::FeedService::Stub::DeleteSubscription, request).ok());
  EXPECT_EQ(ReasonIn(StatusWithReason(off->End())), "FEED_OFF");
  // Whichever of the two it finds gone first.
  EXPECT_THAT(ReasonIn(StatusWithReason(deleted->End())), AnyOf("CONTAINER_NOT_FOUND", "FEED_OFF"));
  EXPECT_EQ(ReasonIn(StatusWithReason(unsubscribed->End())), "SUBSCRIPTION_NOT_FOUND");
  EXPECT_TRUE(RemoveFeed("unsubscribed").ok());
}

TEST_F(FeedProcessTest, ASlowReaderDelaysNobodyAndIsToldIfItsEventsAreDropped) {
  ASSERT_NO_FATAL_FAILURE(Start());
  v1::FeedSettings feed;
  feed.set_max_bytes(1 << 20);
  ASSERT_NO_FATAL_FAILURE(Create("c", -1, feed));
  ASSERT_TRUE(Subscribe("c", "lost").ok());
  ASSERT_TRUE(calls_->Pause("c", "a test").ok());
  Watcher slow(NewSmallChannel(sidecar_->address()), OfContainers({"c"}));
  ASSERT_TRUE(slow.Next().has_value());
  const auto fast = WatchFromNow({"c"});
  // Keys of 2 KiB: 8 MiB of events, of which the log keeps one.
  constexpr int kItems = 4000;
  v1::TrackItemsRequest request;
  request.set_container("c");
  for (int i = 0; i < kItems; ++i) {
    v1::Item& item = *request.add_items();
    item.set_partition_key(std::string(2000, 'p'));
    item.set_id(absl::StrCat(i));
    item.set_ts(Now() - 10);
    item.set_ttl(5);
    if (request.items_size() < 200) continue;
    ASSERT_TRUE(Call(*items_, &v1::ItemService::Stub::TrackItems, request).ok());
    request.clear_items();
    // Its own pace: nothing is dropped before it was read.
    ASSERT_EQ(fast->Events(i + 1).size(), i + 1);
  }
  const auto is_lost = [&] {
    const auto subscription = GetSubscription("c", "lost");
    return subscription.ok() && subscription->has_lost_events();
  };
  ASSERT_TRUE(WaitUntil(is_lost, kPatience));
  EXPECT_EQ(ReasonIn(StatusWithReason(slow.End())), "EVENTS_DROPPED");
  EXPECT_EQ(ReasonIn(StatusWithReason(Watch(OfSubscription("c", "lost"))->End())),
            "EVENTS_DROPPED");
  // It goes on once its consumer has compared with the store.
  const auto lost = GetSubscription("c", "lost");
  ASSERT_TRUE(lost.ok());
  const auto done = Acknowledge("c", "lost", lost->epoch(), lost->last_sequence());
  ASSERT_TRUE(done.ok()) << done.status();
  EXPECT_FALSE(is_lost());
  const auto again = Watch(OfSubscription("c", "lost"));
  ASSERT_NO_FATAL_FAILURE(Write("c", "after", Now() - 10, 5));
  EXPECT_THAT(again->Texts(1), ElementsAre("EXPIRED after"));
}

TEST_F(FeedProcessTest, ThereAreAtMostAHundredStreamsAndSubscriptions) {
  ASSERT_NO_FATAL_FAILURE(Start());
  ASSERT_NO_FATAL_FAILURE(Create("c", -1));
  std::vector<std::unique_ptr<Watcher>> watchers;
  for (int i = 0; i < 100; ++i) {
    watchers.push_back(Watch(OfContainers({"c"})));
    ASSERT_TRUE(Subscribe("c", absl::StrCat("s", i)).ok()) << i;
  }
  for (const auto& watcher : watchers) ASSERT_TRUE(watcher->Next().has_value());
  EXPECT_EQ(ReasonIn(StatusWithReason(Watch(OfContainers({"c"}))->End())), "TOO_MANY_STREAMS");
  EXPECT_EQ(ReasonIn(Subscribe("c", "one more").status()), "TOO_MANY_SUBSCRIPTIONS");
  EXPECT_EQ(ReasonIn(Subscribe("c", "s0").status()), "SUBSCRIPTION_EXISTS");
  watchers.pop_back();
  EXPECT_TRUE(WaitUntil([&] { return Watch(OfContainers({"c"}))->Next().has_value(); }));
}

// Whether the watermark of a response is that of its second.
bool IsUpToDate(const v1::WatchEventsResponse& response) {
  return response.has_watermark() && response.lagging_containers().empty() &&
         response.stall_reason().empty() &&
         response.watermark().seconds() >= response.server_time().seconds() - 1;
}

TEST_F(FeedProcessTest, TheWatermarkFollowsTheClock) {
  ASSERT_NO_FATAL_FAILURE(Start());
  ASSERT_NO_FATAL_FAILURE(Create("c", -1));
  const auto watcher = Watch(OfContainers({"c"}));
  ASSERT_TRUE(watcher->ReadUntil(IsUpToDate));
  const int64_t then = watcher->last().watermark().seconds();
  EXPECT_TRUE(watcher->ReadUntil([&](const v1::WatchEventsResponse& response) {
    return IsUpToDate(response) && response.watermark().seconds() > then;
  }));
  EXPECT_THAT(watcher->Events(0), IsEmpty());
}

TEST_F(FeedProcessTest, AfterARestoreNothingIsAnnouncedUntilTheDataAreTrusted) {
  ASSERT_NO_FATAL_FAILURE(Start());
  ASSERT_NO_FATAL_FAILURE(Create("c", -1));
  const std::string token = WatchFromNow({"c"})->last().token();
  ASSERT_TRUE(calls_->Pause("c", "a test").ok());
  const int64_t ts = Now();
  ASSERT_NO_FATAL_FAILURE(Write("c", "a", ts, 3));
  ASSERT_NO_FATAL_FAILURE(BackUp(dir_.File("backup")));
  ASSERT_TRUE(sidecar_->Stop().ok());
  ASSERT_NO_FATAL_FAILURE(Restore(dir_.File("backup"), "restored"));
  ASSERT_NO_FATAL_FAILURE(Start({}, "restored"));
  EXPECT_EQ(ReasonIn(StatusWithReason(Watch(OfContainers({"c"}, token))->End())), "LOG_REPLACED");
  const auto watcher = Watch(OfContainers({"c"}));
  ASSERT_TRUE(watcher->ReadUntil([&](const v1::WatchEventsResponse& response) {
    return response.server_time().seconds() > ts + 4;
  }));
  EXPECT_THAT(watcher->Events(0), IsEmpty());
  EXPECT_FALSE(watcher->last().stall_reason().empty());
  EXPECT_THAT(watcher->last().lagging_containers(), ElementsAre("c"));
  ASSERT_TRUE(
      Call(*maintenance_, &v1::MaintenanceService::Stub::TrustData, v1::TrustDataRequest()).ok());
  EXPECT_THAT(watcher->Texts(2), UnorderedElementsAre("RESYNC", "EXPIRED a"));
  EXPECT_TRUE(watcher->ReadUntil(IsUpToDate));
}

TEST_F(FeedProcessTest, AnEntryThatWouldRemoveTheFeedOfASubscriptionDoesNotKeepItFromStarting) {
  const std::string file = dir_.File("containers.yaml");
  const auto write = [&](const char* settings) {
    std::ofstream(file) << "containers:\n  - id: c\n    default_ttl: 60\n" << settings;
  };
  write("    feed: {max_age_seconds: 120, notice_seconds: 5}\n");
  ASSERT_NO_FATAL_FAILURE(Start({absl::StrCat("--containers=", file)}));
  const v1::FeedSettings feed = calls_->GetContainer("c")->feed();
  EXPECT_EQ(feed.max_age().seconds(), 120);
  EXPECT_EQ(feed.max_bytes(), int64_t{1} << 30);
  EXPECT_EQ(feed.notice().seconds(), 5);
  ASSERT_TRUE(Subscribe("c", "s").ok());
  write("");
  ASSERT_TRUE(sidecar_->Stop().ok());
  ASSERT_NO_FATAL_FAILURE(StartAgain());
  EXPECT_TRUE(WaitUntil([&] {
    return absl::StrContains(sidecar_->Log(), "entry of the containers file is not applied");
  }));
  EXPECT_TRUE(calls_->GetContainer("c")->has_feed());
}

TEST_F(FeedProcessTest, ASubscriptionOfFewKindsIsNotBehindBecauseOfOthers) {
  ASSERT_NO_FATAL_FAILURE(Start());
  ASSERT_NO_FATAL_FAILURE(Create("c", -1));
  ASSERT_TRUE(Subscribe("c", "s", {v1::EVENT_KIND_PURGED}).ok());
  ASSERT_TRUE(calls_->Pause("c", "a test").ok());
  const auto watcher = Watch(OfSubscription("c", "s"));
  ASSERT_NO_FATAL_FAILURE(Write("c", "a", Now(), 1));
  std::thread reader([&] { watcher->Events(1); });
  EXPECT_TRUE(WaitUntil(
      [&] {
        const auto subscription = GetSubscription("c", "s");
        return subscription->last_sequence() > 0 &&
               subscription->acknowledged_sequence() >= subscription->last_sequence();
      },
      kPatience));
  ASSERT_TRUE(calls_->Resume("c").ok());
  reader.join();
  EXPECT_THAT(watcher->Texts(1), ElementsAre("PURGED a"));
  // What it does read waits for its consumer.
  EXPECT_TRUE(GetSubscription("c", "s")->has_oldest_unacknowledged_time());
}

}  // namespace
}  // namespace ttl
