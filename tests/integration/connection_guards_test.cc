// Clients that break the limits of FrameGuard: over plain sockets and behind TLS they are cut
// off, all others stay, and log and metrics say why. Pings are left out: gRPC ends such a
// connection itself where it can still write to it. See abuse_test.cc for those who do not read.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "tests/integration/bystander.h"
#include "tests/integration/http2_frames.h"
#include "tests/integration/raw_http2.h"
#include "tests/integration/raw_tls.h"
#include "tests/testing/certificates.h"
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

struct Violation {
  const char* name;
  std::string (*sent)();
  const char* reason;
};

class ConnectionGuardsTest : public testing::TestWithParam<Violation> {
 protected:
  ConnectionGuardsTest() {
    const TestIdentity server = TestCa("servers").Issue({.common_name = "sidecar"});
    ReplaceFile(dir_.File("key"), server.key);
    ReplaceFile(dir_.File("cert"), server.cert);
    SidecarProcessOptions options;
    options.dir = dir_.path();
    options.flags = {"--max-streams-per-connection",
                     kStreams,
                     "--listen-tcp",
                     "127.0.0.1:0,roles=reader",
                     "--tls-cert-file",
                     dir_.File("cert"),
                     "--tls-key-file",
                     dir_.File("key"),
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

TEST_P(ConnectionGuardsTest, WhoBreaksALimitIsCutOffAndAllOthersStay) {
  const int port = sidecar_->TcpPorts().at(0);
  Bystander bystander(sidecar_->address(), sidecar_->process()->pid());
  RawHttp2 good(sidecar_->socket_path());
  RawTls good_tls(port);
  ASSERT_TRUE(good_tls.is_connected());
  const std::string sent = GetParam().sent();

  RawHttp2 bad(sidecar_->socket_path());
  bad.Send(sent);
  EXPECT_EQ(bad.ReadGoaway(absl::Seconds(30)), "connection closed");
  RawTls bad_tls(port);
  ASSERT_TRUE(bad_tls.is_connected());
  bad_tls.Send(sent);
  EXPECT_TRUE(bad_tls.AwaitEnd());

  EXPECT_THAT(sidecar_->Log(), HasSubstr(absl::StrCat("reason=", GetParam().reason, " closed=2")));
  EXPECT_TRUE(WaitUntil([&] { return Closed(GetParam().reason) == 2; }));
  EXPECT_EQ(good.ReadGoaway(absl::ZeroDuration()), "");
  EXPECT_TRUE(good_tls.Send(BeginCall(0)));
  const absl::Status served = bystander.AwaitRounds(20);
  EXPECT_TRUE(served.ok()) << served;
  const absl::Status newcomer = bystander.CheckAsNewcomer();
  EXPECT_TRUE(newcomer.ok()) << newcomer;
}

INSTANTIATE_TEST_SUITE_P(
    Violations, ConnectionGuardsTest,
    testing::Values(Violation{"EndlessHeaderBlock", EndlessHeaderBlock, "header_block_too_large"},
                    Violation{"CallsBeforeSettingsAreAcknowledged",
                              CallsBeforeSettingsAreAcknowledged, "settings_not_acknowledged"},
                    Violation{"CallsTakenBack", CallsTakenBack, "too_many_resets"}),
    [](const testing::TestParamInfo<Violation>& info) { return info.param.name; });

}  // namespace
}  // namespace ttl
