#include "service/rpc/page_token.h"

#include <algorithm>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "service/core/container.h"
#include "service/core/status_macros.h"
#include "service/rpc/quoted.h"

namespace ttl {
namespace {

constexpr char kContainerKind = 'c';
constexpr char kItemKind = 'i';
// A partition key's length in front of an item key, big-endian.
constexpr size_t kLengthBytes = 2;

std::string Encode(char kind, absl::string_view key) {
  return absl::WebSafeBase64Escape(absl::StrCat(absl::string_view(&kind, 1), key));
}

absl::Status BrokenToken(absl::string_view token) {
  return absl::InvalidArgumentError(
      absl::StrCat("page_token is ", Quoted(token),
                   ": must be empty or the next_page_token of the page before"));
}

absl::StatusOr<std::string> Decode(char kind, absl::string_view token) {
  std::string decoded;
  if (!absl::WebSafeBase64Unescape(token, &decoded) || decoded.empty() || decoded[0] != kind) {
    return BrokenToken(token);
  }
  return decoded.substr(1);
}

}  // namespace

absl::StatusOr<size_t> ReadPageSize(int32_t page_size) {
  if (page_size < 0) {
    return absl::InvalidArgumentError(absl::StrCat("page_size is ", page_size, ": must be 1 to ",
                                                   kMaxPageSize, ", or 0 for ", kDefaultPageSize));
  }
  if (page_size == 0) return kDefaultPageSize;
  return std::min(static_cast<size_t>(page_size), kMaxPageSize);
}

std::string ContainerPageToken(absl::string_view last_id) {
  return Encode(kContainerKind, last_id);
}

absl::StatusOr<std::string> ReadContainerPageToken(absl::string_view token) {
  if (token.empty()) return std::string();
  TTL_ASSIGN_OR_RETURN(std::string id, Decode(kContainerKind, token));
  if (!ValidateContainerId(id).ok()) return BrokenToken(token);
  return id;
}

std::string ItemPageToken(const ItemKey& last) {
  const size_t length = last.partition_key.size();
  const char prefix[kLengthBytes] = {static_cast<char>(length >> 8), static_cast<char>(length)};
  return Encode(kItemKind,
                absl::StrCat(absl::string_view(prefix, kLengthBytes), last.partition_key, last.id));
}

absl::StatusOr<std::optional<ItemKey>> ReadItemPageToken(absl::string_view token) {
  if (token.empty()) return std::nullopt;
  TTL_ASSIGN_OR_RETURN(const std::string key, Decode(kItemKind, token));
  if (key.size() < kLengthBytes) return BrokenToken(token);
  const size_t length =
      static_cast<unsigned char>(key[0]) << 8 | static_cast<unsigned char>(key[1]);
  if (length > kMaxPartitionKeyBytes || key.size() < kLengthBytes + length ||
      key.size() - kLengthBytes - length > kMaxIdBytes) {
    return BrokenToken(token);
  }
  return ItemKey{key.substr(kLengthBytes, length), key.substr(kLengthBytes + length)};
}

}  // namespace ttl
