// Gates of a real sidecar against a store on a real socket: what a gate has not acknowledged is not
// deleted, whatever happens in between, and what it has acknowledged or was given up for is.

#include <gmock/gmock.h>
#include <grpcpp/client_context.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "service/base/mutex.h"
#include "tests/integration/sidecar_calls.h"
#include "tests/testing/fake_primary_store.h"
#include "tests/testing/sidecar_process.h"
#include "tests/testing/temp_dir.h"
#include "tests/testing/wait.h"
#include "ttl/v1/container_service.grpc.pb.h"
#include "ttl/v1/expiry_service.grpc.pb.h"
#include "ttl/v1/feed_service.grpc.pb.h"
#include "ttl/v1/item_service.grpc.pb.h"

namespace ttl {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

constexpr absl::Duration kPatience = absl::Seconds(60);

// A stream of a subscription, as its consumer sees it. Cancelled when destroyed.
class Consumer {
 public:
  Consumer(const std::shared_ptr<grpc::Channel>& channel, const std::string& container,
           const std::string& name)
      : stub_(v1::FeedService::NewStub(channel)) {
    v1::WatchEventsRequest request;
    request.mutable_subscription()->set_container(container);
    request.mutable_subscription()->set_name(name);
    request.mutable_heartbeat_interval()->set_nanos(100'000'000);
    context_.set_deadline(absl::ToChronoTime(absl::Now() + kPatience));
    context_.set_wait_for_ready(true);
    reader_ = stub_->WatchEvents(&context_, request);
  }
  ~Consumer() {
    context_.TryCancel();
    v1::WatchEventsResponse response;
    while (reader_->Read(&response)) continue;
    reader_->Finish();
  }

  // The next response; absent at the end of the stream.
  std::optional<v1::WatchEventsResponse> Next() {
    v1::WatchEventsResponse response;
    if (!reader_->Read(&response)) return std::nullopt;
    return response;
  }

  // The next event of this kind; one of no kind if the stream ends before.
  v1::Event NextOf(v1::EventKind kind) {
    while (true) {
      for (; next_ < response_.events_size(); ++next_) {
        if (response_.events(next_).kind() == kind) return response_.events(next_++);
      }
      std::optional<v1::WatchEventsResponse> response = Next();
      if (!response.has_value()) return v1::Event();
      response_ = *std::move(response);
      next_ = 0;
    }
  }
  // Of the last response.
  uint64_t epoch() const { return response_.epoch(); }

 private:
  const std::unique_ptr<v1::FeedService::Stub> stub_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReader<v1::WatchEventsResponse>> reader_;
  v1::WatchEventsResponse response_;
  int next_ = 0;
};

// A sidecar, a store, and the calls that tests make of both. Items are of the partition "p".
class GatesProcessTest : public testing::Test {
 protected:
  void Start(std::vector<std::string> flags = {}) {
    SidecarProcessOptions options;
    options.dir = dir_.path();
    options.name = "sidecar";
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
    expiry_ = v1::ExpiryService::NewStub(sidecar_->channel());
  }
  void KillAndStartAgain() {
    sidecar_->Kill();
    ASSERT_NO_FATAL_FAILURE(StartAgain());
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
    return absl::Status(static_cast<absl::StatusCode>(status.error_code()), status.error_message());
  }

  void CreateWithFeed(const std::string& id) {
    v1::CreateContainerRequest request;
    request.mutable_container()->set_id(id);
    request.mutable_container()->set_default_ttl(-1);
    request.mutable_container()->mutable_feed();
    const auto created = Call(*containers_, &v1::ContainerService::Stub::CreateContainer, request);
    ASSERT_TRUE(created.ok()) << created.status();
  }
  absl::StatusOr<v1::Subscription> CreateGate(const std::string& container, const std::string& name,
                                              int64_t give_up_after_seconds = 0) {
    v1::CreateSubscriptionRequest request;
    v1::Subscription& gate = *request.mutable_subscription();
    gate.set_container(container);
    gate.set_name(name);
    gate.set_gate(true);
    if (give_up_after_seconds > 0) gate.mutable_give_up_after()->set_seconds(give_up_after_seconds);
    const auto created = Call(*feed_, &v1::FeedService::Stub::CreateSubscription, request);
    if (!created.ok()) return created.status();
    return created->subscription();
  }
  absl::Status DeleteGate(const std::string& container, const std::string& name) {
    v1::DeleteSubscriptionRequest request;
    request.set_container(container);
    request.set_name(name);
    return Call(*feed_, &v1::FeedService::Stub::DeleteSubscription, request).status();
  }
  bool HasSubscription(const std::string& container, const std::string& name) {
    v1::GetSubscriptionRequest request;
    request.set_container(container);
    request.set_name(name);
    return Call(*feed_, &v1::FeedService::Stub::GetSubscription, request).ok();
  }
  absl::Status Acknowledge(const std::string& container, const std::string& name, uint64_t epoch,
                           uint64_t sequence) {
    v1::AcknowledgeRequest request;
    request.set_container(container);
    request.set_name(name);
    request.set_epoch(epoch);
    request.set_sequence(sequence);
    return Call(*feed_, &v1::FeedService::Stub::Acknowledge, request).status();
  }
  std::unique_ptr<Consumer> Consume(const std::string& container, const std::string& name) {
    return std::make_unique<Consumer>(sidecar_->channel(), container, name);
  }

