#ifndef TTL_SERVICE_SERVER_HTTP_HTTP_REQUEST_H_
#define TTL_SERVICE_SERVER_HTTP_HTTP_REQUEST_H_

#include <cstddef>
#include <map>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace ttl {

// Maximum length of a request's head, in bytes: enough for the longest keys, percent-encoded.
inline constexpr size_t kMaxHttpHeadBytes = size_t{16} << 10;

// The target of a request: a path, or an absolute http:// or https:// URI, as proxies are sent.
struct HttpTarget {
  absl::string_view authority;  // of the URI; empty for a path
  absl::string_view path;       // up to the question mark; not empty
  absl::string_view query;      // after it; still encoded
};

// Absent if `target` is none. The result refers to `target`. Pure.
std::optional<HttpTarget> ReadHttpTarget(absl::string_view target);

// The head of a request of HTTP/1.0 or 1.1. The body is not read.
struct HttpRequest {
  std::string method;
  std::string path;   // as in HttpTarget
  std::string query;  // as in HttpTarget
  // By name in lower case; the first of each name. The authority of an absolute target replaces
  // Host, as RFC 9112 demands.
  std::map<std::string, std::string> headers;

  // The value of a header; empty if there is none. `name` is in lower case.
  absl::string_view Header(absl::string_view name) const;
};

// Reads what a client has sent so far; absent: the head is not complete yet. INVALID_ARGUMENT if it
// is not HTTP/1.x, if its target is none, or if it does not have exactly one Host (none will
// do in HTTP/1.0); RESOURCE_EXHAUSTED if it is longer than kMaxHttpHeadBytes. Pure.
absl::StatusOr<std::optional<HttpRequest>> ReadHttpRequest(absl::string_view received);

// The percent-decoded values of a query by name. A plus is a plus. INVALID_ARGUMENT for a malformed
// escape or a name that is given twice. Pure.
absl::StatusOr<std::map<std::string, std::string>> ReadHttpQuery(absl::string_view query);

// The host of `authority`, HOST or HOST:PORT as in a Host header; empty if the port is no number.
// Refers to `authority`. Pure.
absl::string_view HostOfAuthority(absl::string_view authority);

// Whether `authority`, HOST or HOST:PORT as in a Host header, names this machine's loopback as a
// browser does: 127.0.0.1, [::1] or localhost. Other names may lead to loopback by DNS rebinding.
bool IsLoopbackAuthority(absl::string_view authority);

}  // namespace ttl

#endif  // TTL_SERVICE_SERVER_HTTP_HTTP_REQUEST_H_
