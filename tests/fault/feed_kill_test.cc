// Kills the sidecar at random moments, again and again, while items expire, live again, are
// overwritten and deleted, and two consumers resume: one with its token, one with a subscription.
// Neither misses an event nor gets one again that it has dealt with, each EXPIRED is closed exactly
// once, and nothing is sent to the store before its EXPIRED is durable.
//
//   TTL_FEED_KILLS  number of kills, default 20
//   TTL_FEED_SEED   seed of moments and load, default 1

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "service/base/mutex.h"
#include "tests/bench/workload/random.h"
#include "tests/fault/feed_consumer.h"
#include "tests/fault/feed_log_rules.h"
#include "tests/testing/fake_primary_store.h"
#include "tests/testing/sidecar_process.h"
#include "tests/testing/temp_dir.h"
#include "tests/testing/wait.h"
#include "ttl/v1/container_service.grpc.pb.h"
#include "ttl/v1/expiry_service.grpc.pb.h"
#include "ttl/v1/item_service.grpc.pb.h"

namespace ttl {
namespace {

using ::testing::IsEmpty;
using workload::Random;

constexpr int64_t kKills = 20;
constexpr int64_t kSeed = 1;
// A kill comes at a random moment within this after the last recovery.
constexpr double kLongestLifeSeconds = 1.2;
constexpr absl::Duration kPatience = absl::Minutes(2);

// Items of the first have ttls of their own; those of the second inherit a default_ttl that
// changes, and are deleted some seconds later, so that many live again.
constexpr char kOwn[] = "own";
constexpr char kInheriting[] = "inheriting";
constexpr int64_t kShortTtl = 2;
constexpr int64_t kLongTtl = 600;
// So that items have expired, and are not deleted yet, when they live again.
constexpr absl::Duration kShortStands = absl::Seconds(3);
constexpr absl::Duration kLongStands = absl::Seconds(2);

int64_t FromEnvironment(const char* name, int64_t otherwise) {
  const char* text = std::getenv(name);
  int64_t value = 0;
  return text != nullptr && absl::SimpleAtoi(text, &value) ? value : otherwise;
}

int64_t Now() { return absl::ToUnixSeconds(absl::Now()); }

// One call; UNAVAILABLE at once if the sidecar does not run.
template <typename Stub, typename Request, typename Response>
grpc::Status Call(Stub& stub,
                  grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&, Response*),
                  const Request& request, Response& response) {
  grpc::ClientContext context;
  context.set_deadline(absl::ToChronoTime(absl::Now() + kPatience));
  // While a killed sidecar starts again, calls that wait make the channel connect at once.
  context.set_wait_for_ready(true);
  return (stub.*method)(&context, request, &response);
}

// The application: writes items to the store and reports each change until the sidecar has taken
// it.
class Application {
 public:
  Application(FakePrimaryStore& store, const std::shared_ptr<grpc::Channel>& channel, uint64_t seed)
      : store_(store),
        containers_(v1::ContainerService::NewStub(channel)),
        items_(v1::ItemService::NewStub(channel)),
        random_(seed) {}

  // Works until `stop`, and then lets everything expire soon.
  void Run(const std::atomic<bool>& stop) {
    while (!stop) {
      WaitUntil([&] { return stop || store_.CountAll() < kMostItems; }, kPatience);
      WriteSome(kOwn);
      WriteSome(kInheriting);
      for (int i = 0; i < kChanges; ++i) ChangeOne();
      const bool is_short = ttl_ == kShortTtl;
      if (absl::Now() - policy_set_ < (is_short ? kShortStands : kLongStands)) continue;
      SetTtl(is_short ? kLongTtl : kShortTtl);
    }
    SetTtl(kShortTtl);
  }

  // The rest is for after Run().

  // The versions that must have expired, since nobody has changed them.
  std::vector<FeedVersion> Untouched() const {
    std::vector<FeedVersion> versions;
    for (const auto& [key, item] : items_written_) {
      if (!item.is_touched) versions.emplace_back(key.first, key.second, item.ts);
    }
    return versions;
  }

 private:
  static constexpr int64_t kMostItems = 1500;
  static constexpr int kBatch = 10;
  static constexpr int kChanges = 8;
  static constexpr int64_t kRecent = 1200;

  struct Written {
    int64_t ts = 0;
    bool is_touched = false;  // overwritten or deleted
  };
  using Key = std::pair<std::string, std::string>;  // container, id

  std::optional<int64_t> AnyTtl(const std::string& container) {
    if (container != kOwn) return std::nullopt;
    return 1 + static_cast<int64_t>(random_.Below(3));
  }

