#include "service/server/page/status_page.h"

#include <gmock/gmock.h>
#include <google/protobuf/util/json_util.h>
#include <gtest/gtest.h>
#include <openssl/sha.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/time/clock.h"
#include "service/server/page/page_files.h"

namespace ttl {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// A page over calls that note what they are asked.
class StatusPageTest : public testing::Test {
 protected:
  StatusPage::Calls Calls() {
    return {
        .get =
            [this](const v1::GetExpiryStatusRequest& request, v1::GetExpiryStatusResponse& answer) {
              asked_.push_back(absl::StrCat("get ", request.container()));
              answer.mutable_container()->set_container(request.container());
              answer.mutable_sidecar()->mutable_clock()->mutable_now()->set_seconds(1000);
              return status_;
            },
        .list =
            [this](const v1::ListExpiryStatusesRequest& request,
                   v1::ListExpiryStatusesResponse& answer) {
              asked_.push_back(
                  absl::StrCat("list ", request.page_size(), " ", request.page_token()));
              answer.add_containers()->set_backlog(int64_t{1} << 60);
              return status_;
            },
        .stuck =
            [this](const v1::ListStuckItemsRequest& request, v1::ListStuckItemsResponse& answer) {
              asked_.push_back(absl::StrCat("stuck ", request.container()));
              answer.add_items()->set_id("\xff");
              return status_;
            },
        .explain =
            [this](const v1::ExplainItemRequest& request, v1::ExplainItemResponse& answer) {
              asked_.push_back(absl::StrCat("explain ", request.container(), " ",
                                            absl::CHexEscape(request.partition_key()), " ",
                                            absl::CHexEscape(request.id())));
              answer.set_explanation("it is not due");
              return status_;
            },
        .forecast =
            [this](const v1::GetForecastRequest& request, v1::GetForecastResponse& answer) {
              asked_.push_back(absl::StrCat("forecast ", request.ShortDebugString()));
              answer.add_steps()->set_items((int64_t{1} << 60) + 1);
              return status_;
            },
        .reconciliation =
            [this](const v1::GetReconciliationRequest&, v1::GetReconciliationResponse& answer) {
              if (!reconciliation_.ok()) return reconciliation_;
              answer.mutable_reconciliation()->set_containers_total(7);
              return absl::OkStatus();
            },
        .holds =
            [this](const v1::ListHoldsRequest& request, v1::ListHoldsResponse& answer) {
              asked_.push_back(absl::StrCat("holds ", request.container(), " ", request.page_size(),
                                            request.page_token()));
              answer.add_holds()->set_all_items(true);
              return status_;
            }};
  }

  std::string Exchange(StatusPage& page, absl::string_view request) const {
    const auto answer = page.Answer(request);
    if (!answer.has_value()) return "incomplete";
    return absl::StrCat(answer->head, answer->body == nullptr ? "" : *answer->body);
  }
  // As a browser on this machine asks.
  std::string Get(absl::string_view target, absl::string_view more = "") {
    return Exchange(
        page_, absl::StrCat("GET ", target, " HTTP/1.1\r\nHost: localhost:8080\r\n", more, "\r\n"));
  }

  std::vector<std::string> asked_;
  absl::Status status_;
  absl::Status reconciliation_;
  StatusPage page_{Calls(), StatusPage::Hosts::kLoopback};
};

TEST_F(StatusPageTest, ServesThePageWithStyleAndScriptInside) {
  const std::string answer = Get("/");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n"));
  EXPECT_THAT(answer, HasSubstr(absl::StrCat("<style>", PageStyle(), "</style>")));
  EXPECT_THAT(answer, HasSubstr(absl::StrCat("<script>", PageScript(), "</script>")));
  EXPECT_TRUE(asked_.empty());
}

// The text between two marks, which occur once each.
std::string Between(const std::string& text, const std::string& begin, const std::string& end) {
  const size_t start = text.find(begin) + begin.size();
  EXPECT_EQ(text.find(begin, start), std::string::npos) << begin;
  return text.substr(start, text.find(end, start) - start);
}

std::string HashOf(const std::string& text) {
  unsigned char hash[SHA256_DIGEST_LENGTH];
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), hash);
  return absl::Base64Escape(
      absl::string_view(reinterpret_cast<const char*>(hash), SHA256_DIGEST_LENGTH));
}