  // Writes items that are due to the store and reports them.
  void WriteDue(const std::string& container, const std::vector<std::string>& ids) {
    ItemVersion version;
    version.times = {absl::ToUnixSeconds(absl::Now()) - 100, 10};
    v1::TrackItemsRequest request;
    request.set_container(container);
    for (const std::string& id : ids) {
      store_.Put(container, {"p", id}, version);
      v1::Item& item = *request.add_items();
      item.set_partition_key("p");
      item.set_id(id);
      item.set_ts(version.times.ts);
      item.set_ttl(10);
    }
    const auto tracked = Call(*items_, &v1::ItemService::Stub::TrackItems, request);
    ASSERT_TRUE(tracked.ok()) << tracked.status();
  }
  v1::ExplainItemResponse Explain(const std::string& container, const std::string& id) {
    v1::ExplainItemRequest request;
    request.set_container(container);
    request.set_partition_key("p");
    request.set_id(id);
    return Call(*expiry_, &v1::ExpiryService::Stub::ExplainItem, request)
        .value_or(v1::ExplainItemResponse());
  }

  bool Has(const std::string& container, const std::string& id) const {
    return store_.Find(container, {"p", id}).has_value();
  }
  // Whether the store comes to have no such item.
  bool Goes(const std::string& container, const std::string& id) {
    return WaitUntil([&] { return !Has(container, id); }, kPatience);
  }
  v1::ContainerExpiryStatus Status(const std::string& container) {
    return calls_->GetStatus(container).value_or(v1::GetExpiryStatusResponse()).container();
  }
  // Whether the sweep comes to have set aside so many items.
  bool ComeToWait(const std::string& container, int64_t items) {
    return WaitUntil([&] { return Status(container).feed().gated_items() == items; }, kPatience);
  }

