#ifndef TTL_SERVICE_SERVER_METRICS_SCRAPE_REQUEST_H_
#define TTL_SERVICE_SERVER_METRICS_SCRAPE_REQUEST_H_

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"

namespace ttl {

// Longest head of a request that is read.
inline constexpr size_t kMaxScrapeHeadBytes = 8192;

// What to do about what a client has sent so far.
enum class ScrapeRequest {
  kIncomplete,  // read on
  kText,        // GET /metrics
  kHead,        // HEAD /metrics
  kBad,         // not HTTP/1.x, or too long
  kNotFound,    // another path
  kNotAllowed,  // another method
};

// Reads the head of an HTTP/1.x request, of which only the first line matters.
ScrapeRequest ReadScrapeRequest(absl::string_view received);

// The whole answer, after which the connection ends. `text` counts only for kText and
// kHead. REQUIRES: the request is complete.
std::string MakeScrapeAnswer(ScrapeRequest request, absl::string_view text);

}  // namespace ttl

#endif  // TTL_SERVICE_SERVER_METRICS_SCRAPE_REQUEST_H_
