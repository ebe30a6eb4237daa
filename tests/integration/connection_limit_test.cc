// How many connections a sidecar serves, for how long it bears with those that say nothing, and
// that refusing the others ends nothing.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/time/clock.h"
#include "tests/integration/bystander.h"
#include "tests/integration/raw_http2.h"
#include "tests/integration/sidecar_calls.h"
#include "tests/testing/certificates.h"
#include "tests/testing/channel.h"
#include "tests/testing/expect_soon.h"
#include "tests/testing/sidecar_process.h"
#include "tests/testing/temp_dir.h"
#include "tests/testing/wait.h"

namespace ttl {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

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
  // Those of the bystander count too, and one of its connections may have just ended.
  EXPECT_EQ(connections_[97]->ReadGoaway(absl::ZeroDuration()), "");
  ExpectServed();
  EXPECT_SOON(sidecar_->Log(), HasSubstr("reason=too_many_connections"));
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

// An address that takes connections without a byte said, which need no permission over TCP.
struct Door {
  const char* name;
  std::vector<std::string> flags;  // for it
  bool is_socket;
};

class SilentConnectionsTest : public ConnectionLimitTest, public testing::WithParamInterface<Door> {
 protected:
  void StartWithDoor() {
    const TestIdentity server = TestCa("servers").Issue({.common_name = "sidecar"});
    ReplaceFile(dir_.File("key"), server.key);
    ReplaceFile(dir_.File("cert"), server.cert);
    std::vector<std::string> flags = GetParam().flags;
    flags.push_back("--max-connections=100");
    for (std::string& flag : flags) {
      flag = absl::StrReplaceAll(flag, {{"DIR/", absl::StrCat(dir_.path(), "/")}});
    }
    Start(std::move(flags));
  }

  std::unique_ptr<RawHttp2> ConnectSilently() const {
    const auto silent = RawHttp2::Opening::kNothing;
    return GetParam().is_socket ? std::make_unique<RawHttp2>(sidecar_->socket_path(), silent)
                                : std::make_unique<RawHttp2>(sidecar_->TcpPorts().at(0), silent);
  }
};

TEST_P(SilentConnectionsTest, TheyAreClosedWithinSeconds) {
  StartWithDoor();
  const absl::Time start = absl::Now();
  EXPECT_NE(ConnectSilently()->ReadGoaway(absl::Seconds(60)), "");
  // Five, and what a busy machine takes. Without a limit they would be two minutes.
  EXPECT_LT(absl::Now() - start, absl::Seconds(30));
  ExpectServed();
}

class SilentTcpConnectionsTest : public SilentConnectionsTest {};

TEST_P(SilentTcpConnectionsTest, TheyTakeNoPlaceOnTheSocketOfTheStore) {
  StartWithDoor();
  for (int i = 0; i < 1000; ++i) connections_.push_back(ConnectSilently());
  EXPECT_TRUE(LastIsClosed());
  EXPECT_SOON(sidecar_->Log(), HasSubstr("reason=too_many_connections"));
  const absl::Status newcomer = bystander_->CheckAsNewcomer();
  EXPECT_TRUE(newcomer.ok()) << newcomer;
  ExpectServed();
}

std::string NameOf(const testing::TestParamInfo<Door>& info) { return info.param.name; }

const Door kTcpDoors[] = {
    {"Tcp", {"--listen-tcp=127.0.0.1:0,roles=reader", "--insecure-tcp"}, false},
    {"Health", {"--health-tcp=127.0.0.1:0"}, false},
    {"Tls",
     {"--listen-tcp=127.0.0.1:0,roles=reader", "--tls-cert-file=DIR/cert",
      "--tls-key-file=DIR/key"},
     false}};
INSTANTIATE_TEST_SUITE_P(Socket, SilentConnectionsTest, testing::Values(Door{"Unix", {}, true}),
                         NameOf);
INSTANTIATE_TEST_SUITE_P(Ports, SilentConnectionsTest, testing::ValuesIn(kTcpDoors), NameOf);
INSTANTIATE_TEST_SUITE_P(Ports, SilentTcpConnectionsTest, testing::ValuesIn(kTcpDoors), NameOf);

// Those on the health port, which need no permission, neither.
TEST_F(ConnectionLimitTest, SilentConnectionsToTheHealthPortTakeNoPlaceOnAnother) {
  Start({"--max-connections=100", "--listen-tcp=127.0.0.1:0,roles=reader", "--insecure-tcp",
         "--health-tcp=127.0.0.1:0"});
  const std::vector<int> ports = sidecar_->TcpPorts();
  ASSERT_EQ(ports.size(), 2U);
  for (int i = 0; i < 200; ++i) {
    connections_.push_back(std::make_unique<RawHttp2>(ports[1], RawHttp2::Opening::kNothing));
  }
  EXPECT_TRUE(LastIsClosed());
  SidecarCalls calls(NewTestChannel(absl::StrCat("127.0.0.1:", ports[0])));
  EXPECT_TRUE(calls.Check("bystander", "live").ok());
}

TEST_F(ConnectionLimitTest, ARefusalSaysFromWhereACallCame) {
  Start({"--listen-tcp=127.0.0.1:0,roles=reader", "--insecure-tcp"});
  SidecarCalls calls(NewTestChannel(absl::StrCat("127.0.0.1:", sidecar_->TcpPorts().at(0))));
  EXPECT_TRUE(absl::IsPermissionDenied(calls.CreateContainer("c", -1)));
  EXPECT_SOON(sidecar_->Log(), ContainsRegex("call refused.* peer=[^ ]*127\\.0\\.0\\.1:[0-9]+"));
}

// Neither those who are there lose anything, nor those who come next.
TEST_F(ConnectionLimitTest, ASocketFileThatIsRemovedIsMadeAgainAndTold) {
  Start({});
  std::filesystem::remove(sidecar_->socket_path());
  EXPECT_TRUE(NewcomersAreServed());
  EXPECT_SOON(sidecar_->Log(), HasSubstr("socket file was missing and has been recreated"));
  ExpectServed();
  EXPECT_THAT(sidecar_->Log(), Not(HasSubstr("not ready")));
}

}  // namespace
}  // namespace ttl
