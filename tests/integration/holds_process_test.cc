// Holds of a real sidecar against a store on a real socket: what is acknowledged as held is not
// deleted afterwards, however the deletes in flight end, and what is released is deleted.

#include <gmock/gmock.h>
#include <grpcpp/client_context.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
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
#include "ttl/v1/expiry_service.grpc.pb.h"
#include "ttl/v1/hold_service.grpc.pb.h"
#include "ttl/v1/item_service.grpc.pb.h"
#include "ttl/v1/maintenance_service.grpc.pb.h"

namespace ttl {
namespace {

using ::testing::Contains;
using ::testing::Not;

constexpr absl::Duration kPatience = absl::Seconds(60);

template <typename Stub, typename Request, typename Response>
absl::StatusOr<Response> CallHolds(Stub& stub,
                                   grpc::Status (Stub::*method)(grpc::ClientContext*,
                                                                const Request&, Response*),
                                   const std::decay_t<Request>& request) {
  grpc::ClientContext context;
  context.set_deadline(absl::ToChronoTime(absl::Now() + kPatience));
  Response response;
  const grpc::Status status = (stub.*method)(&context, request, &response);
  if (status.ok()) return response;
  return absl::Status(static_cast<absl::StatusCode>(status.error_code()), status.error_message());
}

v1::PlaceHoldRequest HoldOf(const std::string& container, const std::string& hold_id) {
  v1::PlaceHoldRequest request;
  request.set_container(container);
  request.set_hold_id(hold_id);
  request.set_reason("a test");
  return request;
}

// A sidecar, a store, and the calls that tests make of both.
class HoldsProcessTest : public testing::Test {
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
    const auto& channel = sidecar_->channel();
    calls_ = std::make_unique<SidecarCalls>(channel);
    items_ = v1::ItemService::NewStub(channel);
    holds_ = v1::HoldService::NewStub(channel);
    expiry_ = v1::ExpiryService::NewStub(channel);
    maintenance_ = v1::MaintenanceService::NewStub(channel);
  }

  // Writes items that are due to the store and reports them. Keys are of the partition "p".
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
    const auto tracked = CallHolds(*items_, &v1::ItemService::Stub::TrackItems, request);
    ASSERT_TRUE(tracked.ok()) << tracked.status();
  }

  absl::StatusOr<v1::PlaceHoldResponse> Place(const v1::PlaceHoldRequest& request) {
    return CallHolds(*holds_, &v1::HoldService::Stub::PlaceHold, request);
  }
  absl::StatusOr<v1::PlaceHoldResponse> HoldKey(const std::string& container,
                                                const std::string& id) {
    v1::PlaceHoldRequest request = HoldOf(container, absl::StrCat("hold-", id));
    v1::HeldKey& key = *request.mutable_keys()->add_keys();
    key.set_partition_key("p");
    key.set_id(id);
    return Place(request);
  }
  absl::Status Release(const std::string& container, const std::string& hold_id) {
    v1::ReleaseHoldRequest request;
    request.set_container(container);
    request.set_hold_id(hold_id);
    return CallHolds(*holds_, &v1::HoldService::Stub::ReleaseHold, request).status();
  }