TEST_F(StatusPageTest, ThePolicyAllowsTheScriptAndTheStyleOfThePageAndNothingElse) {
  const std::string answer = Get("/");
  const std::string expected = absl::StrCat(
      "\r\nContent-Security-Policy: default-src 'none'; connect-src 'self'; script-src 'sha256-",
      HashOf(Between(answer, "<script>", "</script>")), "'; style-src 'sha256-",
      HashOf(Between(answer, "<style>", "</style>")),
      "'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'\r\n");
  EXPECT_THAT(answer, HasSubstr(expected));
}

TEST_F(StatusPageTest, ThePageNeedsNothingFromElsewhereAndHasNoStyleAttributes) {
  const std::string answer = Get("/");
  // The name of SVG is no address.
  const std::string html = absl::StrReplaceAll(answer.substr(answer.find("\r\n\r\n")),
                                               {{"http://www.w3.org/2000/svg", ""}});
  for (const char* bad : {" style=", "src=", "://", "@import", "url(", "innerHTML", "outerHTML",
                          "insertAdjacentHTML", "document.write", "eval(", ".style"}) {
    const size_t found = html.find(bad);
    EXPECT_EQ(found, std::string::npos) << bad;
  }
}

TEST_F(StatusPageTest, EveryAnswerHasTheHeadersThatProtectIt) {
  status_ = absl::InternalError("x");
  for (const char* target : {"/", "/none", "/status.json", "/explain.json"}) {
    const std::string answer = Get(target);
    for (const char* header :
         {"Cache-Control: no-store", "Content-Security-Policy: default-src 'none';",
          "X-Content-Type-Options: nosniff", "Referrer-Policy: no-referrer",
          "Cross-Origin-Resource-Policy: same-origin", "Connection: close"}) {
      EXPECT_THAT(answer, HasSubstr(absl::StrCat("\r\n", header))) << target;
    }
  }
}

TEST_F(StatusPageTest, StatusesAreListedInPages) {
  EXPECT_THAT(Get("/status.json"), HasSubstr("\"backlog\":\"1152921504606846976\""));
  Get("/status.json?page_token=x%3D");
  EXPECT_THAT(asked_, ElementsAre("list 250 ", "list 250 x="));
}

TEST_F(StatusPageTest, OneContainerIsAskedForByName) {
  EXPECT_THAT(Get("/status.json?container=a%2Fb%26c"), HasSubstr("\"container\":\"a/b&c\""));
  Get("/stuck.json?container=c");
  Get("/holds.json?container=c");
  EXPECT_THAT(asked_, ElementsAre("get a/b&c", "stuck c", "holds c 20"));
}

TEST_F(StatusPageTest, KeysOfItemsAreBytes) {
  EXPECT_THAT(Get("/explain.json?container=c&partition_key=%00%FF&id=%3C"),
              HasSubstr("\"explanation\":\"it is not due\""));
  EXPECT_THAT(Get("/stuck.json?container=c"), HasSubstr("\"id\":\"/w==\""));
  EXPECT_THAT(asked_, ElementsAre("explain c \\x00\\xff <", "stuck c"));
}

TEST_F(StatusPageTest, AForecastEndsByTheClockOfTheSidecar) {
  EXPECT_THAT(Get("/forecast.json?container=a%2Fb&seconds=3600&step=300"),
              HasSubstr("\"items\":\"1152921504606846977\""));
  Get("/forecast.json?container=c");
  EXPECT_THAT(
      asked_,
      ElementsAre("get ",
                  "forecast container: \"a/b\" until { seconds: 4600 } step { seconds: 300 }",
                  "forecast container: \"c\""));
}