  void WriteSome(const std::string& container) {
    v1::TrackItemsRequest request;
    request.set_container(container);
    for (int i = 0; i < kBatch; ++i) AddWrite(absl::StrCat("item-", next_++), Now(), request);
    Track(request);
  }

  void AddWrite(const std::string& id, int64_t ts, v1::TrackItemsRequest& request) {
    ItemVersion version;
    version.times = {ts, AnyTtl(request.container())};
    store_.Put(request.container(), {"p", id}, version);
    items_written_[{request.container(), id}].ts = ts;
    v1::Item& item = *request.add_items();
    item.set_partition_key("p");
    item.set_id(id);
    item.set_ts(ts);
    if (version.times.ttl.has_value()) item.set_ttl(*version.times.ttl);
  }

  // Overwrites or deletes one of the last items, which may be expired and just being deleted.
  void ChangeOne() {
    const std::string id = absl::StrCat(
        "item-", next_ - 1 - static_cast<int64_t>(random_.Below(std::min(next_, kRecent))));
    const std::string container = items_written_.contains({kOwn, id}) ? kOwn : kInheriting;
    Written& item = items_written_.at({container, id});
    if (item.ts >= Now()) return;
    item.is_touched = true;
    if (random_.Chance(0.5)) return Overwrite(container, id);
    store_.Erase(container, {"p", id});
    Untrack(container, id, item.ts);
  }

  void Overwrite(const std::string& container, const std::string& id) {
    v1::TrackItemsRequest request;
    request.set_container(container);
    AddWrite(id, Now(), request);
    Track(request);
  }

  void Track(const v1::TrackItemsRequest& request) {
    v1::TrackItemsResponse response;
    Report([&] { return Call(*items_, &v1::ItemService::Stub::TrackItems, request, response); });
  }
  void Untrack(const std::string& container, const std::string& id, int64_t ts) {
    v1::UntrackItemsRequest request;
    request.set_container(container);
    v1::ItemDeletion& item = *request.add_items();
    item.set_partition_key("p");
    item.set_id(id);
    item.set_ts(ts);
    v1::UntrackItemsResponse response;
    Report([&] { return Call(*items_, &v1::ItemService::Stub::UntrackItems, request, response); });
  }
  void SetTtl(int64_t default_ttl) {
    v1::UpdateContainerRequest request;
    request.mutable_container()->set_id(kInheriting);
    request.mutable_container()->set_default_ttl(default_ttl);
    request.mutable_update_mask()->add_paths("default_ttl");
    v1::UpdateContainerResponse response;
    Report([&] {
      return Call(*containers_, &v1::ContainerService::Stub::UpdateContainer, request, response);
    });
    ttl_ = default_ttl;
    policy_set_ = absl::Now();
  }

  // A call that a kill has cut off may have any code.
  static void Report(absl::FunctionRef<grpc::Status()> call) {
    grpc::Status status;
    EXPECT_TRUE(WaitUntil(
        [&] {
          status = call();
          return status.ok();
        },
        kPatience))
        << "code " << status.error_code() << ": " << status.error_message();
  }

  FakePrimaryStore& store_;
  const std::unique_ptr<v1::ContainerService::Stub> containers_;
  const std::unique_ptr<v1::ItemService::Stub> items_;
  Random random_;
  int64_t next_ = 0;
  int64_t ttl_ = kShortTtl;
  absl::Time policy_set_ = absl::Now();
  std::map<Key, Written> items_written_;
};

class FeedKillTest : public testing::Test {
 protected:
  FeedKillTest()
      : seed_(FromEnvironment("TTL_FEED_SEED", kSeed)),
        random_(static_cast<uint64_t>(seed_)),
        sidecar_({.dir = dir_.path(),
                  .store_address = store_.address(),
                  .flags = {"--delete-batch-items=20", "--delete-deadline-seconds=1"},
                  .env = {}}),
        application_(store_, sidecar_.channel(), random_.Next()),
        containers_(v1::ContainerService::NewStub(sidecar_.channel())),
        expiry_(v1::ExpiryService::NewStub(sidecar_.channel())),
        feed_(v1::FeedService::NewStub(sidecar_.channel())) {}

  void TearDown() override {
    if (HasFailure())
      ADD_FAILURE() << "seed " << seed_ << "\nlog of the sidecar:\n" << sidecar_.Log();
  }