  absl::Status AcceptHolds(const std::string& container) {
    v1::AcceptHoldsRequest request;
    request.set_container(container);
    return CallHolds(*holds_, &v1::HoldService::Stub::AcceptHolds, request).status();
  }
  bool IsListed(const std::string& container, const std::string& hold_id) {
    v1::ListHoldsRequest request;
    request.set_container(container);
    const auto listed = CallHolds(*holds_, &v1::HoldService::Stub::ListHolds, request);
    return listed.ok() &&
           std::any_of(listed->holds().begin(), listed->holds().end(),
                       [&](const v1::Hold& hold) { return hold.hold_id() == hold_id; });
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
    options.store_address = store_.address();
    options.flags = {"--restore", path};
    SidecarProcess restore(options);
    ASSERT_TRUE(restore.Launch().ok());
    ASSERT_EQ(restore.process()->Wait(kPatience)->code, 0) << restore.Log();
  }
  // Ends all that holds deletes back after a restore, but for the holds.
  void ResumeAndTrust() {
    v1::ResumeDeletesRequest resume;
    resume.set_all_containers(true);
    ASSERT_TRUE(CallHolds(*expiry_, &v1::ExpiryService::Stub::ResumeDeletes, resume).ok());
    ASSERT_TRUE(
        CallHolds(*maintenance_, &v1::MaintenanceService::Stub::TrustData, v1::TrustDataRequest())
            .ok());
  }
  // Whether a reason of the sidecar's health contains `text`.
  bool HealthNames(const std::string& text) {
    const auto status = calls_->GetStatus();
    if (!status.ok()) return false;
    const auto& reasons = status->sidecar().health().reasons();
    return std::any_of(reasons.begin(), reasons.end(),
                       [&](const std::string& reason) { return absl::StrContains(reason, text); });
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

  const TempDir dir_;
  FakePrimaryStore store_{[] { return absl::Now(); }};
  std::unique_ptr<SidecarProcess> sidecar_;
  std::unique_ptr<SidecarCalls> calls_;
  std::unique_ptr<v1::ItemService::Stub> items_;
  std::unique_ptr<v1::HoldService::Stub> holds_;
  std::unique_ptr<v1::ExpiryService::Stub> expiry_;
  std::unique_ptr<v1::MaintenanceService::Stub> maintenance_;
};

TEST_F(HoldsProcessTest, AHoldStandsOverAKillAndEndsWithItsRelease) {
  Start();
  ASSERT_TRUE(calls_->CreateContainer("c", -1).ok());
  ASSERT_TRUE(HoldKey("c", "held").ok());
  ASSERT_NO_FATAL_FAILURE(WriteDue("c", {"held", "free"}));
  EXPECT_TRUE(Goes("c", "free"));
  sidecar_->Kill();
  ASSERT_NO_FATAL_FAILURE(StartAgain());
  ASSERT_NO_FATAL_FAILURE(WriteDue("c", {"later"}));
  EXPECT_TRUE(Goes("c", "later"));
  EXPECT_TRUE(Has("c", "held"));
  EXPECT_TRUE(WaitUntil([&] { return Status("c").hold_counts().items_set_aside() == 1; }));
  // An item is in the backlog until its outcome is committed, a moment after the store deleted it.
  EXPECT_TRUE(WaitUntil([&] { return Status("c").backlog() == 0; }));
  ASSERT_TRUE(Release("c", "hold-held").ok());
  EXPECT_TRUE(Goes("c", "held"));
  EXPECT_TRUE(WaitUntil([&] { return !Status("c").has_hold_counts(); }));
}

TEST_F(HoldsProcessTest, AHoldOnAllItemsStopsTheContainerAndNoOther) {
  Start();
  ASSERT_TRUE(calls_->CreateContainer("c", -1).ok());
  ASSERT_TRUE(calls_->CreateContainer("other", -1).ok());
  v1::PlaceHoldRequest all = HoldOf("c", "all");
  all.set_all_items(true);
  ASSERT_TRUE(Place(all).ok());
  ASSERT_NO_FATAL_FAILURE(WriteDue("c", {"a"}));
  ASSERT_NO_FATAL_FAILURE(WriteDue("other", {"a"}));
  EXPECT_TRUE(Goes("other", "a"));
  EXPECT_TRUE(Has("c", "a"));
  EXPECT_THAT(Status("c").holds(), Contains(v1::DELETE_HOLD_HELD));
  ASSERT_TRUE(Release("c", "all").ok());
  EXPECT_TRUE(Goes("c", "a"));
}

TEST_F(HoldsProcessTest, AHoldEndsByItselfAtItsTimeAndNotBefore) {
  Start();
  ASSERT_TRUE(calls_->CreateContainer("c", -1).ok());
  v1::PlaceHoldRequest request = HoldOf("c", "h");
  request.set_partition_key("p");
  int64_t until = 0;
  // On a slow machine an end may be past when the sidecar reads it.
  ASSERT_TRUE(WaitUntil(
      [&] {
        until = absl::ToUnixSeconds(absl::Now()) + 3;
        request.mutable_until()->set_seconds(until);
        return Place(request).ok();
      },
      kPatience));
  ASSERT_NO_FATAL_FAILURE(WriteDue("c", {"a"}));
  EXPECT_TRUE(Goes("c", "a"));
  ASSERT_EQ(store_.ReceivedDeletes().size(), 1u);
  EXPECT_GE(store_.ReceivedDeletes()[0].at, absl::FromUnixSeconds(until));
}

TEST_F(HoldsProcessTest, AfterARestoreNothingIsDeletedUntilTheHoldsAreAccepted) {
  std::ofstream(dir_.File("c.yaml")) << "containers:\n  - {id: c, default_ttl: -1, holds: true}\n  "
                                        "- {id: other, default_ttl: -1}\n";
  Start({"--containers", dir_.File("c.yaml")});
  EXPECT_THAT(Status("c").holds(), Contains(v1::DELETE_HOLD_HOLDS_IN_DOUBT)) << "a new container";
  ASSERT_TRUE(AcceptHolds("c").ok());
  ASSERT_TRUE(HoldKey("c", "held").ok());
  ASSERT_NO_FATAL_FAILURE(BackUp(dir_.File("backup")));
  ASSERT_TRUE(sidecar_->Stop().ok());
  ASSERT_NO_FATAL_FAILURE(Restore(dir_.File("backup"), "restored"));

  ASSERT_NO_FATAL_FAILURE(Start({"--containers", dir_.File("c.yaml")}, "restored"));
  ASSERT_NO_FATAL_FAILURE(WriteDue("c", {"held", "free"}));
  ASSERT_NO_FATAL_FAILURE(WriteDue("other", {"a"}));
  ASSERT_NO_FATAL_FAILURE(ResumeAndTrust());
  EXPECT_TRUE(Goes("other", "a"));
  EXPECT_TRUE(Has("c", "free"));
  EXPECT_THAT(Status("c").holds(), Contains(v1::DELETE_HOLD_HOLDS_IN_DOUBT));
  EXPECT_TRUE(WaitUntil([&] { return HealthNames("ttlctl holds accept \"c\""); }));

  ASSERT_TRUE(AcceptHolds("c").ok());
  EXPECT_TRUE(Goes("c", "free"));
  EXPECT_TRUE(Has("c", "held")) << "the hold was in the backup";
  EXPECT_THAT(Status("c").holds(), Not(Contains(v1::DELETE_HOLD_HOLDS_IN_DOUBT)));
}

// While the sidecar does not run, nobody can release the holds.
TEST_F(HoldsProcessTest, AnEntryOfTheContainersFileThatHoldsRefuseDoesNotPreventTheStart) {
  std::ofstream(dir_.File("c.yaml")) << "containers:\n  - {id: c}\n";
  Start({"--containers", dir_.File("c.yaml")});
  ASSERT_TRUE(HoldKey("c", "a").ok());
  ASSERT_TRUE(sidecar_->Stop().ok());
  std::ofstream(dir_.File("c.yaml")) << "containers:\n  - {id: c, indexing_mode: NONE}\n";
  ASSERT_NO_FATAL_FAILURE(StartAgain());
  EXPECT_TRUE(IsListed("c", "hold-a"));
  EXPECT_TRUE(WaitUntil([&] {
    return absl::StrContains(sidecar_->Log(), "entry of the containers file is not applied");
  }));
}

TEST_F(HoldsProcessTest, EachChangeIsLoggedWithItsCaller) {
  Start();
  ASSERT_TRUE(calls_->CreateContainer("c", -1).ok());
  ASSERT_TRUE(HoldKey("c", "a").ok());
  ASSERT_TRUE(Release("c", "hold-a").ok());
  ASSERT_TRUE(AcceptHolds("c").ok());
  for (const char* line : {"msg=\"hold placed\" container=\"c\" hold=\"hold-a\"",
                           "msg=\"hold released\" container=\"c\" hold=\"hold-a\"",
                           "msg=\"holds accepted as complete\" container=\"c\""}) {
    EXPECT_TRUE(WaitUntil([&] { return absl::StrContains(sidecar_->Log(), line); })) << line;
  }
}

TEST_F(HoldsProcessTest, AHoldAwaitsADeleteInFlightAndSaysThatItHasRemovedTheItem) {
  std::atomic<bool> is_sent = false;
  absl::Notification may_go_on;
  store_.SetBeforeDelete([&](const auto&, auto&) {
    is_sent = true;
    may_go_on.WaitForNotificationWithTimeout(kPatience);
    return std::nullopt;
  });
  Start({"--delete-deadline-seconds=120", "--stop-deadline-seconds=130"});
  ASSERT_TRUE(calls_->CreateContainer("c", -1).ok());
  ASSERT_NO_FATAL_FAILURE(WriteDue("c", {"a"}));
  const bool sent = WaitUntil([&] { return is_sent.load(); }, kPatience);
  std::atomic<bool> is_answered = false;
  absl::StatusOr<v1::PlaceHoldResponse> placed;
  std::thread caller([&] {
    placed = HoldKey("c", "a");
    is_answered = true;
  });
  const bool is_durable = WaitUntil([&] { return IsListed("c", "hold-a"); }, kPatience);
  const bool was_early = is_answered;
  may_go_on.Notify();
  caller.join();
  EXPECT_TRUE(sent && is_durable);
  EXPECT_FALSE(was_early) << "the delete could still be carried out";
  ASSERT_TRUE(placed.ok()) << placed.status();
  EXPECT_EQ(placed->results(0), v1::PLACE_HOLD_RESULT_ALREADY_DELETED);
  EXPECT_FALSE(Has("c", "a"));
}

// Items that must not be deleted, because a hold on them was acknowledged.
class AcknowledgedHolds {
 public:
  void Add(const std::string& container, const std::string& id) {
    MutexLock lock(mutex_);
    held_.emplace(container, id);
  }
  void Remove(const std::string& container, const std::string& id) {
    MutexLock lock(mutex_);
    held_.erase({container, id});
  }
  bool Has(const std::string& container, const std::string& id) {
    MutexLock lock(mutex_);
    return held_.contains({container, id});
  }