TEST_F(StatusPageTest, AForecastWithoutAClockToEndByIsAnError) {
  status_ = absl::UnavailableError("the clock cannot be read");
  EXPECT_THAT(Get("/forecast.json?container=c&seconds=60"), StartsWith("HTTP/1.1 503 "));
  EXPECT_THAT(asked_, ElementsAre("get "));
}

TEST_F(StatusPageTest, SecondsOfAForecastAreWholeNumbersFromOne) {
  for (const char* value :
       {"", "0", "-1", "%2B1", "%201", "1.5", "1h", "2147483648", "99999999999999999999"}) {
    for (const char* name : {"seconds", "step"}) {
      const std::string target = absl::StrCat("/forecast.json?container=c&", name, "=", value);
      const std::string answer = Get(target);
      EXPECT_THAT(answer, StartsWith("HTTP/1.1 400 ")) << target;
      EXPECT_THAT(answer, HasSubstr(absl::StrCat("\n", name, " is \""))) << target;
      EXPECT_THAT(answer, HasSubstr("\": must be a whole number from 1 to 2147483647\n"));
    }
  }
  EXPECT_TRUE(asked_.empty());
  EXPECT_THAT(Get("/forecast.json?container=c&seconds=2147483647&step=2147483647"),
              StartsWith("HTTP/1.1 200 "));
}

TEST_F(StatusPageTest, WrongFieldsAreRefusedByName) {
  const struct {
    std::string target;
    std::string complaint;
  } kCases[] = {
      {"/status.json?contaner=c", "\"contaner\" is not known: give container, page_token"},
      {"/status.json?container=", "container is not given"},
      {"/status.json?container=c&page_token=t", "\"page_token\" is not known: give container"},
      {"/stuck.json", "container is not given"},
      {"/holds.json", "container is not given"},
      {"/explain.json?container=c", "id is not given"},
      {"/explain.json?id=i", "container is not given"},
      {"/explain.json?container=c&id=i&x=",
       "\"x\" is not known: give container, partition_key, id"},
      {"/explain.json?container=c&id=%4", "begins no escape"},
      {"/forecast.json?seconds=60", "container is not given"},
      {"/forecast.json?container=c&until=9",
       "\"until\" is not known: give container, seconds, step"},
      {"/reconciliation.json?x=1", "\"x\" is not known: give none"},
  };
  for (const auto& c : kCases) {
    const std::string answer = Get(c.target);
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 400 ")) << c.target;
    EXPECT_THAT(answer, HasSubstr(c.complaint)) << c.target;
  }
  EXPECT_TRUE(asked_.empty());
}

TEST_F(StatusPageTest, ErrorsOfTheCallsAreToldAsText) {
  status_ = absl::NotFoundError("container \"<b>\" does not exist");
  const std::string answer = Get("/explain.json?container=c&id=i");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 404 Not Found\r\nContent-Type: text/plain"));
  EXPECT_THAT(answer, HasSubstr("\r\n\r\ncontainer \"<b>\" does not exist\n"));
  status_ = absl::UnavailableError("x");
  EXPECT_THAT(Get("/status.json"), StartsWith("HTTP/1.1 503 "));
  status_ = absl::DataLossError("x");
  EXPECT_THAT(Get("/status.json"), StartsWith("HTTP/1.1 500 "));
}

TEST_F(StatusPageTest, AReconciliationThatNeverRanIsNoError) {
  EXPECT_THAT(Get("/reconciliation.json"), HasSubstr("\"containers_total\":\"7\""));
  reconciliation_ = absl::NotFoundError("none has run");
  EXPECT_THAT(Get("/reconciliation.json"), HasSubstr("\r\n\r\n{}"));
  reconciliation_ = absl::InternalError("x");
  EXPECT_THAT(Get("/reconciliation.json"), StartsWith("HTTP/1.1 500 "));
}

