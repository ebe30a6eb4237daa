#include "service/server/http/http_request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"

namespace ttl {
namespace {

using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

std::string WithHost(absl::string_view line) {
  return absl::StrCat(line, "\r\nHost: localhost\r\n\r\n");
}

TEST(HttpRequestTest, AHeadIsReadWhole) {
  const auto request =
      ReadHttpRequest("GET /a.json?b=c?d HTTP/1.1\r\nHOST:  x:1 \r\nA: 1\r\na: 2\r\n\r\nbody");
  ASSERT_TRUE(request.ok()) << request.status();
  ASSERT_TRUE(request->has_value());
  EXPECT_EQ((*request)->method, "GET");
  EXPECT_EQ((*request)->path, "/a.json");
  EXPECT_EQ((*request)->query, "b=c?d");
  EXPECT_EQ((*request)->Header("host"), "x:1");
  EXPECT_EQ((*request)->Header("a"), "1");
  EXPECT_EQ((*request)->Header("none"), "");
}

TEST(HttpRequestTest, WhatIsNotCompleteIsWaitedFor) {
  for (const std::string& received :
       {std::string(), std::string("GET / HTTP/1.1\r\nHost: a\r\n"),
        std::string("GET / HTTP/1.1\r\nHost: a\r\n\r"), std::string(kMaxHttpHeadBytes - 1, 'x')}) {
    const auto request = ReadHttpRequest(received);
    ASSERT_TRUE(request.ok()) << request.status();
    EXPECT_FALSE(request->has_value()) << received.substr(0, 40);
  }
}

TEST(HttpRequestTest, OnlyPathsOverHttp1WithOneHostAreRead) {
  const struct {
    std::string received;
    std::string complaint;
  } kCases[] = {
      {WithHost("GET /"), "HTTP/1.1"},
      {WithHost("GET  / HTTP/1.1"), "HTTP/1.1"},
      {WithHost("PRI * HTTP/2.0"), "HTTP/1.1"},
      {WithHost("GET ftp://localhost/ HTTP/1.1"), "must be a path"},
      {WithHost("GET https:/// HTTP/1.1"), "must be a path"},
      {WithHost("GET http:/// HTTP/1.1"), "must be a path"},
      {WithHost("GET http://?a HTTP/1.1"), "must be a path"},
      {"GET http://localhost/ HTTP/1.1\r\n\r\n", "Host is not given"},
      {WithHost("OPTIONS * HTTP/1.1"), "must be a path"},
      {"GET / HTTP/1.1\r\n\r\n", "Host is not given"},
      {"GET / HTTP/1.1\r\nHost: a\r\nhost: b\r\n\r\n", "Host is given twice"},
      {"GET / HTTP/1.1\r\nHost : a\r\n\r\n", "NAME: VALUE"},
      {"GET / HTTP/1.1\r\nHost: a\r\n folded\r\n\r\n", "NAME: VALUE"},
      {"GET / HTTP/1.1\r\nHost: a\r\nnothing\r\n\r\n", "NAME: VALUE"},
  };
  for (const auto& c : kCases) {
    const auto request = ReadHttpRequest(c.received);
    EXPECT_TRUE(absl::IsInvalidArgument(request.status())) << c.received;
    EXPECT_THAT(std::string(request.status().message()), HasSubstr(c.complaint));
  }
  EXPECT_TRUE(ReadHttpRequest("GET / HTTP/1.0\r\n\r\n").ok());
}

TEST(HttpRequestTest, TheAuthorityOfAnAbsoluteTargetReplacesHost) {
  const struct {
    std::string target;
    std::string host;
    std::string path;
    std::string query;
  } kCases[] = {{"http://127.0.0.1/", "127.0.0.1", "/", ""},
                {"http://evil.example:80/a.json?b=/c?d", "evil.example:80", "/a.json", "b=/c?d"},
                {"HTTP://[::1]:1", "[::1]:1", "/", ""},
                {"https://sidecar.example/a?b", "sidecar.example", "/a", "b"},
                {"http://a?b/c", "a", "/", "b/c"},
                {"http://localhost@b/", "localhost@b", "/", ""},
                {"/http://a/", "localhost", "/http://a/", ""}};
  for (const auto& c : kCases) {
    const auto request = ReadHttpRequest(WithHost(absl::StrCat("GET ", c.target, " HTTP/1.1")));
    ASSERT_TRUE(request.ok()) << request.status();
    EXPECT_EQ((*request)->Header("host"), c.host) << c.target;
    EXPECT_EQ((*request)->path, c.path) << c.target;
    EXPECT_EQ((*request)->query, c.query) << c.target;
  }
}

TEST(HttpRequestTest, ALongHeadIsRefusedCompleteOrNot) {
  const std::string endless(kMaxHttpHeadBytes, 'x');
  const std::string complete = absl::StrCat("GET /", endless, " HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_TRUE(absl::IsResourceExhausted(ReadHttpRequest(endless).status()));
  EXPECT_TRUE(absl::IsResourceExhausted(ReadHttpRequest(complete).status()));
  // A body does not count.
  EXPECT_TRUE(ReadHttpRequest(absl::StrCat(WithHost("GET / HTTP/1.1"), endless)).ok());
}

TEST(HttpQueryTest, ValuesAreBytes) {
  const auto fields = ReadHttpQuery("a=%00%ff%2B+&&b=%C3%a9=&c");
  ASSERT_TRUE(fields.ok()) << fields.status();
  EXPECT_THAT(*fields, UnorderedElementsAre(Pair("a", std::string("\0\xff++", 4)),
                                            Pair("b", "\xc3\xa9="), Pair("c", "")));
}

TEST(HttpQueryTest, BrokenEscapesAndNamesGivenTwiceAreRefused) {
  for (const char* query : {"a=%", "a=%4", "a=%4g", "%zz=1", "a=1&a=2", "a=1&%61=2"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(ReadHttpQuery(query).status())) << query;
  }
}

TEST(LoopbackTest, OnlyTheNamesThatCannotBeReboundAreLoopback) {
  for (const char* authority : {"127.0.0.1", "127.0.0.1:80", "localhost:9465", "LocalHost", "[::1]",
                                "[::1]:65535", "localhost:"}) {
    EXPECT_TRUE(IsLoopbackAuthority(authority)) << authority;
  }
  for (const char* authority :
       {"", ":80", "evil.example", "evil.example:9465", "localhost.evil.example", "localhost.",
        "127.0.0.1.evil.example:1", "a@localhost", "localhost:80:80", "localhost:x", "::1", "[::1",
        "[::1]x", "[::1]:1x", "0.0.0.0:1", "127.0.0.2:1", "localhost:655350"}) {
    EXPECT_FALSE(IsLoopbackAuthority(authority)) << authority;
  }
}

}  // namespace
}  // namespace ttl
