// Clients that ping to keep their connection are not cut off, floods are.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/integration/raw_http2.h"
#include "tests/testing/sidecar_process.h"
#include "tests/testing/temp_dir.h"

namespace ttl {
namespace {

// Pings that gRPC lets pass before it cuts off a client that sends too many: two
// strikes after the first, and one more.
constexpr int kPingsToBeCutOff = 4;

class KeepaliveTest : public testing::Test {
 protected:
  KeepaliveTest() {
    SidecarProcessOptions options;
    options.dir = dir_.path();
    sidecar_ = std::make_unique<SidecarProcess>(options);
  }

  const TempDir dir_;
  std::unique_ptr<SidecarProcess> sidecar_;
};

// Field report B98.
TEST_F(KeepaliveTest, PingsWithoutCallsAreAcceptedEveryFewSeconds) {
  const absl::Status started = sidecar_->Start();
  ASSERT_TRUE(started.ok()) << started;
  RawHttp2 client(sidecar_->socket_path());
  ASSERT_TRUE(client.is_connected());
  // Half of the usual 10 s, and a little more than the least interval; from the answer on, so
  // that the server has seen one that much before the next, however late it came.
  constexpr absl::Duration kInterval = absl::Milliseconds(5200);
  for (int i = 0; i < kPingsToBeCutOff; ++i) {
    ASSERT_TRUE(client.SendPing());
    ASSERT_TRUE(client.AwaitPong(absl::Seconds(30)));
    ASSERT_EQ(client.ReadGoaway(i + 1 < kPingsToBeCutOff ? kInterval : absl::Seconds(1)), "");
  }
}

TEST_F(KeepaliveTest, FloodOfPingsIsCutOff) {
  const absl::Status started = sidecar_->Start();
  ASSERT_TRUE(started.ok()) << started;
  RawHttp2 client(sidecar_->socket_path());
  ASSERT_TRUE(client.is_connected());
  for (int i = 0; i < kPingsToBeCutOff; ++i) ASSERT_TRUE(client.SendPing());
  EXPECT_EQ(client.ReadGoaway(absl::Seconds(30)), "too_many_pings");
}

}  // namespace
}  // namespace ttl