TEST_F(StatusPageTest, OtherPathsAndMethodsAreRefused) {
  EXPECT_THAT(Get("/none"), StartsWith("HTTP/1.1 404 "));
  EXPECT_THAT(Get("/../etc/passwd"), StartsWith("HTTP/1.1 404 "));
  for (const char* method : {"POST", "PUT", "DELETE", "OPTIONS", "get"}) {
    const std::string answer =
        Exchange(page_, absl::StrCat(method, " /status.json HTTP/1.1\r\nHost: localhost\r\n\r\n"));
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 405 ")) << method;
    EXPECT_THAT(answer, HasSubstr("\r\nAllow: GET, HEAD\r\n"));
  }
  EXPECT_TRUE(asked_.empty());
}

TEST_F(StatusPageTest, HeadIsGetWithoutTheBody) {
  for (const char* target : {"/", "/status.json", "/none"}) {
    const std::string get = Get(target);
    const std::string head =
        Exchange(page_, absl::StrCat("HEAD ", target, " HTTP/1.1\r\nHost: localhost\r\n\r\n"));
    EXPECT_EQ(head, get.substr(0, get.find("\r\n\r\n") + 4));
  }
}

TEST_F(StatusPageTest, AHostThatIsNotLoopbackIsRefusedBeforeAnythingElse) {
  for (const char* target : {"/", "/status.json"}) {
    const std::string answer =
        Exchange(page_, absl::StrCat("GET ", target, " HTTP/1.1\r\nHost: evil.example\r\n\r\n"));
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 421 ")) << target;
    EXPECT_THAT(answer, HasSubstr("\"evil.example\": must be 127.0.0.1, [::1] or localhost"));
    EXPECT_THAT(answer, Not(HasSubstr("<script>")));
  }
  EXPECT_THAT(Exchange(page_, "GET / HTTP/1.0\r\n\r\n"), StartsWith("HTTP/1.1 421 "));
  EXPECT_TRUE(asked_.empty());
}

