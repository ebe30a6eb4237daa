// Field reports C01 and C10: files go away under the real sidecar.

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "tests/testing/channel.h"
#include "tests/testing/sidecar_process.h"
#include "tests/testing/temp_dir.h"
#include "tests/testing/wait.h"
#include "ttl/client.h"
#include "ttl/container_client.h"

namespace ttl {
namespace {

constexpr absl::Duration kPatience = absl::Seconds(30);

class LostDirectoryProcessTest : public testing::Test {
 protected:
  void SetUp() override {
    SidecarProcessOptions options;
    options.dir = dir_.path();
    options.flags = {"--insecure-tcp", "--health-tcp", "127.0.0.1:0"};
    sidecar_ = std::make_unique<SidecarProcess>(options);
    const absl::Status started = sidecar_->Start();
    ASSERT_TRUE(started.ok()) << started;
    health_ = NewTestChannel(absl::StrCat("127.0.0.1:", sidecar_->TcpPorts().at(0)));
    TtlClientOptions client_options;
    client_options.address = sidecar_->address();
    client_options.check_deadline = client_options.report_deadline = absl::Minutes(1);
    client_ = std::make_unique<TtlClient>(client_options);
    v1::Container container;
    container.set_id("orders");
    ASSERT_TRUE(client_->containers().Create(container).ok());
    ASSERT_TRUE(Track("before").ok());
  }

  absl::Status Track(const std::string& id) {
    v1::Item item;
    item.set_id(id);
    item.set_ts(absl::ToUnixSeconds(absl::Now()));
    return client_->TrackItem("orders", item).status();
  }

  bool IsVisible(const std::string& id) {
    v1::VisibilityCheck check;
    check.set_id(id);
    const auto answer = client_->CheckItem("orders", check);
    return answer.ok() && answer->visibility == v1::VISIBILITY_VISIBLE;
  }

  // By an address that needs no file.
  bool GetsReady(bool ready) {
    return WaitUntil([&] { return CheckHealth(health_, "readiness").ok() == ready; }, kPatience);
  }

  bool Misses(const std::string& path) {
    const std::string line = absl::StrCat(path, "\\\" is not there any more");
    return WaitUntil([&] { return absl::StrContains(sidecar_->Log(), line); }, kPatience);
  }

  const TempDir dir_;
  std::unique_ptr<SidecarProcess> sidecar_;
  std::shared_ptr<grpc::Channel> health_;
  std::unique_ptr<TtlClient> client_;
};

TEST_F(LostDirectoryProcessTest, C01_WithoutItsDataDirectoryItIsNotReadyAndNamesIt) {
  const std::string data = sidecar_->data_dir();
  std::filesystem::remove_all(data);
  EXPECT_FALSE(Track("lost").ok());
  EXPECT_TRUE(GetsReady(false));
  EXPECT_TRUE(Misses(data)) << sidecar_->Log();
  EXPECT_TRUE(IsVisible("before"));
  EXPECT_FALSE(std::filesystem::exists(data));
}

TEST_F(LostDirectoryProcessTest, C01_WithItsDataDirectoryMovedAwayItIsNotReadyUntilItIsBack) {
  const std::string data = sidecar_->data_dir();
  std::filesystem::rename(data, dir_.File("away"));
  EXPECT_TRUE(GetsReady(false));
  EXPECT_TRUE(Misses(data)) << sidecar_->Log();
  std::filesystem::rename(dir_.File("away"), data);
  EXPECT_TRUE(GetsReady(true));
  EXPECT_TRUE(IsVisible("before"));
  EXPECT_TRUE(WaitUntil([&] { return Track("after").ok(); }, kPatience));
}

TEST_F(LostDirectoryProcessTest, C10_ItsSocketIsMadeAgainAndWhileItCannotBeItIsNotReady) {
  const std::string path = sidecar_->socket_path();
  std::filesystem::remove(path);
  std::filesystem::create_directory(path);
  EXPECT_TRUE(GetsReady(false));
  EXPECT_TRUE(WaitUntil(
      [&] {
        return absl::StrContains(sidecar_->Log(), absl::StrCat(path, "\\\" is not a socket"));
      },
      kPatience))
      << sidecar_->Log();
  std::filesystem::remove(path);
  EXPECT_TRUE(GetsReady(true));
  EXPECT_TRUE(std::filesystem::is_socket(path));
}

}  // namespace
}  // namespace ttl
