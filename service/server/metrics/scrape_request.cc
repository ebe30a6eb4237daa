#include "service/server/metrics/scrape_request.h"

#include <optional>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "service/server/http/http_request.h"

namespace ttl {
namespace {

constexpr absl::string_view kPath = "/metrics";

std::string Answer(absl::string_view status, absl::string_view type, absl::string_view headers,
                   size_t length, absl::string_view body) {
  return absl::StrCat("HTTP/1.1 ", status, "\r\nContent-Type: ", type,
                      "\r\nContent-Length: ", length, "\r\n", headers, "Connection: close\r\n\r\n",
                      body);
}

std::string Refusal(absl::string_view status, absl::string_view body,
                    absl::string_view headers = "") {
  return Answer(status, "text/plain; charset=utf-8", headers, body.size(), body);
}

}  // namespace

ScrapeRequest ReadScrapeRequest(absl::string_view received) {
  if (!absl::StrContains(received, "\r\n\r\n")) {
    return received.size() < kMaxScrapeHeadBytes ? ScrapeRequest::kIncomplete : ScrapeRequest::kBad;
  }
  const absl::string_view line = received.substr(0, received.find("\r\n"));
  const std::vector<absl::string_view> words = absl::StrSplit(line, ' ');
  if (words.size() != 3 || !absl::StartsWith(words[2], "HTTP/1.")) return ScrapeRequest::kBad;
  const std::optional<HttpTarget> target = ReadHttpTarget(words[1]);
  if (!target.has_value() || target->path != kPath) return ScrapeRequest::kNotFound;
  if (words[0] == "GET") return ScrapeRequest::kText;
  if (words[0] == "HEAD") return ScrapeRequest::kHead;
  return ScrapeRequest::kNotAllowed;
}

std::string MakeScrapeAnswer(ScrapeRequest request, absl::string_view text) {
  constexpr absl::string_view kTextType = "text/plain; version=0.0.4; charset=utf-8";
  switch (request) {
    case ScrapeRequest::kText:
      return Answer("200 OK", kTextType, "", text.size(), text);
    case ScrapeRequest::kHead:
      return Answer("200 OK", kTextType, "", text.size(), "");
    case ScrapeRequest::kNotFound:
      return Refusal("404 Not Found", "only /metrics is here\n");
    case ScrapeRequest::kNotAllowed:
      return Refusal("405 Method Not Allowed", "only GET and HEAD\n", "Allow: GET, HEAD\r\n");
    case ScrapeRequest::kBad:
    case ScrapeRequest::kIncomplete:
      break;
  }
  return Refusal("400 Bad Request", "not a request of HTTP/1.1 that is understood here\n");
}

}  // namespace ttl