 private:
  Mutex mutex_;
  std::set<std::pair<std::string, std::string>> held_ ABSL_GUARDED_BY(mutex_);
};

// Workers place holds, each in a container of its own, while its items are being deleted by a store
// whose calls take a while and whose answers are sometimes lost. TTL_SCALE_HOLDS: how many holds,
// 4,000 if it is not set.
class HoldsRaceTest : public HoldsProcessTest {
 protected:
  static constexpr int kWorkers = 4;
  static constexpr int kItemsPerRound = 400;
  static constexpr int kHoldsPerRound = 200;

  // Looks at each delete when it is applied and before it is answered. A hold is acknowledged only
  // after that, so what is acknowledged by then is deleted in spite of it.
  void WatchDeletes() {
    store_.SetBeforeDelete([this](const auto&, auto&) {
      absl::SleepFor(absl::Milliseconds(calls_seen_++ % 7));
      return std::nullopt;
    });
    store_.SetAfterDelete([this](const auto& request, auto& response) {
      for (int i = 0; i < request.items_size(); ++i) {
        const bool is_deleted = response.results(i).outcome() == v1::DELETE_OUTCOME_DELETED;
        if (is_deleted && acknowledged_.Has(request.container(), request.items(i).id())) {
          ++violations_;
        }
      }
      if (calls_seen_ % 41 != 0) return grpc::Status::OK;
      return grpc::Status(grpc::StatusCode::UNAVAILABLE, "the answer is lost");
    });
  }

