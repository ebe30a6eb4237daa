// Clients that break the limits of FrameGuard: on ports in plain text they are cut off, all others
// stay, log and metrics say why, and who comes again is slowed down. Pings are left out: gRPC ends
// such a connection itself where it can still write to it. See abuse_test.cc for those who do not
// read, and for what is possible where frames are not seen.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "tests/integration/bystander.h"
#include "tests/integration/http2_frames.h"
#include "tests/integration/raw_http2.h"
#include "tests/testing/scrape.h"
#include "tests/testing/sidecar_process.h"
#include "tests/testing/temp_dir.h"
#include "tests/testing/wait.h"

namespace ttl {
namespace {

using testing::HasSubstr;

constexpr char kWatch[] = "/ttl.v1.ContainerService/WatchContainers";
constexpr char kStreams[] = "16";

std::string BeginCall(int i, uint8_t flags = http2::kEndHeaders) {
  return http2::Frame(http2::kHeaders, flags, static_cast<uint32_t>(2 * i + 1),
                      http2::RequestHeaders(kWatch));
}

std::string EndlessHeaderBlock() {
  std::string sent = BeginCall(0, http2::kNone);
  const std::string fields(8000, '\x82');  // ":method: GET", a byte each
  for (int i = 0; i < 5; ++i) {
    sent += http2::Frame(http2::kContinuation, http2::kNone, 1, fields);
  }
  return sent;
}

std::string CallsBeforeSettingsAreAcknowledged() {
  std::string sent;
  for (int i = 0; i < 17; ++i) sent += BeginCall(i);
  return sent;
}

std::string CallsTakenBack() {
  std::string sent = http2::Frame(http2::kSettings, http2::kAck, 0, "");
  // A hundred are allowed in a second; they may be read in more than one.
  for (int i = 0; i < 501; ++i) {
    sent +=
        BeginCall(i) + http2::Frame(http2::kRstStream, http2::kNone,
                                    static_cast<uint32_t>(2 * i + 1), std::string("\0\0\0\x8", 4));
  }
  return sent;
}

// Frames that carry no call. A hundred are allowed in a second; they may be read in more than one.
std::string IdleFrames(http2::Type type, uint8_t flags, size_t payload) {
  // Of a stream that there is not, where that is no error.
  const uint32_t stream = type == http2::kData || type == http2::kPriority ? 1001 : 0;
  std::string sent;
  for (int i = 0; i < 501; ++i) {
    sent += http2::Frame(type, flags, stream, std::string(payload, '\1'));
  }
  return sent;
}

template <http2::Type type, size_t payload>
std::string Idle() {
  return IdleFrames(type, http2::kNone, payload);
}

template <http2::Type type, size_t payload>
std::string Acks() {
  return IdleFrames(type, http2::kAck, payload);
}

struct Violation {
  const char* name;
  std::string (*sent)();
  const char* reason;
};

class ConnectionGuardsTest : public testing::Test {
 protected:
  ConnectionGuardsTest() {
    SidecarProcessOptions options;
    options.dir = dir_.path();
    options.flags = {"--max-streams-per-connection",
                     kStreams,
                     "--listen-tcp",
                     "127.0.0.1:0,roles=reader",
                     "--insecure-tcp",
                     "--health-tcp",
                     "127.0.0.1:0",
                     absl::StrCat("--metrics-listen=unix:", dir_.File("metrics"))};
    sidecar_ = std::make_unique<SidecarProcess>(options);
  }

  void SetUp() override {
    const absl::Status started = sidecar_->Start();
    ASSERT_TRUE(started.ok()) << started;
  }

  double Closed(const std::string& reason) const {
    const absl::StatusOr<Scrape> scrape = Scrape::Get(dir_.File("metrics"));
    if (!scrape.ok()) return -1;
    return scrape->Value(
        absl::StrCat("ttl_sidecar_closed_connections_total{reason=\"", reason, "\"}"));
  }

