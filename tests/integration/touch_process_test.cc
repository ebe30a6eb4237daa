// Touches of a real sidecar against a store on a real socket: what is acknowledged as touched stays
// visible and is not deleted before its new second, across a kill, and then it is.

#include <gmock/gmock.h>
#include <grpcpp/client_context.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "service/base/mutex.h"
#include "service/base/proto_time.h"
#include "tests/testing/fake_primary_store.h"
#include "tests/testing/sidecar_process.h"
#include "tests/testing/temp_dir.h"
#include "tests/testing/wait.h"
#include "ttl/v1/container_service.grpc.pb.h"
#include "ttl/v1/item_service.grpc.pb.h"

namespace ttl {
namespace {

constexpr absl::Duration kTouchPatience = absl::Seconds(60);

int64_t NowSeconds() { return absl::ToUnixSeconds(absl::Now()); }

// A sidecar with a container "c" that allows touches, and its store.
class TouchProcessTest : public testing::Test {
 protected:
  void Start(int64_t default_ttl) {
    SidecarProcessOptions options;
    options.dir = dir_.path();
    options.store_address = store_.address();
    sidecar_ = std::make_unique<SidecarProcess>(options);
    ASSERT_NO_FATAL_FAILURE(StartAgain());
    v1::CreateContainerRequest request;
    request.mutable_container()->set_id("c");
    request.mutable_container()->set_default_ttl(default_ttl);
    request.mutable_container()->set_allow_touch(true);
    const auto containers = v1::ContainerService::NewStub(sidecar_->channel());
    ASSERT_TRUE(CallTouch(*containers, &v1::ContainerService::Stub::CreateContainer, request).ok());
  }

  void StartAgain() {
    const absl::Status started = sidecar_->Start();
    ASSERT_TRUE(started.ok()) << started;
    items_ = v1::ItemService::NewStub(sidecar_->channel());
  }

  template <typename Stub, typename Request, typename Response>
  static absl::StatusOr<Response> CallTouch(Stub& stub,
                                            grpc::Status (Stub::*method)(grpc::ClientContext*,
                                                                         const Request&, Response*),
                                            const std::decay_t<Request>& request) {
    grpc::ClientContext context;
    context.set_deadline(absl::ToChronoTime(absl::Now() + kTouchPatience));
    Response response;
    const grpc::Status status = (stub.*method)(&context, request, &response);
    if (status.ok()) return response;
    return absl::Status(static_cast<absl::StatusCode>(status.error_code()), status.error_message());
  }

  // Writes an item to the store and reports it. Keys are of the partition "p".
  void Write(const std::string& id, int64_t ts) {
    ItemVersion version;
    version.times = {ts, std::nullopt};
    store_.Put("c", {"p", id}, version);
    v1::TrackItemsRequest request;
    request.set_container("c");
    v1::Item& item = *request.add_items();
    item.set_partition_key("p");
    item.set_id(id);
    item.set_ts(ts);
    const auto tracked = CallTouch(*items_, &v1::ItemService::Stub::TrackItems, request);
    ASSERT_TRUE(tracked.ok()) << tracked.status();
  }

  absl::StatusOr<v1::TouchItemsResponse> Touch(const std::string& id, int64_t within = 0) {
    v1::TouchItemsRequest request;
    request.set_container("c");
    v1::ItemKey& key = *request.add_keys();
    key.set_partition_key("p");
    key.set_id(id);
    request.mutable_unless_touched_within()->set_seconds(within);
    return CallTouch(*items_, &v1::ItemService::Stub::TouchItems, request);
  }

  absl::StatusOr<v1::CheckVisibilityResponse> Check(const std::string& id) {
    v1::CheckVisibilityRequest request;
    request.set_container("c");
    v1::VisibilityCheck& check = *request.add_checks();
    check.set_partition_key("p");
    check.set_id(id);
    return CallTouch(*items_, &v1::ItemService::Stub::CheckVisibility, request);
  }

  bool Has(const std::string& id) const { return store_.Find("c", {"p", id}).has_value(); }

  // The first delete of the item that the store received; absent: none.
  std::optional<FakePrimaryStore::Received> FirstDelete(const std::string& id) const {
    for (const FakePrimaryStore::Received& received : store_.ReceivedDeletes()) {
      for (const v1::ExpiredItem& item : received.request.items()) {
        if (item.id() == id) return received;
      }
    }
    return std::nullopt;
  }

