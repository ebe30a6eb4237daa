#include "tests/testing/scrape.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace ttl {
namespace {

constexpr timeval kLongest = {25, 0};

int Connect(const std::string& address) {
  int port = 0;
  if (absl::SimpleAtoi(address, &port)) {
    sockaddr_in name = {};
    name.sin_family = AF_INET;
    name.sin_port = htons(static_cast<uint16_t>(port));
    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(fd, reinterpret_cast<sockaddr*>(&name), sizeof(name)) == 0) return fd;
    close(fd);
    return -1;
  }
  sockaddr_un name = {};
  name.sun_family = AF_UNIX;
  address.copy(name.sun_path, sizeof(name.sun_path) - 1);
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (connect(fd, reinterpret_cast<sockaddr*>(&name), sizeof(name)) == 0) return fd;
  close(fd);
  return -1;
}

}  // namespace

absl::StatusOr<HttpConnection> HttpConnection::Open(const std::string& address) {
  const int fd = Connect(address);
  if (fd < 0) return absl::UnavailableError(absl::StrCat(address, ": ", std::strerror(errno)));
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &kLongest, sizeof(kLongest));
  return HttpConnection(fd);
}

HttpConnection::~HttpConnection() {
  if (fd_ >= 0) close(fd_);
}

size_t HttpConnection::Send(absl::string_view bytes) const {
  const size_t all = bytes.size();
  while (!bytes.empty()) {
    const ssize_t size = send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (size <= 0) break;
    bytes.remove_prefix(static_cast<size_t>(size));
  }
  return all - bytes.size();
}

std::string HttpConnection::ReadAll() const {
  std::string all;
  char buffer[4096];
  while (true) {
    const ssize_t size = recv(fd_, buffer, sizeof(buffer), 0);
    if (size <= 0) return all;
    all.append(buffer, static_cast<size_t>(size));
  }
}

absl::StatusOr<std::string> HttpExchange(const std::string& address, absl::string_view request) {
  const absl::StatusOr<HttpConnection> connection = HttpConnection::Open(address);
  if (!connection.ok()) return connection.status();
  connection->Send(request);
  return connection->ReadAll();
}

absl::StatusOr<Scrape> Scrape::Get(const std::string& address) {
  const absl::StatusOr<std::string> answer =
      HttpExchange(address, "GET /metrics HTTP/1.1\r\nHost: test\r\n\r\n");
  if (!answer.ok()) return answer.status();
  const std::pair<std::string, std::string> parts =
      absl::StrSplit(*answer, absl::MaxSplits("\r\n\r\n", 1));
  if (!absl::StartsWith(parts.first, "HTTP/1.1 200 OK\r\n")) {
    return absl::UnavailableError(absl::StrCat("answered: ", parts.first));
  }
  return Parse(parts.second);
}

absl::StatusOr<Scrape> Scrape::Parse(const std::string& text) {
  Scrape scrape;
  scrape.text_ = text;
  for (absl::string_view line : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
    const absl::string_view whole = line;
    if (absl::ConsumePrefix(&line, "# TYPE ")) {
      scrape.types_.emplace(line.substr(0, line.find(' ')));
      continue;
    }
    if (absl::StartsWith(line, "#")) continue;
    const size_t blank = line.rfind(' ');
    double value = 0;
    const bool is_new = blank != absl::string_view::npos &&
                        absl::SimpleAtod(line.substr(blank + 1), &value) &&
                        scrape.series_.emplace(line.substr(0, blank), value).second;
    if (!is_new) return absl::InvalidArgumentError(absl::StrCat("line is ", whole));
  }
  return scrape;
}

std::optional<double> Scrape::Find(const std::string& series) const {
  const auto it = series_.find(series);
  return it == series_.end() ? std::nullopt : std::optional(it->second);
}

std::set<std::string> Scrape::Metrics() const { return types_; }

std::set<std::string> Scrape::Labels(const std::string& label) const {
  std::set<std::string> values;
  for (const auto& [series, value] : series_) {
    const std::string begin = absl::StrCat(label, "=\"");
    for (const absl::string_view before : {"{", ","}) {
      const size_t at = series.find(absl::StrCat(before, begin));
      if (at == std::string::npos) continue;
      const size_t from = at + before.size() + begin.size();
      values.insert(series.substr(from, series.find('"', from) - from));
    }
  }
  return values;
}

}  // namespace ttl
