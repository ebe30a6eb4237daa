#include "service/server/metrics/metrics_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <atomic>
#include <filesystem>
#include <functional>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "tests/testing/scrape.h"
#include "tests/testing/temp_dir.h"
#include "tests/testing/wait.h"

namespace ttl {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr absl::string_view kGet = "GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n";

// Whether an attempt takes less than `limit`; a machine that stands still may spoil one or
// two, but a server that waits for what it should not spoils all.
bool IsFaster(absl::Duration limit, const std::function<void()>& attempt) {
  for (int i = 0; i < 5; ++i) {
    const absl::Time start = absl::Now();
    attempt();
    if (absl::Now() - start < limit) return true;
  }
  return false;
}

// A server on a free port of loopback, with a text of its own.
class MetricsServerTest : public testing::Test {
 protected:
  void Start(std::string text = "x 1\n") {
    auto server = MetricsServer::Start("--metrics-listen", "127.0.0.1:0", [this, text] {
      ++made_;
      return text;
    });
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
    port_ = absl::StrCat(server_->port());
  }
  std::string Exchange(absl::string_view request) const {
    return HttpExchange(port_, request).value_or("not connected");
  }

  std::unique_ptr<MetricsServer> server_;
  std::string port_;
  std::atomic<int> made_ = 0;
};

TEST_F(MetricsServerTest, AnswersWithTheText) {
  Start();
  const std::string answer = Exchange(kGet);
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(answer, HasSubstr("Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n"));
  EXPECT_THAT(answer, HasSubstr("Content-Length: 4\r\n"));
  EXPECT_THAT(answer, EndsWith("\r\n\r\nx 1\n"));
}

TEST_F(MetricsServerTest, ATextLargerThanAnyBufferComesWhole) {
  const std::string text(size_t{32} << 20, 'x');
  Start(text);
  EXPECT_THAT(Exchange(kGet), EndsWith(text));
}

TEST_F(MetricsServerTest, ARequestInPiecesIsUnderstood) {
  Start();
  const auto connection = HttpConnection::Open(port_);
  ASSERT_TRUE(connection.ok());
  for (const char c : kGet) connection->Send(absl::string_view(&c, 1));
  EXPECT_THAT(connection->ReadAll(), EndsWith("x 1\n"));
}

TEST_F(MetricsServerTest, WhatIsNoScrapeIsRefused) {
  Start();
  EXPECT_THAT(Exchange("GET / HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 404 "));
  EXPECT_THAT(Exchange("POST /metrics HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 405 "));
  EXPECT_THAT(Exchange("\x16\x03\x01 garbage\r\n\r\n"), StartsWith("HTTP/1.1 400 "));
  EXPECT_EQ(made_, 0);
}

TEST_F(MetricsServerTest, AHeadWithoutEndIsNotReadForEver) {
  Start();
  const std::string endless =
      absl::StrCat("GET /metrics HTTP/1.1\r\nX: ", std::string(1 << 20, 'x'));
  // The rest of the head may be lost with the connection, and the answer with it.
  Exchange(endless);
  EXPECT_THAT(Exchange(kGet), EndsWith("x 1\n"));
  EXPECT_EQ(made_, 1);
}

TEST_F(MetricsServerTest, WhoGoesOnSendingAfterTheAnswerIsDropped) {
  Start();
  const auto connection = HttpConnection::Open(port_);
  ASSERT_TRUE(connection.ok());
  connection->Send(kGet);
  EXPECT_THAT(connection->ReadAll(), EndsWith("x 1\n"));
  // More than the buffers of both sockets hold.
  constexpr size_t kEndless = size_t{64} << 20;
  EXPECT_LT(connection->Send(std::string(kEndless, 'x')), kEndless / 2);
}

TEST_F(MetricsServerTest, ARefusedHeadIsAnsweredWithoutBody) {
  Start();
  for (const absl::string_view request : {"HEAD / HTTP/1.1\r\n\r\n", "HEAD /metrics\r\n\r\n"}) {
    const std::string answer = Exchange(request);
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 40")) << request;
    EXPECT_THAT(answer, EndsWith("\r\n\r\n")) << request;
  }
}

TEST_F(MetricsServerTest, HundredsWhoHangKeepNobodyOut) {
  Start();
  std::vector<HttpConnection> hanging;
  const auto hang = [&] {
    for (int i = 0; i < 300; ++i) {
      auto connection = HttpConnection::Open(port_);
      ASSERT_TRUE(connection.ok()) << connection.status();
      if (i % 2 == 0) connection->Send("GET /metr");
      hanging.push_back(*std::move(connection));
    }
  };
  EXPECT_TRUE(IsFaster(MetricsServer::kPatience, [&] {
    hang();
    EXPECT_THAT(Exchange(kGet), EndsWith("x 1\n"));
  }));
}

TEST_F(MetricsServerTest, WhoHangsIsDroppedInTheEnd) {
  Start();
  const absl::Time start = absl::Now();
  const auto connection = HttpConnection::Open(port_);
  ASSERT_TRUE(connection.ok());
  EXPECT_EQ(connection->ReadAll(), "");
  EXPECT_GE(absl::Now() - start, MetricsServer::kPatience - absl::Milliseconds(100));
}

TEST_F(MetricsServerTest, WhoReadsNothingKeepsNobodyOut) {
  Start(std::string(size_t{32} << 20, 'x'));
  std::vector<HttpConnection> silent;
  for (int i = 0; i < 3; ++i) {
    auto connection = HttpConnection::Open(port_);
    ASSERT_TRUE(connection.ok());
    connection->Send(kGet);
    silent.push_back(*std::move(connection));
  }
  EXPECT_THAT(Exchange(kGet), StartsWith("HTTP/1.1 200 OK\r\n"));
}

TEST_F(MetricsServerTest, ACrowdCostsNoMoreThanOne) {
  Start();
  const absl::Time start = absl::Now();
  std::vector<std::thread> crowd;
  for (int i = 0; i < 20; ++i) {
    crowd.emplace_back([this] {
      for (int k = 0; k < 10; ++k) EXPECT_THAT(Exchange(kGet), EndsWith("x 1\n"));
    });
  }
  for (std::thread& one : crowd) one.join();
  EXPECT_LE(made_, (absl::Now() - start) / MetricsServer::kMaxAge + 1);
}

TEST_F(MetricsServerTest, StopsAtOnceWhoeverIsThere) {
  EXPECT_TRUE(IsFaster(absl::Seconds(2), [&] {
    Start();
    const auto connection = HttpConnection::Open(port_);
    ASSERT_TRUE(connection.ok());
    connection->Send("GET");
    server_.reset();
    EXPECT_FALSE(HttpConnection::Open(port_).ok());
  }));
}

TEST_F(MetricsServerTest, AnAddressInUseIsRefusedByName) {
  Start();
  const std::string address = absl::StrCat("127.0.0.1:", port_);
  const auto second = MetricsServer::Start("--metrics-listen", address, [] { return ""; });
  EXPECT_TRUE(absl::IsUnavailable(second.status()));
  EXPECT_THAT(second.status().message(), HasSubstr(address));
}

TEST(MetricsServerAddressTest, AHostThatDoesNotExistIsRefused) {
  const auto server =
      MetricsServer::Start("--metrics-listen", "no.such.host.invalid:9", [] { return ""; });
  EXPECT_TRUE(absl::IsInvalidArgument(server.status())) << server.status();
}

TEST(MetricsServerAddressTest, ServesOnIpv6) {
  const auto server = MetricsServer::Start("--metrics-listen", "[::1]:0", [] { return "x 1\n"; });
  ASSERT_TRUE(server.ok()) << server.status();
  EXPECT_GT((*server)->port(), 0);
}

TEST(MetricsServerAddressTest, ServesOnAUnixSocketThatIsGoneAfterwards) {
  const TempDir directory;
  const std::string path = directory.File("metrics.sock");
  {
    const auto server = MetricsServer::Start("--metrics-listen", absl::StrCat("unix:", path),
                                             [] { return "x 1\n"; });
    ASSERT_TRUE(server.ok()) << server.status();
    struct stat info = {};
    ASSERT_EQ(stat(path.c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0660u);
    EXPECT_THAT(HttpExchange(path, kGet).value_or(""), EndsWith("x 1\n"));
    const auto second =
        MetricsServer::Start("--metrics-listen", absl::StrCat("unix:", path), [] { return ""; });
    EXPECT_TRUE(absl::IsFailedPrecondition(second.status())) << second.status();
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(MetricsServerAddressTest, ASocketFileThatWasRemovedIsMadeAgain) {
  const TempDir directory;
  const std::string path = directory.File("metrics.sock");
  const auto server =
      MetricsServer::Start("--metrics-listen", absl::StrCat("unix:", path), [] { return "x 1\n"; });
  ASSERT_TRUE(server.ok()) << server.status();
  std::filesystem::remove(path);
  const auto is_served = [&] {
    return absl::EndsWith(HttpExchange(path, kGet).value_or(""), "x 1\n");
  };
  EXPECT_TRUE(WaitUntil(is_served, absl::Seconds(20)));
}

}  // namespace
}  // namespace ttl