  // Calls take some milliseconds, so that kills come between a delete and its answer.
  void WatchDeletes() {
    store_.SetBeforeDelete([this](const auto& request, auto&) -> std::optional<grpc::Status> {
      Note(request, absl::Now(), deletes_.first_asked, [](int) { return true; });
      absl::SleepFor(absl::Milliseconds(calls_++ % 7));
      return std::nullopt;
    });
    store_.SetAfterDelete([this](const auto& request, auto& response) {
      Note(request, absl::Now(), deletes_.first_deleted,
           [&](int i) { return response.results(i).outcome() == v1::DELETE_OUTCOME_DELETED; });
      absl::SleepFor(absl::Milliseconds(calls_ % 5));
      return grpc::Status::OK;
    });
  }
  void Note(const v1::DeleteItemsRequest& request, absl::Time time,
            std::map<FeedVersion, absl::Time>& times, absl::FunctionRef<bool(int)> counts) {
    const MutexLock lock(mutex_);
    for (int i = 0; i < request.items_size(); ++i) {
      const v1::ExpiredItem& item = request.items(i);
      if (counts(i)) times.emplace(FeedVersion{request.container(), item.id(), item.ts()}, time);
    }
  }

  void Create(const std::string& id, int64_t default_ttl, absl::Duration delay) {
    v1::CreateContainerRequest request;
    request.mutable_container()->set_id(id);
    request.mutable_container()->set_default_ttl(default_ttl);
    request.mutable_container()->mutable_feed();
    if (delay > absl::ZeroDuration()) {
      request.mutable_container()->mutable_delete_policy()->mutable_delay()->set_seconds(
          absl::ToInt64Seconds(delay));
    }
    v1::CreateContainerResponse response;
    const grpc::Status created =
        Call(*containers_, &v1::ContainerService::Stub::CreateContainer, request, response);
    ASSERT_TRUE(created.ok()) << created.error_message();
  }
  void Subscribe(const std::string& container) {
    v1::CreateSubscriptionRequest request;
    request.mutable_subscription()->set_container(container);
    request.mutable_subscription()->set_name("s");
    v1::CreateSubscriptionResponse response;
    const grpc::Status created =
        Call(*feed_, &v1::FeedService::Stub::CreateSubscription, request, response);
    ASSERT_TRUE(created.ok()) << created.error_message();
  }
  uint64_t LastSequence(const std::string& container) {
    v1::GetSubscriptionRequest request;
    request.set_container(container);
    request.set_name("s");
    v1::GetSubscriptionResponse response;
    EXPECT_TRUE(Call(*feed_, &v1::FeedService::Stub::GetSubscription, request, response).ok());
    return response.subscription().last_sequence();
  }

  // The token in front of the first event.
  std::string TokenOfTheBeginning() {
    grpc::ClientContext context;
    v1::WatchEventsRequest request;
    for (const char* id : {kOwn, kInheriting}) request.mutable_containers()->add_ids(id);
    const auto reader = feed_->WatchEvents(&context, request);
    v1::WatchEventsResponse response;
    EXPECT_TRUE(reader->Read(&response));
    context.TryCancel();
    return response.token();
  }

  void KillAndRestart() {
    const auto life = std::chrono::duration<double>(random_.Fraction() * kLongestLifeSeconds);
    std::this_thread::sleep_for(life);
    sidecar_.Kill();
    const absl::Status started = sidecar_.Start();
    ASSERT_TRUE(started.ok()) << started;
  }

  // Waits until everything has expired and is deleted, and the sidecar has logged that.
  bool AwaitEnd() {
    const auto tracks_nothing = [&](const char* id) {
      v1::GetExpiryStatusRequest request;
      request.set_container(id);
      v1::GetExpiryStatusResponse response;
      return Call(*expiry_, &v1::ExpiryService::Stub::GetExpiryStatus, request, response).ok() &&
             response.container().items().complete() &&
             response.container().items().tracked_items() == 0;
    };
    return WaitUntil(
        [&] {
          return store_.CountAll() == 0 && tracks_nothing(kOwn) && tracks_nothing(kInheriting);
        },
        kPatience);
  }

  std::map<uint64_t, v1::Event> EventsOf(const std::map<uint64_t, v1::Event>& log,
                                         const std::string& container) {
    std::map<uint64_t, v1::Event> events;
    for (const auto& [sequence, event] : log) {
      if (event.container() == container) events.emplace(sequence, event);
    }
    return events;
  }
  // Nothing is missing, and nothing is there that the log has not.
  static void ExpectSame(const std::map<uint64_t, v1::Event>& read,
                         const std::map<uint64_t, v1::Event>& log) {
    for (const auto& [sequence, event] : log) {
      ASSERT_TRUE(read.contains(sequence)) << "missed: " << event.ShortDebugString();
    }
    EXPECT_EQ(read.size(), log.size());
  }