  const TempDir dir_;
  std::unique_ptr<SidecarProcess> sidecar_;
};

class ViolationTest : public ConnectionGuardsTest, public testing::WithParamInterface<Violation> {};

TEST_P(ViolationTest, WhoBreaksALimitIsCutOffAndAllOthersStay) {
  const std::vector<int> ports = sidecar_->TcpPorts();
  ASSERT_EQ(ports.size(), 2U);
  Bystander bystander(sidecar_->address(), sidecar_->process()->pid());
  RawHttp2 good(sidecar_->socket_path());
  RawHttp2 good_tcp(ports.at(0));
  const std::string sent = GetParam().sent();

  for (const int port : ports) {
    RawHttp2 bad(port);
    ASSERT_TRUE(bad.is_connected());
    bad.Send(sent);
    EXPECT_EQ(bad.ReadGoaway(absl::Seconds(30)), "connection closed");
  }

  const std::string told = absl::StrCat("reason=", GetParam().reason, " closed=2");
  EXPECT_TRUE(WaitUntil([&] { return absl::StrContains(sidecar_->Log(), told); }))
      << sidecar_->Log();
  EXPECT_TRUE(WaitUntil([&] { return Closed(GetParam().reason) == 2; }));
  EXPECT_EQ(good.ReadGoaway(absl::ZeroDuration()), "");
  EXPECT_TRUE(good_tcp.SendPing());
  EXPECT_TRUE(good_tcp.AwaitPong(absl::Seconds(30)));
  const absl::Status served = bystander.AwaitRounds(20);
  EXPECT_TRUE(served.ok()) << served;
  const absl::Status newcomer = bystander.CheckAsNewcomer();
  EXPECT_TRUE(newcomer.ok()) << newcomer;
}

INSTANTIATE_TEST_SUITE_P(
    Violations, ViolationTest,
    testing::Values(Violation{"EndlessHeaderBlock", EndlessHeaderBlock, "header_block_too_large"},
                    Violation{"CallsBeforeSettingsAreAcknowledged",
                              CallsBeforeSettingsAreAcknowledged, "settings_not_acknowledged"},
                    Violation{"CallsTakenBack", CallsTakenBack, "too_many_resets"},
                    Violation{"Windows", Idle<http2::kWindowUpdate, 4>, "too_many_idle_frames"},
                    Violation{"Settings", Idle<http2::kSettings, 0>, "too_many_idle_frames"},
                    Violation{"SettingsAcks", Acks<http2::kSettings, 0>, "too_many_idle_frames"},
                    Violation{"PingAcks", Acks<http2::kPing, 8>, "too_many_idle_frames"},
                    Violation{"Priorities", Idle<http2::kPriority, 5>, "too_many_idle_frames"},
                    Violation{"EmptyData", Idle<http2::kData, 0>, "too_many_idle_frames"},
                    Violation{"UnknownFrames", Idle<http2::kUnknown, 100>, "too_many_idle_frames"},
                    Violation{"Goaways", Idle<http2::kGoaway, 8>, "too_many_idle_frames"}),
    [](const testing::TestParamInfo<Violation>& info) { return info.param.name; });

// Each of those who come again floods too: what is counted is how often that is possible.
TEST_F(ConnectionGuardsTest, WhoWasCutOffComesAgainAtAPace) {
  const int port = sidecar_->TcpPorts().at(1);
  const std::string sent = Idle<http2::kWindowUpdate, 4>();
  const absl::Time start = absl::Now();
  for (int i = 0; i < 40; ++i) {
    RawHttp2 bad(port);
    bad.Send(sent);
    ASSERT_EQ(bad.ReadGoaway(absl::Seconds(30)), "connection closed") << i;
  }
  const double seconds = absl::ToDoubleSeconds(absl::Now() - start);
  const auto all_are_counted = [&] {
    return Closed("too_many_idle_frames") + Closed("too_many_reconnects") == 40;
  };
  EXPECT_TRUE(WaitUntil(all_are_counted)) << Closed("too_many_idle_frames");
  EXPECT_LE(Closed("too_many_idle_frames"), 1 + 5 * (seconds + 2));
  EXPECT_GT(Closed("too_many_reconnects"), 0);
}

}  // namespace
}  // namespace ttl
