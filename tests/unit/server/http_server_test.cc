#include "service/server/http/http_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "tests/testing/scrape.h"
#include "tests/testing/temp_dir.h"

namespace ttl {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

absl::Status StartAt(const std::string& address, HttpServer::Reach reach) {
  return HttpServer::Start(
             "--flag", address,
             [](absl::string_view, const TlsConnection*) { return std::nullopt; }, reach)
      .status();
}

TEST(HttpServerTest, TheAddressAndNotTheNameDecidesWhetherItIsLoopback) {
  const TempDir directory;
  for (const std::string& address :
       {std::string("127.0.0.1:0"), std::string("127.0.0.2:0"), std::string("[::1]:0"),
        absl::StrCat("unix:", directory.File("s"))}) {
    EXPECT_TRUE(StartAt(address, HttpServer::Reach::kLoopback).ok()) << address;
  }
  for (const std::string address : {"0.0.0.0:0", "[::]:0"}) {
    const absl::Status refused = StartAt(address, HttpServer::Reach::kLoopback);
    EXPECT_TRUE(absl::IsInvalidArgument(refused)) << refused;
    EXPECT_THAT(std::string(refused.message()),
                AllOf(HasSubstr("--flag"), HasSubstr(address), HasSubstr("127.0.0.1")));
    EXPECT_TRUE(StartAt(address, HttpServer::Reach::kAny).ok()) << address;
  }
}

TEST(HttpServerTest, NewConnectionsDoNotEvictThoseWhoseRequestsAreWaiting) {
  const TempDir directory;
  const std::string socket = directory.File("s");
  absl::Notification begun;
  absl::Notification go_on;
  const auto answer = [&](absl::string_view received, const TlsConnection*) {
    if (received == "first") {
      begun.Notify();
      go_on.WaitForNotification();
    }
    return std::optional<HttpAnswer>({.head = "answered"});
  };
  const auto server = HttpServer::Start("--flag", absl::StrCat("unix:", socket), answer);
  ASSERT_TRUE(server.ok()) << server.status();

  // While the server's thread is held up, more connections come than there is room for.
  const auto first = HttpConnection::Open(socket);
  ASSERT_TRUE(first.ok()) << first.status();
  first->Send("first");
  begun.WaitForNotification();
  std::vector<HttpConnection> others;
  for (size_t i = 0; i < 3 * HttpServer::kMaxConnections; ++i) {
    auto connection = HttpConnection::Open(socket);
    ASSERT_TRUE(connection.ok()) << connection.status();
    connection->Send("next");
    others.push_back(*std::move(connection));
  }
  go_on.Notify();
  for (const HttpConnection& other : others) EXPECT_EQ(other.ReadAll(), "answered");
}

}  // namespace
}  // namespace ttl
