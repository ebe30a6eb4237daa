// The status page of a sidecar as a real process, over real sockets.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "service/server/http/http_request.h"
#include "service/server/http/http_server.h"
#include "tests/integration/sidecar_calls.h"
#include "tests/testing/rpc_matchers.h"
#include "tests/testing/scrape.h"
#include "tests/testing/sidecar_process.h"
#include "tests/testing/temp_dir.h"

namespace ttl {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr absl::string_view kGetStatus = "GET /status.json HTTP/1.1\r\nHost: localhost\r\n\r\n";

class StatusPageProcessTest : public testing::Test {
 protected:
  absl::Status Start(const std::string& page) {
    SidecarProcessOptions options;
    options.dir = dir_.path();
    options.name = absl::StrCat("sidecar", ++starts_);
    options.flags = {absl::StrCat("--status-page=", page)};
    sidecar_.emplace(options);
    return sidecar_->Start();
  }

  // The port that the page has logged.
  std::string Port() const {
    const std::string log = sidecar_->Log();
    const size_t line = log.find("msg=\"status page\"");
    if (line == std::string::npos) return "";
    const size_t port = log.find(" port=", line) + 6;
    return log.substr(port, log.find('\n', port) - port);
  }

  std::string Exchange(const std::string& address, absl::string_view request) const {
    return HttpExchange(address, request).value_or("not connected");
  }

  const TempDir dir_;
  int starts_ = 0;
  std::optional<SidecarProcess> sidecar_;
};

TEST_F(StatusPageProcessTest, ServesTheNumbersOfTheSidecarOnLoopback) {
  for (const char* address : {"127.0.0.1:0", "localhost:0"}) {
    ASSERT_THAT(Start(address), IsOk());
    SidecarCalls calls(sidecar_->channel());
    ASSERT_THAT(calls.CreateContainer("c", 3600), IsOk());
    ASSERT_THAT(calls.Track("c", "a", absl::ToUnixSeconds(absl::Now())), IsOk());
    ASSERT_THAT(calls.Pause("c", "why not"), IsOk());
    const std::string status = Exchange(Port(), kGetStatus);
    EXPECT_THAT(status, StartsWith("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"));
    EXPECT_THAT(status, HasSubstr("\"tracked_items\":\"1\""));
    EXPECT_THAT(status, HasSubstr("\"reason\":\"why not\""));
    const std::string item = Exchange(
        Port(),
        "GET /explain.json?container=c&partition_key=a&id=a HTTP/1.1\r\nHost: localhost\r\n\r\n");
    EXPECT_THAT(item, HasSubstr("\"explanation\":\""));
    sidecar_.reset();
  }
}

TEST_F(StatusPageProcessTest, ServesOnAUnixSocketOfItsOwn) {
  const std::string path = dir_.File("page.sock");
  ASSERT_THAT(Start(absl::StrCat("unix:", path)), IsOk());
  struct stat info = {};
  ASSERT_EQ(stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0660u);
  EXPECT_THAT(Exchange(path, "GET / HTTP/1.1\r\nHost: any.name\r\n\r\n"),
              HasSubstr("<title>ttl-sidecar</title>"));
  // Nothing of gRPC's is here.
  EXPECT_THAT(Exchange(path, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), StartsWith("HTTP/1.1 400 "));
}

TEST_F(StatusPageProcessTest, IsOffByDefault) {
  SidecarProcessOptions options;
  options.dir = dir_.path();
  sidecar_.emplace(options);
  ASSERT_THAT(sidecar_->Start(), IsOk());
  EXPECT_EQ(Port(), "");
}

TEST_F(StatusPageProcessTest, AnAddressThatOthersCanReachIsRefusedWithoutTls) {
  for (const char* address : {"0.0.0.0:0", "[::]:0", "192.0.2.1:9465", "example.com:9465"}) {
    EXPECT_FALSE(Start(address).ok()) << address;
    EXPECT_THAT(sidecar_->Log(), HasSubstr("clients need certificates with the role reader"))
        << address;
    sidecar_.reset();
  }
}

TEST_F(StatusPageProcessTest, AnAddressInUseFailsTheStartByName) {
  ASSERT_THAT(Start("127.0.0.1:0"), IsOk());
  SidecarProcessOptions options;
  options.dir = dir_.path();
  options.name = "second";
  options.flags = {absl::StrCat("--status-page=127.0.0.1:", Port())};
  SidecarProcess second(options);
  EXPECT_FALSE(second.Start().ok());
  EXPECT_THAT(second.Log(), HasSubstr("--status-page: cannot listen on 127.0.0.1:"));
}

TEST_F(StatusPageProcessTest, AnotherHostGetsNothing) {
  ASSERT_THAT(Start("127.0.0.1:0"), IsOk());
  for (const char* target : {"/", "/status.json", "/explain.json?container=c&id=a"}) {
    const std::string answer = Exchange(
        Port(), absl::StrCat("GET ", target, " HTTP/1.1\r\nHost: rebound.example\r\n\r\n"));
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 421 ")) << target;
  }
}

TEST_F(StatusPageProcessTest, HeadHasNoBody) {
  ASSERT_THAT(Start("127.0.0.1:0"), IsOk());
  const std::string answer = Exchange(Port(), "HEAD / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 "));
  EXPECT_TRUE(absl::EndsWith(answer, "\r\n\r\n"));
}

TEST_F(StatusPageProcessTest, ARequestThatIsTooLongIsAnsweredWhateverFollows) {
  ASSERT_THAT(Start("127.0.0.1:0"), IsOk());
  const std::string endless =
      absl::StrCat("GET / HTTP/1.1\r\nX: ", std::string(kMaxHttpHeadBytes, 'x'));
  EXPECT_THAT(Exchange(Port(), endless), StartsWith("HTTP/1.1 431 "));
  // Nor is a body read.
  const std::string with_body =
      absl::StrCat("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n",
                   std::string(100000, 'x'));
  EXPECT_THAT(Exchange(Port(), with_body), StartsWith("HTTP/1.1 405 "));
}

TEST_F(StatusPageProcessTest, ClientsThatHangKeepNobodyOutAndAreDropped) {
  ASSERT_THAT(Start("127.0.0.1:0"), IsOk());
  std::vector<HttpConnection> hanging;
  for (size_t i = 0; i < 2 * HttpServer::kMaxConnections; ++i) {
    auto connection = HttpConnection::Open(Port());
    ASSERT_TRUE(connection.ok()) << connection.status();
    connection->Send("GET /status.json HT");
    hanging.push_back(*std::move(connection));
  }
  EXPECT_THAT(Exchange(Port(), kGetStatus), StartsWith("HTTP/1.1 200 "));
  EXPECT_EQ(hanging.back().ReadAll(), "");
}

TEST_F(StatusPageProcessTest, TheSidecarStopsWhileAPageIsOpen) {
  ASSERT_THAT(Start("127.0.0.1:0"), IsOk());
  const auto open = HttpConnection::Open(Port());
  ASSERT_TRUE(open.ok());
  open->Send("GET /");
  EXPECT_THAT(sidecar_->Stop(), IsOk());
}

}  // namespace
}  // namespace ttl
