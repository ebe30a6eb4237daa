#include "service/server/metrics/scrape_request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace ttl {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(ScrapeRequestTest, TheFirstLineDecides) {
  const struct {
    std::string received;
    ScrapeRequest expected;
  } kCases[] = {
      {"GET /metrics HTTP/1.1\r\n\r\n", ScrapeRequest::kText},
      {"GET /metrics HTTP/1.0\r\nHost: a\r\nAccept: b\r\n\r\n", ScrapeRequest::kText},
      {"GET /metrics?debug=1 HTTP/1.1\r\n\r\n", ScrapeRequest::kText},
      {"HEAD /metrics HTTP/1.1\r\n\r\n", ScrapeRequest::kHead},
      {"GET http://a:9464/metrics HTTP/1.1\r\n\r\n", ScrapeRequest::kText},
      {"GET http://a/metrics?b HTTP/1.1\r\n\r\n", ScrapeRequest::kText},
      {"GET http://a HTTP/1.1\r\n\r\n", ScrapeRequest::kNotFound},
      {"GET * HTTP/1.1\r\n\r\n", ScrapeRequest::kNotFound},
      {"POST /metrics HTTP/1.1\r\n\r\n", ScrapeRequest::kNotAllowed},
      {"get /metrics HTTP/1.1\r\n\r\n", ScrapeRequest::kNotAllowed},
      {"GET / HTTP/1.1\r\n\r\n", ScrapeRequest::kNotFound},
      {"GET /metrics/ HTTP/1.1\r\n\r\n", ScrapeRequest::kNotFound},
      {"GET /../metrics HTTP/1.1\r\n\r\n", ScrapeRequest::kNotFound},
      {"GET  /metrics HTTP/1.1\r\n\r\n", ScrapeRequest::kBad},
      {"GET /metrics\r\n\r\n", ScrapeRequest::kBad},
      {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", ScrapeRequest::kBad},
      {"\r\n\r\n", ScrapeRequest::kBad},
      {"", ScrapeRequest::kIncomplete},
      {"GET /metrics HTTP/1.1\r\n", ScrapeRequest::kIncomplete},
      {"GET /metrics HTTP/1.1\r\n\r", ScrapeRequest::kIncomplete},
      {std::string(kMaxScrapeHeadBytes - 1, 'x'), ScrapeRequest::kIncomplete},
      {std::string(kMaxScrapeHeadBytes, 'x'), ScrapeRequest::kBad},
  };
  for (const auto& c : kCases) {
    EXPECT_EQ(ReadScrapeRequest(c.received), c.expected) << c.received.substr(0, 60);
  }
}

TEST(ScrapeRequestTest, EveryAnswerSaysHowLongItIsAndEndsTheConnection) {
  for (const ScrapeRequest request :
       {ScrapeRequest::kText, ScrapeRequest::kHead, ScrapeRequest::kBad, ScrapeRequest::kNotFound,
        ScrapeRequest::kNotAllowed}) {
    const std::string answer = MakeScrapeAnswer(request, "x 1\n");
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 "));
    EXPECT_THAT(answer, HasSubstr("\r\nConnection: close\r\n"));
    EXPECT_THAT(answer, HasSubstr("\r\nContent-Length: "));
  }
}

TEST(ScrapeRequestTest, AHeadAnswerIsThatOfGetWithoutTheText) {
  const std::string get = MakeScrapeAnswer(ScrapeRequest::kText, "x 1\n");
  EXPECT_THAT(get, EndsWith("\r\n\r\nx 1\n"));
  EXPECT_EQ(MakeScrapeAnswer(ScrapeRequest::kHead, "x 1\n"), get.substr(0, get.size() - 4));
}

}  // namespace
}  // namespace ttl
