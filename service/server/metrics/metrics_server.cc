#include "service/server/metrics/metrics_server.h"

#include <chrono>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "service/base/status_macros.h"
#include "service/server/http/http_answer.h"
#include "service/server/metrics/scrape_request.h"

namespace ttl {
namespace {

constexpr absl::string_view kEndOfHead = "\r\n\r\n";

// For the age of a text only.
using AgeClock = std::chrono::steady_clock;

// Answers scrapes with one text while it is young. Used by one thread.
class Scrapes {
 public:
  explicit Scrapes(MetricsServer::MakeText make_text) : make_text_(std::move(make_text)) {}

  std::optional<HttpAnswer> Answer(absl::string_view received) {
    const ScrapeRequest request = ReadScrapeRequest(received);
    if (request == ScrapeRequest::kIncomplete) return std::nullopt;
    const bool has_text = request == ScrapeRequest::kText || request == ScrapeRequest::kHead;
    HttpAnswer answer{MakeScrapeAnswer(request, has_text ? Text() : std::string())};
    // Refusals too have no body then.
    if (absl::StartsWith(received, "HEAD ")) {
      answer.head.resize(absl::string_view(answer.head).find(kEndOfHead) + kEndOfHead.size());
    }
    return answer;
  }

 private:
  const std::string& Text() {
    const auto now = AgeClock::now();
    if (!made_.has_value() || now - *made_ > absl::ToChronoNanoseconds(MetricsServer::kMaxAge)) {
      text_ = make_text_();
      made_ = now;
    }
    return text_;
  }

  const MetricsServer::MakeText make_text_;
  std::string text_;
  std::optional<AgeClock::time_point> made_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<MetricsServer>> MetricsServer::Start(absl::string_view flag,
                                                                    const std::string& address,
                                                                    MakeText make_text) {
  auto scrapes = std::make_shared<Scrapes>(std::move(make_text));
  TTL_ASSIGN_OR_RETURN(
      std::unique_ptr<HttpServer> server,
      HttpServer::Start(flag, address, [scrapes](absl::string_view received, const TlsConnection*) {
        return scrapes->Answer(received);
      }));
  return std::unique_ptr<MetricsServer>(new MetricsServer(std::move(server)));
}

}  // namespace ttl