  // Holds one item and notes what the hold found.
  void PlaceOne(const std::string& container, int round, int i, const std::string& id) {
    const auto placed = HoldKey(container, id);
    ASSERT_TRUE(placed.ok()) << placed.status() << " round " << round << " hold " << i;
    switch (placed->results(0)) {
      case v1::PLACE_HOLD_RESULT_HELD:
        acknowledged_.Add(container, id);
        ++held_;
        return;
      case v1::PLACE_HOLD_RESULT_ALREADY_DELETED:
        ++already_deleted_;
        return;
      default:
        ++not_tracked_;
    }
  }

  void RunRound(const std::string& container, int round, std::mt19937& random) {
    std::vector<std::string> ids;
    for (int i = 0; i < kItemsPerRound; ++i) ids.push_back(absl::StrCat("r", round, "-", i));
    ASSERT_NO_FATAL_FAILURE(WriteDue(container, ids));
    std::shuffle(ids.begin(), ids.end(), random);
    for (int i = 0; i < kHoldsPerRound; ++i) {
      ASSERT_NO_FATAL_FAILURE(PlaceOne(container, round, i, ids[i]));
    }
    const auto others_are_gone = [&] {
      return std::none_of(ids.begin() + kHoldsPerRound, ids.end(),
                          [&](const std::string& id) { return Has(container, id); });
    };
    ASSERT_TRUE(WaitUntil(others_are_gone, kPatience))
        << container << " round " << round << ": " << Status(container).ShortDebugString();
    for (int i = 0; i < kHoldsPerRound; ++i) {
      acknowledged_.Remove(container, ids[i]);
      const absl::Status released = Release(container, absl::StrCat("hold-", ids[i]));
      ASSERT_TRUE(released.ok()) << released;
    }
  }