TEST_F(StatusPageTest, AnAbsoluteTargetIsServedByItsOwnHost) {
  const auto ask = [this](absl::string_view target, absl::string_view host) {
    return Exchange(page_, absl::StrCat("GET ", target, " HTTP/1.1\r\nHost: ", host, "\r\n\r\n"));
  };
  EXPECT_THAT(ask("http://127.0.0.1/", "127.0.0.1"), StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(ask("http://localhost:1/status.json", "proxy"), StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(ask("http://evil.example/", "127.0.0.1"), StartsWith("HTTP/1.1 421 "));
  EXPECT_THAT(ask("http://localhost@evil.example/", "127.0.0.1"), StartsWith("HTTP/1.1 421 "));
}

TEST_F(StatusPageTest, ARefusedHeadIsAnsweredWithoutBody) {
  for (const absl::string_view request :
       {"HEAD / HTTP/1.1\r\n\r\n", "HEAD x HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "HEAD / HTTP/1.1\r\nHost: evil.example\r\n\r\n"}) {
    const auto answer = page_.Answer(request);
    ASSERT_TRUE(answer.has_value()) << request;
    EXPECT_THAT(answer->head, StartsWith("HTTP/1.1 4")) << request;
    EXPECT_EQ(answer->body, nullptr) << request;
  }
}

TEST_F(StatusPageTest, OnAUnixSocketAnyHostWillDo) {
  StatusPage page(Calls(), StatusPage::Hosts::kAny);
  EXPECT_THAT(Exchange(page, "GET / HTTP/1.1\r\nHost: any\r\n\r\n"), StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(Exchange(page, "GET / HTTP/1.0\r\n\r\n"), StartsWith("HTTP/1.1 200 "));
}

TEST_F(StatusPageTest, OverTlsTheCertificatesOfBothSidesDecide) {
  StatusPage page(Calls(), StatusPage::Hosts::kOfCertificate);
  const absl::Status denied = absl::PermissionDeniedError("\"cn:nobody\" may not");
  const struct {
    const char* host;
    absl::Status may_read;
    const char* status;
  } kCases[] = {{"sidecar.test:8080", absl::OkStatus(), "HTTP/1.1 200 OK"},
                {"sidecar.test", denied, "HTTP/1.1 403 Forbidden"},
                {"localhost:8080", absl::OkStatus(), "HTTP/1.1 421 Misdirected Request"},
                {"other.test", denied, "HTTP/1.1 421 Misdirected Request"}};
  for (const char* target : {"/", "/status.json", "/nowhere"}) {
    const std::string begin = absl::StrCat("GET ", target, " HTTP/1.1\r\nHost: ");
    for (const auto& c : kCases) {
      asked_.clear();
      const StatusPage::TlsPeer peer = {
          .is_for = [](absl::string_view host) { return host == "sidecar.test"; },
          .may_read = [&c] { return c.may_read; }};
      const auto answer = page.Answer(absl::StrCat(begin, c.host, "\r\n\r\n"), &peer);
      ASSERT_TRUE(answer.has_value());
      const bool is_nowhere = c.may_read.ok() && absl::StartsWith(c.host, "sidecar") &&
                              absl::string_view(target) == "/nowhere";
      EXPECT_THAT(answer->head, StartsWith(is_nowhere ? "HTTP/1.1 404 " : c.status))
          << target << " " << c.host;
      const bool may_ask = absl::StrContains(c.status, "200");
      EXPECT_TRUE(may_ask || asked_.empty()) << target << " " << c.host;
    }
    // What came without TLS is refused whatever it asks for.
    EXPECT_THAT(Exchange(page, absl::StrCat(begin, "sidecar.test\r\n\r\n")),
                StartsWith("HTTP/1.1 421 "));
  }
}

TEST_F(StatusPageTest, PagesOfOthersGetNoData) {
  for (const char* site : {"cross-site", "same-site"}) {
    const std::string header = absl::StrCat("Sec-Fetch-Site: ", site, "\r\n");
    EXPECT_THAT(Get("/status.json", header), StartsWith("HTTP/1.1 403 "));
    // A link may lead to the page.
    EXPECT_THAT(Get("/", header), StartsWith("HTTP/1.1 200 "));
  }
  EXPECT_TRUE(asked_.empty());
  EXPECT_THAT(Get("/status.json", "Sec-Fetch-Site: same-origin\r\n"), StartsWith("HTTP/1.1 200 "));
}

TEST_F(StatusPageTest, WhatIsNotUnderstoodIsRefusedAndWhatIsNotCompleteIsWaitedFor) {
  EXPECT_EQ(Exchange(page_, "GET / HTTP/1.1\r\n"), "incomplete");
  EXPECT_THAT(Exchange(page_, "\x16\x03\x01\r\n\r\n"), StartsWith("HTTP/1.1 400 "));
  EXPECT_THAT(Exchange(page_, std::string(kMaxHttpHeadBytes, 'x')), StartsWith("HTTP/1.1 431 "));
}

TEST_F(StatusPageTest, ManyPagesCostNoMoreThanOne) {
  const absl::Time start = absl::Now();
  for (int i = 0; i < 50; ++i) {
    EXPECT_THAT(Get("/status.json"), StartsWith("HTTP/1.1 200 "));
    EXPECT_THAT(Get("/status.json?page_token=t"), StartsWith("HTTP/1.1 200 "));
  }
  EXPECT_LE(asked_.size(), 2 * ((absl::Now() - start) / StatusPage::kMaxAge + 1));
  // What is asked for as the list goes on ends only the oldest.
  const absl::Time turn = absl::Now();
  for (int i = 0; i < 12; ++i) Get(absl::StrCat("/status.json?page_token=", i));
  const size_t turned = asked_.size();
  for (int i = 5; i < 12; ++i) Get(absl::StrCat("/status.json?page_token=", i));
  EXPECT_LE(asked_.size(), turned + 7 * ((absl::Now() - turn) / StatusPage::kMaxAge));
  // Not for ever, whatever is asked.
  const size_t before = asked_.size();
  for (int i = 0; i < 50; ++i) Get(absl::StrCat("/status.json?container=", i));
  EXPECT_EQ(asked_.size(), before + 50);
}

}  // namespace
}  // namespace ttl