  const TempDir dir_;
  FakePrimaryStore store_{[] { return absl::Now(); }};
  std::unique_ptr<SidecarProcess> sidecar_;
  std::unique_ptr<SidecarCalls> calls_;
  std::unique_ptr<v1::ContainerService::Stub> containers_;
  std::unique_ptr<v1::ItemService::Stub> items_;
  std::unique_ptr<v1::FeedService::Stub> feed_;
  std::unique_ptr<v1::ExpiryService::Stub> expiry_;
};

TEST_F(GatesProcessTest, ItemsAreDeletedOnceTheirExpiryIsAcknowledged) {
  ASSERT_NO_FATAL_FAILURE(Start());
  ASSERT_NO_FATAL_FAILURE(CreateWithFeed("c"));
  ASSERT_NO_FATAL_FAILURE(CreateWithFeed("free"));
  ASSERT_TRUE(CreateGate("c", "archive").ok());
  ASSERT_NO_FATAL_FAILURE(WriteDue("c", {"a"}));
  ASSERT_NO_FATAL_FAILURE(WriteDue("c", {"b"}));
  ASSERT_NO_FATAL_FAILURE(WriteDue("free", {"a"}));
  EXPECT_TRUE(Goes("free", "a"));
  ASSERT_TRUE(ComeToWait("c", 2));
  const v1::ContainerExpiryStatus waiting = Status("c");
  EXPECT_THAT(waiting.holds(), Contains(v1::DELETE_HOLD_GATE));
  EXPECT_THAT(waiting.feed().waiting_for(), ElementsAre("archive"));
  EXPECT_EQ(waiting.backlog(), 0);
  EXPECT_EQ(store_.Count("c"), 2);

  const auto consumer = Consume("c", "archive");
  const v1::Event first = consumer->NextOf(v1::EVENT_KIND_EXPIRED);
  const v1::Event second = consumer->NextOf(v1::EVENT_KIND_EXPIRED);
  EXPECT_THAT((std::vector<std::string>{first.id(), second.id()}), UnorderedElementsAre("a", "b"));
  ASSERT_TRUE(Acknowledge("c", "archive", consumer->epoch(), first.sequence()).ok());
  EXPECT_TRUE(Goes("c", first.id()));
  EXPECT_TRUE(Has("c", second.id()));
  const v1::ExplainItemResponse explained = Explain("c", second.id());
  EXPECT_THAT(explained.waiting_for(), ElementsAre("archive"));
  EXPECT_THAT(explained.explanation(),
              HasSubstr(absl::StrCat("it waits for subscription \"archive\" to acknowledge event ",
                                     second.sequence())));
  ASSERT_TRUE(Acknowledge("c", "archive", consumer->epoch(), second.sequence()).ok());
  EXPECT_TRUE(Goes("c", second.id()));
  const v1::Event purged = consumer->NextOf(v1::EVENT_KIND_PURGED);
  EXPECT_EQ(purged.expired_sequence(), first.sequence());
  EXPECT_THAT(purged.given_up_subscriptions(), IsEmpty());
  EXPECT_TRUE(WaitUntil([&] { return Status("c").feed().gated_items() == 0; }, kPatience));
  EXPECT_THAT(Status("c").holds(), Not(Contains(v1::DELETE_HOLD_GATE)));
}

TEST_F(GatesProcessTest, AGateStandsOverKillsAndSoDoesWhatItHasAcknowledged) {
  ASSERT_NO_FATAL_FAILURE(Start());
  ASSERT_NO_FATAL_FAILURE(CreateWithFeed("c"));
  ASSERT_NO_FATAL_FAILURE(CreateWithFeed("free"));
  ASSERT_TRUE(CreateGate("c", "archive").ok());
  ASSERT_NO_FATAL_FAILURE(WriteDue("c", {"a"}));
  ASSERT_TRUE(ComeToWait("c", 1));
  ASSERT_NO_FATAL_FAILURE(KillAndStartAgain());
  ASSERT_NO_FATAL_FAILURE(WriteDue("c", {"b"}));
  ASSERT_NO_FATAL_FAILURE(WriteDue("free", {"a"}));
  EXPECT_TRUE(Goes("free", "a"));
  ASSERT_TRUE(ComeToWait("c", 2));
  EXPECT_EQ(store_.Count("c"), 2);
  {
    const auto consumer = Consume("c", "archive");
    const v1::Event first = consumer->NextOf(v1::EVENT_KIND_EXPIRED);
    EXPECT_EQ(first.id(), "a");
    store_.Hang("c");
    ASSERT_TRUE(Acknowledge("c", "archive", consumer->epoch(), first.sequence()).ok());
    sidecar_->Kill();
  }
  store_.Release();
  ASSERT_NO_FATAL_FAILURE(StartAgain());
  EXPECT_TRUE(Goes("c", "a"));
  EXPECT_TRUE(Has("c", "b"));
}

TEST_F(GatesProcessTest, AGateThatIsGivenUpIsNamedInThePurge) {
  ASSERT_NO_FATAL_FAILURE(Start());
  ASSERT_NO_FATAL_FAILURE(CreateWithFeed("c"));
  ASSERT_TRUE(CreateGate("c", "brief", /*give_up_after_seconds=*/1).ok());
  ASSERT_NO_FATAL_FAILURE(WriteDue("c", {"a"}));
  EXPECT_TRUE(Goes("c", "a"));
  const auto consumer = Consume("c", "brief");
  const v1::Event expired = consumer->NextOf(v1::EVENT_KIND_EXPIRED);
  const v1::Event purged = consumer->NextOf(v1::EVENT_KIND_PURGED);
  EXPECT_EQ(purged.expired_sequence(), expired.sequence());
  EXPECT_THAT(purged.given_up_subscriptions(), ElementsAre("brief"));
  EXPECT_GE(purged.event_time().seconds(), expired.event_time().seconds() + 1);
}

TEST_F(GatesProcessTest, WithoutItsGatesAnItemIsDeleted) {
  ASSERT_NO_FATAL_FAILURE(Start());
  ASSERT_NO_FATAL_FAILURE(CreateWithFeed("c"));
  ASSERT_TRUE(CreateGate("c", "archive").ok());
  ASSERT_TRUE(CreateGate("c", "billing").ok());
  ASSERT_NO_FATAL_FAILURE(WriteDue("c", {"a"}));
  ASSERT_TRUE(ComeToWait("c", 1));
  EXPECT_THAT(Explain("c", "a").waiting_for(), ElementsAre("archive", "billing"));
  ASSERT_TRUE(DeleteGate("c", "archive").ok());
  EXPECT_TRUE(WaitUntil([&] {
    return absl::StrContains(Explain("c", "a").explanation(), "waits for subscription \"billing\"");
  }));
  EXPECT_TRUE(Has("c", "a"));
  ASSERT_TRUE(DeleteGate("c", "billing").ok());
  EXPECT_TRUE(Goes("c", "a"));
}

TEST_F(GatesProcessTest, AGateIsAnsweredWhenADeleteInFlightHasEnded) {
  std::atomic<bool> is_sent = false;
  absl::Notification may_go_on;
  store_.SetBeforeDelete([&](const auto&, auto&) {
    is_sent = true;
    may_go_on.WaitForNotificationWithTimeout(kPatience);
    return std::nullopt;
  });
  ASSERT_NO_FATAL_FAILURE(Start({"--delete-deadline-seconds=120", "--stop-deadline-seconds=130"}));
  ASSERT_NO_FATAL_FAILURE(CreateWithFeed("c"));
  ASSERT_NO_FATAL_FAILURE(WriteDue("c", {"a"}));
  const bool sent = WaitUntil([&] { return is_sent.load(); }, kPatience);
  std::atomic<bool> is_answered = false;
  absl::StatusOr<v1::Subscription> created;
  std::thread caller([&] {
    created = CreateGate("c", "archive");
    is_answered = true;
  });
  const bool is_durable = WaitUntil([&] { return HasSubscription("c", "archive"); }, kPatience);
  const bool was_early = is_answered;
  may_go_on.Notify();
  caller.join();
  EXPECT_TRUE(sent && is_durable);
  EXPECT_FALSE(was_early) << "the delete could still be carried out";
  ASSERT_TRUE(created.ok()) << created.status();
  EXPECT_FALSE(Has("c", "a"));
  ASSERT_NO_FATAL_FAILURE(WriteDue("c", {"b"}));
  ASSERT_TRUE(ComeToWait("c", 1));
  EXPECT_TRUE(Has("c", "b"));
}

// A consumer acknowledges what it reads, while the sidecar is killed again and again. It notes each
// key before it acknowledges, and the store looks at each delete that it is asked for.
class GatesKillTest : public GatesProcessTest {
 protected:
  static constexpr int kRounds = 5;
  static constexpr int kItemsPerRound = 100;

