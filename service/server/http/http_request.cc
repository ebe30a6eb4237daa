#include "service/server/http/http_request.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "service/base/quoted.h"
#include "service/base/status_macros.h"

namespace ttl {
namespace {

constexpr absl::string_view kEndOfHead = "\r\n\r\n";

// Also sets `authority`, which is empty unless the target is absolute.
absl::Status ReadRequestLine(absl::string_view line, HttpRequest& request, std::string& authority) {
  const std::vector<absl::string_view> words = absl::StrSplit(line, ' ');
  if (words.size() != 3 || (words[2] != "HTTP/1.1" && words[2] != "HTTP/1.0")) {
    return absl::InvalidArgumentError("the request is not one of HTTP/1.1");
  }
  const std::optional<HttpTarget> target = ReadHttpTarget(words[1]);
  if (!target.has_value()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the target is ", Quoted(words[1]), ": must be a path, such as /, or http:// or https://"));
  }
  request.method = std::string(words[0]);
  request.path = std::string(target->path);
  request.query = std::string(target->query);
  authority = std::string(target->authority);
  return absl::OkStatus();
}

// Without folded lines, which RFC 9112 lets a server refuse.
absl::Status ReadHeader(absl::string_view line, HttpRequest& request) {
  const size_t colon = line.find(':');
  const absl::string_view name = line.substr(0, colon);
  const bool has_blank = std::any_of(name.begin(), name.end(), absl::ascii_isspace);
  if (colon == absl::string_view::npos || name.empty() || has_blank) {
    return absl::InvalidArgumentError(
        absl::StrCat("the header line is ", Quoted(line), ": must be NAME: VALUE"));
  }
  const absl::string_view value = absl::StripAsciiWhitespace(line.substr(colon + 1));
  const bool is_first =
      request.headers.emplace(absl::AsciiStrToLower(name), std::string(value)).second;
  if (!is_first && absl::EqualsIgnoreCase(name, "host")) {
    return absl::InvalidArgumentError("the header Host is given twice: give it once");
  }
  return absl::OkStatus();
}

// `encoded` has %HH for bytes.
absl::StatusOr<std::string> PercentDecoded(absl::string_view encoded) {
  std::string bytes;
  for (size_t i = 0; i < encoded.size(); ++i) {
    if (encoded[i] != '%') {
      bytes += encoded[i];
      continue;
    }
    if (i + 2 >= encoded.size() || !absl::ascii_isxdigit(encoded[i + 1]) ||
        !absl::ascii_isxdigit(encoded[i + 2])) {
      return absl::InvalidArgumentError(absl::StrCat("the percent sign in ", Quoted(encoded),
                                                     " begins no escape: write %25, or %HH"));
    }
    bytes += absl::HexStringToBytes(encoded.substr(i + 1, 2));
    i += 2;
  }
  return bytes;
}

// The length of the scheme that an absolute target begins with; 0: it begins with none.
size_t SchemeSize(absl::string_view target) {
  for (const absl::string_view scheme : {"http://", "https://"}) {
    if (absl::StartsWithIgnoreCase(target, scheme)) return scheme.size();
  }
  return 0;
}

}  // namespace

absl::string_view HttpRequest::Header(absl::string_view name) const {
  const auto found = headers.find(std::string(name));
  return found == headers.end() ? absl::string_view() : found->second;
}

std::optional<HttpTarget> ReadHttpTarget(absl::string_view target) {
  HttpTarget read;
  if (const size_t scheme_size = SchemeSize(target); scheme_size > 0) {
    target.remove_prefix(scheme_size);
    read.authority = target.substr(0, target.find_first_of("/?"));
    if (read.authority.empty()) return std::nullopt;
    target.remove_prefix(read.authority.size());
    if (!absl::StartsWith(target, "/")) read.path = "/";
  } else if (!absl::StartsWith(target, "/")) {
    return std::nullopt;
  }
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(target, absl::MaxSplits('?', 1));
  if (read.path.empty()) read.path = parts.first;
  read.query = parts.second;
  return read;
}

absl::StatusOr<std::optional<HttpRequest>> ReadHttpRequest(absl::string_view received) {
  const size_t end = received.find(kEndOfHead);
  if (std::min(end, received.size()) >= kMaxHttpHeadBytes) {
    return absl::ResourceExhaustedError(
        absl::StrCat("the head of the request is longer than ", kMaxHttpHeadBytes, " bytes"));
  }
  if (end == absl::string_view::npos) return std::nullopt;
  const std::vector<absl::string_view> lines = absl::StrSplit(received.substr(0, end), "\r\n");
  HttpRequest request;
  std::string authority;
  TTL_RETURN_IF_ERROR(ReadRequestLine(lines[0], request, authority));
  for (size_t i = 1; i < lines.size(); ++i) TTL_RETURN_IF_ERROR(ReadHeader(lines[i], request));
  if (!request.headers.contains("host") && absl::EndsWith(lines[0], "1.1")) {
    return absl::InvalidArgumentError("the header Host is not given");
  }
  if (!authority.empty()) request.headers["host"] = std::move(authority);
  return request;
}

absl::StatusOr<std::map<std::string, std::string>> ReadHttpQuery(absl::string_view query) {
  std::map<std::string, std::string> values;
  for (const absl::string_view part : absl::StrSplit(query, '&', absl::SkipEmpty())) {
    const std::pair<absl::string_view, absl::string_view> field =
        absl::StrSplit(part, absl::MaxSplits('=', 1));
    TTL_ASSIGN_OR_RETURN(std::string name, PercentDecoded(field.first));
    TTL_ASSIGN_OR_RETURN(std::string value, PercentDecoded(field.second));
    if (!values.emplace(name, std::move(value)).second) {
      return absl::InvalidArgumentError(
          absl::StrCat("the field ", Quoted(name), " is given twice: give it once"));
    }
  }
  return values;
}

absl::string_view HostOfAuthority(absl::string_view authority) {
  const size_t end = absl::EndsWith(authority, "]") ? authority.size() : authority.rfind(':');
  const absl::string_view host = authority.substr(0, end);
  const absl::string_view port = authority.substr(std::min(host.size() + 1, authority.size()));
  const bool is_port =
      port.size() <= 5 && std::all_of(port.begin(), port.end(), absl::ascii_isdigit);
  return is_port ? host : "";
}

bool IsLoopbackAuthority(absl::string_view authority) {
  const absl::string_view host = HostOfAuthority(authority);
  return host == "127.0.0.1" || host == "[::1]" || absl::EqualsIgnoreCase(host, "localhost");
}

}  // namespace ttl
