#include "client/cpp/page_loop.h"

#include <utility>

namespace ttl {

absl::Status ForEachPage(
    absl::FunctionRef<absl::StatusOr<std::string>(const std::string& token)> fetch) {
  std::string token;
  do {
    absl::StatusOr<std::string> next = fetch(token);
    if (!next.ok()) return next.status();
    if (!next->empty() && *next == token) {
      return absl::InternalError("the server answered a page with the page's own token");
    }
    token = *std::move(next);
  } while (!token.empty());
  return absl::OkStatus();
}

}  // namespace ttl
