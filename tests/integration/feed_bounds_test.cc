// What consumers that stand still cost: the memory and the disk of the sidecar stay within bounds
// that do not depend on how much is logged, and the others get their events.

#include <grpcpp/client_context.h>
#include <grpcpp/create_channel.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "tests/bench/speed/process_usage.h"
#include "tests/bench/workload/random.h"
#include "tests/testing/fake_primary_store.h"
#include "tests/testing/sidecar_process.h"
#include "tests/testing/temp_dir.h"
#include "tests/testing/wait.h"
#include "ttl/v1/container_service.grpc.pb.h"
#include "ttl/v1/feed_service.grpc.pb.h"
#include "ttl/v1/item_service.grpc.pb.h"

namespace ttl {
namespace {

constexpr absl::Duration kPatience = absl::Seconds(60);
constexpr int64_t kMaxBytes = int64_t{1} << 20;
constexpr size_t kIdBytes = 1000;  // so an event has about as many
// So few that the reader has their events before they are dropped.
constexpr int kItemsPerCall = 200;
// 18 MB of events before memory is measured, so that LevelDB and the allocator have what they need,
// and 126 MB after it.
constexpr int kFirstCalls = 40;
constexpr int kCalls = 280;
constexpr int64_t kMaxGrowth = int64_t{24} << 20;
// The log, and what LevelDB has not compacted yet: half of all that is logged and tracked, 200 MB.
constexpr int64_t kMaxDisk = int64_t{96} << 20;
constexpr int kStandingStill = 8;

// A stream of events that is read only when told to.
class Stream {
 public:
  Stream(const std::shared_ptr<grpc::Channel>& channel, const v1::WatchEventsRequest& request)
      : stub_(v1::FeedService::NewStub(channel)) {
    context_.set_deadline(absl::ToChronoTime(absl::Now() + 5 * kPatience));
    reader_ = stub_->WatchEvents(&context_, request);
  }
  ~Stream() {
    context_.TryCancel();
    v1::WatchEventsResponse response;
    while (reader_->Read(&response)) continue;
    reader_->Finish();
  }

  bool Read(v1::WatchEventsResponse& response) { return reader_->Read(&response); }
  void Cancel() { context_.TryCancel(); }

 private:
  const std::unique_ptr<v1::FeedService::Stub> stub_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReader<v1::WatchEventsResponse>> reader_;
};

// Reads all that comes, on a thread of its own, and counts it.
class Reader {
 public:
  Reader(const std::shared_ptr<grpc::Channel>& channel, const v1::WatchEventsRequest& request)
      : stream_(channel, request) {
    v1::WatchEventsResponse first;
    EXPECT_TRUE(stream_.Read(first));
    thread_ = std::thread([this] { Run(); });
  }
  ~Reader() {
    stream_.Cancel();
    thread_.join();
  }

  int64_t expired() const { return expired_; }
  int64_t closed() const { return closed_; }

 private:
  void Run() {
    v1::WatchEventsResponse response;
    while (stream_.Read(response)) {
      for (const v1::Event& event : response.events()) {
        ++(event.kind() == v1::EVENT_KIND_EXPIRED ? expired_ : closed_);
      }
    }
  }

  Stream stream_;
  std::atomic<int64_t> expired_ = 0;
  std::atomic<int64_t> closed_ = 0;
  std::thread thread_;
};

class FeedBoundsTest : public testing::Test {
 protected:
  void SetUp() override {
    const absl::Status started = sidecar_.Start();
    ASSERT_TRUE(started.ok()) << started;
    items_ = v1::ItemService::NewStub(sidecar_.channel());
    v1::CreateContainerRequest request;
    request.mutable_container()->set_id("c");
    request.mutable_container()->set_default_ttl(-1);
    request.mutable_container()->mutable_feed()->set_max_bytes(kMaxBytes);
    grpc::ClientContext context;
    v1::CreateContainerResponse response;
    const grpc::Status created = v1::ContainerService::NewStub(sidecar_.channel())
                                     ->CreateContainer(&context, request, &response);
    ASSERT_TRUE(created.ok()) << created.error_message();
  }