  // Whether all items are deleted in the end, however slowly: lost answers delay a container, and
  // how many items are left by now depends on the machine.
  bool AllGo() {
    int64_t left = store_.CountAll();
    while (left > 0 && WaitUntil([&] { return store_.CountAll() < left; }, kPatience)) {
      left = store_.CountAll();
    }
    return left == 0;
  }

  AcknowledgedHolds acknowledged_;
  std::atomic<int64_t> calls_seen_ = 0;
  std::atomic<int64_t> violations_ = 0;
  std::atomic<int64_t> held_ = 0;
  std::atomic<int64_t> already_deleted_ = 0;
  std::atomic<int64_t> not_tracked_ = 0;
};

TEST_F(HoldsRaceTest, NothingAcknowledgedAsHeldIsDeletedAfterwards) {
  const char* scale = std::getenv("TTL_SCALE_HOLDS");
  const int64_t holds = scale == nullptr ? 4000 : std::atoll(scale);
  const int64_t rounds = holds / (kWorkers * kHoldsPerRound);
  WatchDeletes();
  // A call whose answer is lost delays its container by at most the deadline.
  Start({"--delete-batch-items=10", "--delete-deadline-seconds=1"});
  std::vector<std::thread> workers;
  for (int worker = 0; worker < kWorkers; ++worker) {
    const std::string container = absl::StrCat("c", worker);
    ASSERT_TRUE(calls_->CreateContainer(container, -1).ok());
    workers.emplace_back([this, container, worker, rounds] {
      std::mt19937 random(worker);
      for (int round = 0; round < rounds && !HasFatalFailure(); ++round) {
        RunRound(container, round, random);
      }
    });
  }
  for (std::thread& worker : workers) worker.join();
  EXPECT_EQ(violations_, 0);
  EXPECT_EQ(held_ + already_deleted_ + not_tracked_, rounds * kWorkers * kHoldsPerRound);
  EXPECT_TRUE(AllGo()) << store_.CountAll() << " released items were not deleted";
  RecordProperty("held", absl::StrCat(held_.load()));
  RecordProperty("already_deleted", absl::StrCat(already_deleted_.load()));
  RecordProperty("not_tracked", absl::StrCat(not_tracked_.load()));
}

}  // namespace
}  // namespace ttl
