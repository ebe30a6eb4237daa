#include "client/postgres/store/page_token.h"

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace ttl::postgres {

std::string EncodePageToken(const std::vector<Connection::Parameter>& key) {
  std::string token;
  for (const Connection::Parameter& text : key) {
    absl::StrAppend(&token, text->size(), ":", *text);
  }
  return token;
}

absl::StatusOr<std::vector<Connection::Parameter>> DecodePageToken(absl::string_view token,
                                                                   size_t columns) {
  const absl::Status nonsense =
      absl::InvalidArgumentError("page_token is none that ScanItems gave for this container");
  std::vector<Connection::Parameter> key;
  while (!token.empty()) {
    const size_t colon = token.find(':');
    size_t length = 0;
    if (colon == absl::string_view::npos || !absl::SimpleAtoi(token.substr(0, colon), &length)) {
      return nonsense;
    }
    token.remove_prefix(colon + 1);
    if (length > token.size()) return nonsense;
    key.emplace_back(token.substr(0, length));
    token.remove_prefix(length);
  }
  if (key.size() != columns) return nonsense;
  return key;
}

}  // namespace ttl::postgres