  const TempDir dir_;
  const int64_t seed_;
  Random random_;
  FakePrimaryStore store_{[] { return absl::Now(); }};
  SidecarProcess sidecar_;
  Application application_;
  const std::unique_ptr<v1::ContainerService::Stub> containers_;
  const std::unique_ptr<v1::ExpiryService::Stub> expiry_;
  const std::unique_ptr<v1::FeedService::Stub> feed_;
  Mutex mutex_;
  StoreDeletes deletes_;  // guarded by mutex_ while the store is called
  std::atomic<int64_t> calls_ = 0;
};

TEST_F(FeedKillTest, NoEventIsLostAndEachExpiryIsClosedOnce) {
  const int64_t kills = FromEnvironment("TTL_FEED_KILLS", kKills);
  WatchDeletes();
  ASSERT_TRUE(sidecar_.Start().ok()) << sidecar_.Log();
  ASSERT_NO_FATAL_FAILURE(Create(kOwn, -1, absl::ZeroDuration()));
  ASSERT_NO_FATAL_FAILURE(Create(kInheriting, kShortTtl, absl::Seconds(2)));
  for (const char* id : {kOwn, kInheriting}) ASSERT_NO_FATAL_FAILURE(Subscribe(id));
  FeedSource all = {{kOwn, kInheriting}, TokenOfTheBeginning(), ""};
  FeedConsumer with_token(sidecar_.channel(), all, random_.Next());
  FeedConsumer with_subscription(sidecar_.channel(), {{kInheriting}, "", "s"}, random_.Next());

  std::atomic<bool> stop = false;
  std::thread application([&] { application_.Run(stop); });
  for (int64_t kill = 0; kill < kills && !HasFatalFailure(); ++kill) KillAndRestart();
  // With few kills on a slow machine not all has happened yet.
  for (const v1::EventKind kind : {v1::EVENT_KIND_PURGED, v1::EVENT_KIND_GONE,
                                   v1::EVENT_KIND_REVIVED, v1::EVENT_KIND_REPLACED}) {
    EXPECT_TRUE(with_token.AwaitKind(kind, kPatience)) << v1::EventKind_Name(kind);
  }
  stop = true;
  application.join();
  ASSERT_FALSE(HasFatalFailure());
  ASSERT_TRUE(AwaitEnd()) << store_.CountAll() << " items are left";

  const uint64_t last = std::max(LastSequence(kOwn), LastSequence(kInheriting));
  EXPECT_TRUE(with_token.AwaitSequence(last, kPatience));
  EXPECT_TRUE(with_subscription.AwaitSequence(LastSequence(kInheriting), kPatience));
  // What there is to read, without an interruption.
  all.ends_streams = false;
  FeedConsumer at_the_end(sidecar_.channel(), all, random_.Next());
  EXPECT_TRUE(at_the_end.AwaitSequence(last, kPatience));
  for (FeedConsumer* consumer : {&with_token, &with_subscription, &at_the_end}) {
    consumer->Stop();
    EXPECT_THAT(consumer->problems(), IsEmpty());
  }
  const std::map<uint64_t, v1::Event>& log = at_the_end.events();
  ExpectSame(with_token.events(), log);
  ExpectSame(with_subscription.events(), EventsOf(log, kInheriting));
  EXPECT_THAT(FeedLogProblems(log, deletes_, application_.Untouched()), IsEmpty());

  FeedCounts counts = CountEvents(log);
  EXPECT_GT(with_token.read_again(), 0);
  EXPECT_GT(with_subscription.read_again(), 0);
  absl::PrintF(
      "seed %d: %d kills, %d events: %d EXPIRED, %d PURGED, %d GONE, %d REVIVED, %d REPLACED; "
      "%d and %d streams, %d and %d events read again\n",
      seed_, kills, log.size(), counts[v1::EVENT_KIND_EXPIRED], counts[v1::EVENT_KIND_PURGED],
      counts[v1::EVENT_KIND_GONE], counts[v1::EVENT_KIND_REVIVED], counts[v1::EVENT_KIND_REPLACED],
      with_token.streams(), with_subscription.streams(), with_token.read_again(),
      with_subscription.read_again());
  EXPECT_TRUE(sidecar_.Stop().ok());
}

}  // namespace
}  // namespace ttl
