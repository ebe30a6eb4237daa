// How many connections a sidecar serves, and that refusing the others ends nothing.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/integration/bystander.h"
#include "tests/integration/raw_http2.h"
#include "tests/testing/sidecar_process.h"
#include "tests/testing/temp_dir.h"
#include "tests/testing/wait.h"

namespace ttl {
namespace {

using testing::HasSubstr;

class ConnectionLimitTest : public testing::Test {
 protected:
  void Start(std::vector<std::string> flags) {
    SidecarProcessOptions options;
    options.dir = dir_.path();
    options.flags = std::move(flags);
    sidecar_ = std::make_unique<SidecarProcess>(options);
    const absl::Status started = sidecar_->Start();
    ASSERT_TRUE(started.ok()) << started;
    bystander_ = std::make_unique<Bystander>(sidecar_->address(), sidecar_->process()->pid());
    ExpectServed();
  }

  void ExpectServed() {
    const absl::Status served = bystander_->AwaitRounds(20);
    EXPECT_TRUE(served.ok()) << served;
  }

  void Connect(int count) {
    for (int i = 0; i < count; ++i) {
      connections_.push_back(std::make_unique<RawHttp2>(sidecar_->socket_path()));
    }
  }

  // Whether a client that comes now is answered, at the latest when the sidecar has seen
  // that others have gone.
  bool NewcomersAreServed() {
    return WaitUntil([&] { return bystander_->CheckAsNewcomer().ok(); }, absl::Seconds(30));
  }

  // The last connection to come: whether the server has closed it.
  bool LastIsClosed() { return connections_.back()->ReadGoaway(absl::Seconds(30)) != ""; }

  const TempDir dir_;
  std::unique_ptr<SidecarProcess> sidecar_;
  std::unique_ptr<Bystander> bystander_;
  std::vector<std::unique_ptr<RawHttp2>> connections_;
};

TEST_F(ConnectionLimitTest, ThoseBeyondItAreClosedAndTheOthersServed) {
  Start({"--max-connections=100"});
  Connect(1500);
  EXPECT_TRUE(LastIsClosed());
  EXPECT_EQ(connections_[100]->ReadGoaway(absl::ZeroDuration()), "");
  ExpectServed();
  EXPECT_THAT(sidecar_->Log(), HasSubstr("reason=too_many_connections"));
  connections_.clear();
  EXPECT_TRUE(NewcomersAreServed());
}

// gRPC by itself would never accept a connection again.
TEST_F(ConnectionLimitTest, NoFileLeftIsNoEndOfService) {
  Start({});
  const rlimit few = {.rlim_cur = 60, .rlim_max = 60};
  ASSERT_EQ(prlimit(sidecar_->process()->pid(), RLIMIT_NOFILE, &few, nullptr), 0);
  Connect(200);
  EXPECT_TRUE(LastIsClosed());
  ExpectServed();
  connections_.clear();
  EXPECT_TRUE(NewcomersAreServed());
  ExpectServed();
}

}  // namespace
}  // namespace ttl
