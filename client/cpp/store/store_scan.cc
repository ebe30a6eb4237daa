#include "client/cpp/store/store_scan.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/cpp/store/store_error.h"

namespace ttl {
namespace {

// With the longest keys they still fit into one message.
constexpr int kMaxScannedAtOnce = 500;

// Limit of the API for next_page_token.
constexpr size_t kMaxTokenBytes = 4096;

// The length of the partition key in two bytes, partition key, id.
absl::StatusOr<std::string> TokenOf(const v1::Item& last) {
  const size_t length = last.partition_key().size();
  if (2 + length + last.id().size() > kMaxTokenBytes) {
    return absl::InternalError(absl::StrCat(
        "the store's Scan() returned an item with a partition key of ", length,
        " bytes and an id of ", last.id().size(), " bytes: together they must be at most ",
        kMaxTokenBytes - 2, " bytes for the scan to go on behind it"));
  }
  std::string token = {static_cast<char>(length >> 8), static_cast<char>(length & 0xff)};
  absl::StrAppend(&token, last.partition_key(), last.id());
  return token;
}

absl::StatusOr<std::optional<StoredKey>> KeyOf(const std::string& token) {
  if (token.empty()) return std::optional<StoredKey>();
  const auto byte = [&](size_t i) { return static_cast<size_t>(static_cast<uint8_t>(token[i])); };
  const size_t end = token.size() < 2 ? token.size() + 1 : 2 + (byte(0) << 8 | byte(1));
  if (end > token.size()) return absl::InvalidArgumentError("page_token is not of this store");
  return std::optional<StoredKey>({token.substr(2, end - 2), token.substr(end)});
}

// One message, with at most `limit` items behind `token`.
absl::StatusOr<v1::ScanItemsResponse> ScanPage(PrimaryStore& store, const std::string& container,
                                               const std::string& token, int limit) {
  const auto after = KeyOf(token);
  if (!after.ok()) return after.status();
  const auto items = store.Scan(container, *after, limit);
  if (absl::IsNotFound(items.status())) return items.status();
  if (!items.ok()) return StoreError("Scan", items.status());
  if (items->size() > static_cast<size_t>(limit)) {
    return absl::InternalError(absl::StrCat("the store's Scan() returned ", items->size(),
                                            " items: at most ", limit, " were asked for"));
  }
  v1::ScanItemsResponse response;
  response.mutable_items()->Assign(items->begin(), items->end());
  const auto estimate = store.EstimatedItems(container);
  if (estimate.has_value()) response.set_estimated_items(*estimate);
  if (items->size() < static_cast<size_t>(limit)) return response;
  auto next = TokenOf(items->back());
  if (!next.ok()) return next.status();
  response.set_next_page_token(*std::move(next));
  if (response.next_page_token() == token) {
    return absl::InternalError("the store's Scan() returned the item that it was to start behind");
  }
  return response;
}

}  // namespace

absl::Status ScanStore(PrimaryStore& store, const v1::ScanItemsRequest& request,
                       absl::FunctionRef<bool(const v1::ScanItemsResponse&)> take) {
  if (!store.features().scans) return absl::UnimplementedError("this store does not scan");
  if (request.max_items() < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("max_items is ", request.max_items(), ": must be at least 1"));
  }
  std::string token = request.page_token();
  int left = request.max_items();
  do {
    const int limit = std::min(left, kMaxScannedAtOnce);
    const auto page = ScanPage(store, request.container(), token, limit);
    if (!page.ok()) return page.status();
    if (!take(*page)) return absl::CancelledError("the caller has gone");
    token = page->next_page_token();
    left -= limit;
  } while (!token.empty() && left > 0);
  return absl::OkStatus();
}

}  // namespace ttl