  GatesKillTest() {
    store_.SetBeforeDelete([this](const auto& request, auto&) {
      const MutexLock lock(mutex_);
      for (const v1::ExpiredItem& item : request.items()) {
        if (!noted_.contains(item.id())) violations_.push_back(item.id());
      }
      return std::nullopt;
    });
  }

  // Reads and acknowledges until `count` items are noted or the stream breaks.
  void ConsumeUntil(size_t count) {
    const auto consumer = Consume("c", "archive");
    while (true) {
      const std::optional<v1::WatchEventsResponse> response = consumer->Next();
      if (!response.has_value()) return;
      if (response->events().empty()) continue;
      if (Note(*response) >= count) return;
      // After an error the events come again.
      Acknowledge("c", "archive", response->epoch(), response->events().rbegin()->sequence())
          .IgnoreError();
    }
  }

  // Returns how many keys are noted.
  size_t Note(const v1::WatchEventsResponse& response) {
    const MutexLock lock(mutex_);
    for (const v1::Event& event : response.events()) {
      if (event.kind() == v1::EVENT_KIND_EXPIRED) noted_.insert(event.id());
    }
    return noted_.size();
  }
  std::vector<std::string> violations() {
    const MutexLock lock(mutex_);
    return violations_;
  }

 private:
  Mutex mutex_;
  std::set<std::string> noted_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::string> violations_ ABSL_GUARDED_BY(mutex_);
};

TEST_F(GatesKillTest, NothingIsDeletedThatIsNotNoted) {
  ASSERT_NO_FATAL_FAILURE(Start());
  ASSERT_NO_FATAL_FAILURE(CreateWithFeed("c"));
  ASSERT_TRUE(CreateGate("c", "archive").ok());
  std::mt19937 random(1);
  size_t written = 0;
  for (int round = 0; round < kRounds; ++round) {
    std::vector<std::string> ids;
    for (int i = 0; i < kItemsPerRound; ++i) ids.push_back(absl::StrCat(round, "-", i));
    ASSERT_NO_FATAL_FAILURE(WriteDue("c", ids));
    written += ids.size();
    ConsumeUntil(written - random() % kItemsPerRound);
    ASSERT_NO_FATAL_FAILURE(KillAndStartAgain());
  }
  EXPECT_THAT(violations(), IsEmpty());
  const auto consumer = Consume("c", "archive");
  while (store_.Count("c") > 0) {
    const std::optional<v1::WatchEventsResponse> response = consumer->Next();
    ASSERT_TRUE(response.has_value()) << Status("c").ShortDebugString();
    if (response->events().empty()) continue;
    Note(*response);
    ASSERT_TRUE(
        Acknowledge("c", "archive", response->epoch(), response->events().rbegin()->sequence())
            .ok());
  }
  EXPECT_THAT(violations(), IsEmpty());
}

}  // namespace
}  // namespace ttl
