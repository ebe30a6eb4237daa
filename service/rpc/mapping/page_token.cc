#include "service/rpc/mapping/page_token.h"

#include <algorithm>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "service/base/error_details.h"
#include "service/base/quoted.h"
#include "service/base/status_macros.h"
#include "service/base/utf8.h"
#include "service/core/container.h"
#include "service/core/feed/subscription.h"
#include "service/core/hold/hold.h"

namespace ttl {
namespace {

constexpr char kContainerKind = 'c';
constexpr char kItemKind = 'j';
constexpr char kItemWithoutTimeKind = 'i';  // of former versions, and still read
constexpr char kStuckKind = 's';
constexpr char kHoldKind = 'h';
constexpr char kHeldKeyKind = 'k';
constexpr char kSubscriptionKind = 'u';
// Length of the partition key, before an item key; big-endian.
constexpr size_t kLengthBytes = 2;
// A time, before that; big-endian.
constexpr size_t kTimeBytes = 8;

std::string Encode(char kind, absl::string_view key) {
  return absl::WebSafeBase64Escape(absl::StrCat(absl::string_view(&kind, 1), key));
}

absl::Status BrokenToken(absl::string_view token) {
  return InvalidField("page_token",
                      absl::StrCat("page_token is ", Quoted(token),
                                   ": must be empty or the next_page_token of the previous page"));
}

absl::StatusOr<std::string> Decode(char kind, absl::string_view token) {
  std::string decoded;
  if (!absl::WebSafeBase64Unescape(token, &decoded) || decoded.empty() || decoded[0] != kind) {
    return BrokenToken(token);
  }
  return decoded.substr(1);
}

std::string EncodeKey(const ItemKey& key) {
  const size_t length = key.partition_key.size();
  const char prefix[kLengthBytes] = {static_cast<char>(length >> 8), static_cast<char>(length)};
  return absl::StrCat(absl::string_view(prefix, kLengthBytes), key.partition_key, key.id);
}

std::string EncodeTime(int64_t time) {
  std::string encoded;
  for (int shift = 56; shift >= 0; shift -= 8) {
    encoded.push_back(static_cast<char>(static_cast<uint64_t>(time) >> shift));
  }
  return encoded;
}

// Absent if `encoded` does not begin with a time. None is before 1970, so the sign bit is not used.
std::optional<int64_t> DecodeTime(absl::string_view encoded) {
  if (encoded.size() < kTimeBytes) return std::nullopt;
  uint64_t time = 0;
  for (size_t i = 0; i < kTimeBytes; ++i) time = time << 8 | static_cast<unsigned char>(encoded[i]);
  if (static_cast<int64_t>(time) < 0) return std::nullopt;
  return static_cast<int64_t>(time);
}

// Absent if `encoded` is not a valid key.
std::optional<ItemKey> DecodeKey(absl::string_view encoded) {
  if (encoded.size() < kLengthBytes) return std::nullopt;
  const size_t length =
      static_cast<unsigned char>(encoded[0]) << 8 | static_cast<unsigned char>(encoded[1]);
  encoded.remove_prefix(kLengthBytes);
  if (length > kMaxPartitionKeyBytes || encoded.size() < length ||
      encoded.size() - length > kMaxIdBytes) {
    return std::nullopt;
  }
  return ItemKey{std::string(encoded.substr(0, length)), std::string(encoded.substr(length))};
}

}  // namespace

absl::StatusOr<size_t> ReadPageSize(int32_t page_size) {
  if (page_size < 0) {
    return InvalidField("page_size", absl::StrCat("page_size is ", page_size, ": must be 1 to ",
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

std::string ItemPageToken(const ItemKey& last, absl::Time judged_at) {
  return Encode(kItemKind, absl::StrCat(EncodeTime(absl::ToUnixNanos(judged_at)), EncodeKey(last)));
}

absl::StatusOr<std::optional<ItemPosition>> ReadItemPageToken(absl::string_view token) {
  if (token.empty()) return std::nullopt;
  if (const auto old = Decode(kItemWithoutTimeKind, token); old.ok()) {
    std::optional<ItemKey> key = DecodeKey(*old);
    if (!key.has_value()) return BrokenToken(token);
    return ItemPosition{*std::move(key), std::nullopt};
  }
  TTL_ASSIGN_OR_RETURN(const std::string encoded, Decode(kItemKind, token));
  const std::optional<int64_t> nanos = DecodeTime(encoded);
  if (!nanos.has_value()) return BrokenToken(token);
  std::optional<ItemKey> key = DecodeKey(absl::string_view(encoded).substr(kTimeBytes));
  if (!key.has_value()) return BrokenToken(token);
  return ItemPosition{*std::move(key), absl::FromUnixNanos(*nanos)};
}

std::string StuckPageToken(const StuckPage::Position& last) {
  return Encode(kStuckKind, absl::StrCat(EncodeTime(last.next_try_time), EncodeKey(last.key)));
}

absl::StatusOr<std::optional<StuckPage::Position>> ReadStuckPageToken(absl::string_view token) {
  if (token.empty()) return std::nullopt;
  TTL_ASSIGN_OR_RETURN(const std::string encoded, Decode(kStuckKind, token));
  const std::optional<int64_t> time = DecodeTime(encoded);
  if (!time.has_value()) return BrokenToken(token);
  std::optional<ItemKey> key = DecodeKey(absl::string_view(encoded).substr(kTimeBytes));
  if (!key.has_value()) return BrokenToken(token);
  return StuckPage::Position{*time, *std::move(key)};
}

// As the key of an item.
std::string HoldPageToken(const HoldPosition& last) {
  return Encode(kHoldKind, EncodeKey({last.container, last.hold_id}));
}

absl::StatusOr<HoldPosition> ReadHoldPageToken(absl::string_view token) {
  if (token.empty()) return HoldPosition();
  TTL_ASSIGN_OR_RETURN(const std::string encoded, Decode(kHoldKind, token));
  const std::optional<ItemKey> key = DecodeKey(encoded);
  if (!key.has_value()) return BrokenToken(token);
  HoldPosition position = {key->partition_key, key->id};
  if (position.container.empty() && position.hold_id.empty()) return position;
  if (!ValidateContainerId(position.container).ok() ||
      !UnmetByName(position.hold_id, kMaxHoldIdBytes).empty()) {
    return BrokenToken(token);
  }
  return position;
}

// As the key of an item.
std::string SubscriptionPageToken(const SubscriptionPosition& last) {
  return Encode(kSubscriptionKind, EncodeKey({last.container, last.name}));
}

absl::StatusOr<SubscriptionPosition> ReadSubscriptionPageToken(absl::string_view token) {
  if (token.empty()) return SubscriptionPosition();
  TTL_ASSIGN_OR_RETURN(const std::string encoded, Decode(kSubscriptionKind, token));
  const std::optional<ItemKey> key = DecodeKey(encoded);
  if (!key.has_value() || !ValidateContainerId(key->partition_key).ok() ||
      !UnmetByName(key->id, kMaxSubscriptionNameBytes).empty()) {
    return BrokenToken(token);
  }
  return SubscriptionPosition{key->partition_key, key->id};
}

std::string HeldKeyPageToken(const ItemKey& last) { return Encode(kHeldKeyKind, EncodeKey(last)); }

absl::StatusOr<std::optional<ItemKey>> ReadHeldKeyPageToken(absl::string_view token) {
  if (token.empty()) return std::nullopt;
  TTL_ASSIGN_OR_RETURN(const std::string encoded, Decode(kHeldKeyKind, token));
  std::optional<ItemKey> key = DecodeKey(encoded);
  if (!key.has_value()) return BrokenToken(token);
  return key;
}

}  // namespace ttl