  const TempDir dir_;
  FakePrimaryStore store_{[] { return absl::Now(); }};
  std::unique_ptr<SidecarProcess> sidecar_;
  std::unique_ptr<v1::ItemService::Stub> items_;
};

TEST_F(TouchProcessTest, ATouchedItemStaysUntilItsNewSecondOverAKillAndThenGoes) {
  Start(/*default_ttl=*/12);
  const int64_t ts = NowSeconds();
  ASSERT_NO_FATAL_FAILURE(Write("touched", ts));
  ASSERT_NO_FATAL_FAILURE(Write("untouched", ts));
  absl::StatusOr<v1::TouchItemsResponse> touched;
  ASSERT_TRUE(WaitUntil(
      [&] {
        touched = Touch("touched", /*within=*/3);
        return touched.ok() && touched->results(0) != v1::TOUCH_RESULT_RECENT;
      },
      kTouchPatience));
  ASSERT_EQ(touched->results(0), v1::TOUCH_RESULT_TOUCHED) << "the machine is too slow";
  sidecar_->Kill();
  ASSERT_NO_FATAL_FAILURE(StartAgain());
  const int64_t end = touched->touch_time() + 12;
  EXPECT_EQ(touched->expire_times(0), end);
  EXPECT_GE(end, ts + 15);
  EXPECT_TRUE(WaitUntil([&] { return !Has("untouched"); }, kTouchPatience));
  // Each answer is right for its time.
  const bool is_gone = WaitUntil(
      [&] {
        const auto check = Check("touched");
        if (!check.ok()) return false;
        const bool is_expired = FromProto(check->judged_at()) >= absl::FromUnixSeconds(end);
        EXPECT_EQ(check->visibilities(0) == v1::VISIBILITY_VISIBLE, !is_expired);
        return !Has("touched");
      },
      kTouchPatience);
  EXPECT_TRUE(is_gone);
  const auto received = FirstDelete("touched");
  ASSERT_TRUE(received.has_value());
  EXPECT_GE(received->at, absl::FromUnixSeconds(end));
  const auto item =
      std::find_if(received->request.items().begin(), received->request.items().end(),
                   [](const v1::ExpiredItem& sent) { return sent.id() == "touched"; });
  EXPECT_EQ(item->ts(), ts);
  EXPECT_EQ(item->expire_time(), end);
  const bool is_forgotten = WaitUntil(
      [&] {
        const auto again = Touch("touched");
        return again.ok() && again->results(0) == v1::TOUCH_RESULT_NOT_TRACKED;
      },
      kTouchPatience);
  EXPECT_TRUE(is_forgotten);
}

// Until when items live, because a touch of them was acknowledged.
class AcknowledgedTouches {
 public:
  void Add(const std::string& id, int64_t expire_time) {
    MutexLock lock(mutex_);
    ends_[id] = std::max(ends_[id], expire_time);
  }
  int64_t EndOf(const std::string& id) {
    MutexLock lock(mutex_);
    return ends_[id];
  }

 private:
  Mutex mutex_;
  std::map<std::string, int64_t> ends_ ABSL_GUARDED_BY(mutex_);
};

// Workers touch items that live for two seconds, until each has expired before it was touched
// again, while others of them are being deleted.
class TouchRaceTest : public TouchProcessTest {
 protected:
  static constexpr int kWorkers = 4;
  static constexpr int kItemsPerWorker = 100;
  static constexpr int64_t kTtl = 2;

  // Looks at each delete when it is applied and before it is answered.
  void WatchDeletes() {
    store_.SetBeforeDelete([](const auto&, auto&) {
      absl::SleepFor(absl::Milliseconds(20));
      return std::nullopt;
    });
    store_.SetAfterDelete([this](const auto& request, auto& response) {
      for (int i = 0; i < request.items_size(); ++i) {
        const bool is_deleted = response.results(i).outcome() == v1::DELETE_OUTCOME_DELETED;
        const int64_t end = acknowledged_.EndOf(request.items(i).id());
        if (is_deleted && NowSeconds() < end) ++violations_;
      }
      return grpc::Status::OK;
    });
  }

  // Touches the items at random, up to `touches` times each.
  void TouchAll(int worker, int touches) {
    std::mt19937 random(worker);
    std::vector<std::string> ids;
    for (int i = 0; i < kItemsPerWorker; ++i) {
      ids.push_back(absl::StrCat("w", worker, "-", i));
      ASSERT_NO_FATAL_FAILURE(Write(ids.back(), NowSeconds()));
    }
    std::map<std::string, int> left;
    for (const std::string& id : ids) left[id] = touches;
    while (!ids.empty()) {
      std::swap(ids.back(), ids[random() % ids.size()]);
      const std::string id = ids.back();
      const auto touched = Touch(id);
      ASSERT_TRUE(touched.ok()) << touched.status();
      const bool is_touched = touched->results(0) == v1::TOUCH_RESULT_TOUCHED;
      if (is_touched) {
        acknowledged_.Add(id, touched->expire_times(0));
        ++touched_;
        if (!Has(id) && NowSeconds() < touched->expire_times(0)) ++violations_;
      }
      if (!is_touched || --left[id] == 0) ids.pop_back();
    }
  }

  AcknowledgedTouches acknowledged_;
  std::atomic<int64_t> touched_ = 0;
  std::atomic<int64_t> violations_ = 0;
};

TEST_F(TouchRaceTest, NothingAcknowledgedAsTouchedIsDeletedBeforeItsNewSecond) {
  WatchDeletes();
  Start(kTtl);
  std::vector<std::thread> workers;
  for (int worker = 0; worker < kWorkers; ++worker) {
    workers.emplace_back([this, worker] { TouchAll(worker, /*touches=*/30); });
  }
  for (std::thread& worker : workers) worker.join();
  EXPECT_GT(touched_, kWorkers * kItemsPerWorker);
  EXPECT_TRUE(WaitUntil([&] { return store_.CountAll() == 0; }, kTouchPatience))
      << store_.CountAll() << " items were not deleted";
  EXPECT_EQ(violations_, 0);
}

}  // namespace
}  // namespace ttl
