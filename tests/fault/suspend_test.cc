#include <grpcpp/client_context.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "tests/testing/sidecar_process.h"
#include "tests/testing/temp_dir.h"
#include "tests/testing/wait.h"
#include "ttl/v1/container_service.grpc.pb.h"
#include "ttl/v1/item_service.grpc.pb.h"

// A suspended process (SIGSTOP, a frozen cgroup, a paused machine) sees no time
// pass; its clocks do.

namespace ttl {
namespace {

constexpr char kContainer[] = "sessions";
constexpr int64_t kTtl = 4;

absl::Time WallNow() { return absl::FromChrono(std::chrono::system_clock::now()); }

class SuspendTest : public testing::Test {
 protected:
  void SetUp() override {
    const absl::Status started = sidecar_.Start();
    ASSERT_TRUE(started.ok()) << started;
    v1::CreateContainerRequest request;
    request.mutable_container()->set_id(kContainer);
    request.mutable_container()->set_default_ttl(-1);
    v1::CreateContainerResponse response;
    grpc::ClientContext context;
    const auto status = v1::ContainerService::NewStub(sidecar_.channel())
                            ->CreateContainer(&context, request, &response);
    ASSERT_TRUE(status.ok()) << status.error_message();
  }

  void Track(const std::string& id, int64_t ts, int64_t ttl) {
    v1::TrackItemsRequest request;
    request.set_container(kContainer);
    v1::Item& item = *request.add_items();
    item.set_id(id);
    item.set_ts(ts);
    item.set_ttl(ttl);
    v1::TrackItemsResponse response;
    grpc::ClientContext context;
    const auto status = items_->TrackItems(&context, request, &response);
    ASSERT_TRUE(status.ok()) << status.error_message();
  }

  v1::CheckVisibilityResponse Check(const std::vector<std::string>& ids) {
    v1::CheckVisibilityRequest request;
    request.set_container(kContainer);
    for (const std::string& id : ids) request.add_checks()->set_id(id);
    v1::CheckVisibilityResponse response;
    grpc::ClientContext context;
    const auto status = items_->CheckVisibility(&context, request, &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return response;
  }

  TempDir dir_;
  SidecarProcess sidecar_{{.dir = dir_.path(), .store_address = "", .flags = {}, .env = {}}};
  std::unique_ptr<v1::ItemService::Stub> items_ = v1::ItemService::NewStub(sidecar_.channel());
};

TEST_F(SuspendTest, FirstCheckAfterSuspensionSaysExpired) {
  int64_t ts = 0;
  // Written again if it has expired by the time of the answer, on a machine that stalls.
  ASSERT_TRUE(WaitUntil(
      [&] {
        ts = absl::ToUnixSeconds(WallNow());
        Track("short", ts, kTtl);
        Track("long", ts, 1000);
        return Check({"short"}).visibilities(0) == v1::VISIBILITY_VISIBLE;
      },
      absl::Seconds(60)));

  ASSERT_TRUE(sidecar_.Suspend().ok());
  const absl::Time expire_time = absl::FromUnixSeconds(ts + kTtl);
  ASSERT_TRUE(WaitUntil([&] { return WallNow() > expire_time; }, absl::Seconds(60)));
  ASSERT_TRUE(sidecar_.Resume().ok());

  const v1::CheckVisibilityResponse response = Check({"short", "long"});
  EXPECT_EQ(response.visibilities(0), v1::VISIBILITY_EXPIRED);
  EXPECT_EQ(response.visibilities(1), v1::VISIBILITY_VISIBLE);
}

}  // namespace
}  // namespace ttl
