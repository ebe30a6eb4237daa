#include "service/server/http/http_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
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

}  // namespace
}  // namespace ttl
