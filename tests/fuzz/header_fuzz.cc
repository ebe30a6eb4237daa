// The headers that are read by hand: traceparent, the head of a scrape of metrics, and that of a
// request for the status page.

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "service/server/http/http_request.h"
#include "service/server/metrics/scrape_request.h"
#include "service/transport/access/trace_parent.h"
#include "tests/fuzz/fuzz_input.h"

namespace ttl {
namespace {

bool IsLowerHex(char c) { return absl::ascii_isdigit(c) || (c >= 'a' && c <= 'f'); }

void ReadTraceParent(absl::string_view value) {
  const absl::string_view trace_id = TraceIdOf(value);
  if (trace_id.empty()) return;
  Require(trace_id.size() == 32, "16 bytes");
  Require(std::all_of(trace_id.begin(), trace_id.end(), IsLowerHex), "hexadecimal digits");
  Require(trace_id.find_first_not_of('0') != absl::string_view::npos, "not all zero");
}

// Bytes may come in any pieces: once a head is complete, what follows changes nothing.
void ReadScrape(absl::string_view received) {
  const ScrapeRequest request = ReadScrapeRequest(received);
  if (request == ScrapeRequest::kIncomplete) return;
  Require(absl::StartsWith(MakeScrapeAnswer(request, "metric 1\n"), "HTTP/1.1 "), "an answer");
  const size_t end = received.find("\r\n\r\n");
  if (end == absl::string_view::npos) return;
  Require(ReadScrapeRequest(received.substr(0, end + 4)) == request, "the head alone decides");
}

void ReadHttp(absl::string_view received) {
  const auto request = ReadHttpRequest(received);
  if (!request.ok() || !request->has_value()) return;
  const size_t end = received.find("\r\n\r\n");
  const auto head = ReadHttpRequest(received.substr(0, end + 4));
  Require(head.ok() && head->has_value(), "the head alone decides");
  Require(absl::StartsWith((*request)->path, "/"), "a path");
  const absl::string_view host = (*request)->Header("host");
  Require(!IsLoopbackAuthority(host) || host.size() <= sizeof("127.0.0.1:65535"), "a short name");
  const auto fields = ReadHttpQuery((*request)->query);
  if (!fields.ok()) return;
  for (const auto& [name, value] : *fields) {
    Require(name.size() + value.size() <= (*request)->query.size(), "decoding lengthens nothing");
  }
}

}  // namespace
}  // namespace ttl

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view bytes(reinterpret_cast<const char*>(data), size);
  ttl::ReadTraceParent(bytes);
  ttl::ReadScrape(bytes);
  ttl::ReadHttp(bytes);
  return 0;
}
