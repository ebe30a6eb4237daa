#ifndef TTL_SERVICE_SERVER_METRICS_SCRAPE_REQUEST_H_
#define TTL_SERVICE_SERVER_METRICS_SCRAPE_REQUEST_H_

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"

namespace ttl {

// Maximum length of a request's head, in bytes.
inline constexpr size_t kMaxScrapeHeadBytes = 8192;

// The kind of a request.
enum class ScrapeRequest {
  kIncomplete,  // more bytes are needed
  kText,        // GET /metrics
  kHead,        // HEAD /metrics
  kBad,         // not HTTP/1.x, or too long
  kNotFound,    // another path
  kNotAllowed,  // another method
};

// Classifies what a client has sent so far. Only the request line matters. Pure.
ScrapeRequest ReadScrapeRequest(absl::string_view received);

// The complete response, after which the connection is closed. `text` is used for kText and kHead
// only. REQUIRES: the request is not kIncomplete. Pure.
std::string MakeScrapeAnswer(ScrapeRequest request, absl::string_view text);

}  // namespace ttl

#endif  // TTL_SERVICE_SERVER_METRICS_SCRAPE_REQUEST_H_