  void Subscribe(const std::string& name) {
    grpc::ClientContext context;
    v1::CreateSubscriptionRequest request;
    request.mutable_subscription()->set_container("c");
    request.mutable_subscription()->set_name(name);
    v1::CreateSubscriptionResponse response;
    const grpc::Status created = v1::FeedService::NewStub(sidecar_.channel())
                                     ->CreateSubscription(&context, request, &response);
    ASSERT_TRUE(created.ok()) << created.error_message();
  }

  // Writes expired items to the store and reports them: each has an EXPIRED and a PURGED, and is
  // forgotten then.
  void Report() {
    v1::TrackItemsRequest request;
    request.set_container("c");
    ItemVersion version;
    version.times = {absl::ToUnixSeconds(absl::Now()) - 10, 5};
    for (int i = 0; i < kItemsPerCall; ++i) {
      v1::Item& item = *request.add_items();
      item.set_partition_key("p");
      item.set_id(AnyId());
      item.set_ts(version.times.ts);
      item.set_ttl(*version.times.ttl);
      store_.Put("c", {"p", item.id()}, version);
    }
    grpc::ClientContext context;
    v1::TrackItemsResponse response;
    const grpc::Status tracked = items_->TrackItems(&context, request, &response);
    ASSERT_TRUE(tracked.ok()) << tracked.error_message();
  }

  // That LevelDB cannot compress.
  std::string AnyId() {
    std::string id;
    while (id.size() < kIdBytes) absl::StrAppend(&id, absl::Hex(random_.Next(), absl::kZeroPad16));
    return id;
  }

  int64_t Memory() { return bench::AnonymousBytes(sidecar_.process()->pid()); }

  const TempDir dir_;
  FakePrimaryStore store_{[] { return absl::Now(); }};
  SidecarProcess sidecar_{{.dir = dir_.path(),
                           .store_address = store_.address(),
                           .flags = {"--cache-mib=1", "--block-cache-mib=1"},
                           .env = {}}};
  std::unique_ptr<v1::ItemService::Stub> items_;
  workload::Random random_{1};
};

// Channels that take in no more than 64 KiB before somebody reads.
std::shared_ptr<grpc::Channel> NewSmallChannel(const std::string& address) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_HTTP2_BDP_PROBE, 0);
  arguments.SetInt(GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES, 64 << 10);
  return grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments);
}

TEST_F(FeedBoundsTest, ConsumersThatStandStillCostBoundedMemoryAndDisk) {
  v1::WatchEventsRequest with_token;
  with_token.mutable_containers()->add_ids("c");
  std::vector<std::unique_ptr<Stream>> standing_still;
  for (int i = 0; i < kStandingStill; ++i) {
    v1::WatchEventsRequest request = with_token;
    if (i % 2 == 0) {
      ASSERT_NO_FATAL_FAILURE(Subscribe(absl::StrCat("s", i)));
      request.mutable_subscription()->set_container("c");
      request.mutable_subscription()->set_name(absl::StrCat("s", i));
    }
    standing_still.push_back(
        std::make_unique<Stream>(NewSmallChannel(sidecar_.address()), request));
    v1::WatchEventsResponse first;
    ASSERT_TRUE(standing_still.back()->Read(first));
  }
  ASSERT_NO_FATAL_FAILURE(Subscribe("without a stream"));
  const Reader reader(sidecar_.channel(), with_token);

  int64_t memory = 0;
  int64_t disk = 0;
  for (int call = 0; call < kFirstCalls + kCalls; ++call) {
    if (call == kFirstCalls) memory = Memory();
    ASSERT_NO_FATAL_FAILURE(Report());
    const int64_t items = int64_t{kItemsPerCall} * (call + 1);
    ASSERT_TRUE(WaitUntil([&] { return reader.closed() >= items; }, kPatience))
        << reader.expired() << " EXPIRED and " << reader.closed() << " PURGED of " << items;
    EXPECT_EQ(reader.expired(), items);
    disk = std::max(disk, bench::DirectoryBytes(sidecar_.data_dir()));
  }
  const int64_t growth = Memory() - memory;
  EXPECT_LT(growth, kMaxGrowth);
  EXPECT_LT(disk, kMaxDisk);
  RecordProperty("memory", absl::StrCat(memory));
  RecordProperty("growth", absl::StrCat(growth));
  RecordProperty("disk", absl::StrCat(disk));
}

}  // namespace
}  // namespace ttl
