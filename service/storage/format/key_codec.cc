#include "service/storage/format/key_codec.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace ttl {
namespace {

constexpr size_t kNumberBytes = 8;
constexpr size_t kTableAndNumber = 1 + kNumberBytes;
constexpr size_t kTableAndTwoNumbers = kTableAndNumber + kNumberBytes;
constexpr size_t kIndexHeader = kTableAndNumber + 1 + kNumberBytes;

template <typename Integer>
void AppendBigEndian(Integer value, std::string& out) {
  for (int shift = 8 * (sizeof(Integer) - 1); shift >= 0; shift -= 8) {
    out.push_back(static_cast<char>(value >> shift));
  }
}

uint64_t ReadBigEndian(absl::string_view bytes) {
  uint64_t value = 0;
  for (char byte : bytes) value = value << 8 | static_cast<unsigned char>(byte);
  return value;
}

std::string NumberedKey(char table, uint64_t number) {
  std::string key(1, table);
  AppendBigEndian(number, key);
  return key;
}

std::string TwiceNumberedKey(char table, uint64_t first, uint64_t second) {
  std::string key = NumberedKey(table, first);
  AppendBigEndian(second, key);
  return key;
}

void AppendItem(absl::string_view partition_key, absl::string_view id, std::string& out) {
  AppendBigEndian(static_cast<uint16_t>(partition_key.size()), out);
  out.append(partition_key.data(), partition_key.size());
  out.append(id.data(), id.size());
}

std::optional<ItemKey> DecodeItem(absl::string_view bytes) {
  if (bytes.size() < 2) return std::nullopt;
  const size_t length = ReadBigEndian(bytes.substr(0, 2));
  bytes.remove_prefix(2);
  if (bytes.size() < length) return std::nullopt;
  return ItemKey{std::string(bytes.substr(0, length)), std::string(bytes.substr(length))};
}

}  // namespace

std::string MetaKey(absl::string_view name) {
  return absl::StrCat(std::string(1, kMetaTable), name);
}

std::string AppliedEntryKey(absl::string_view container_id) {
  return absl::StrCat(std::string(1, kAppliedEntryTable), container_id);
}

std::string ContainerKey(uint64_t number) { return NumberedKey(kContainerTable, number); }
std::string TotalsKey(uint64_t number) { return NumberedKey(kTotalsTable, number); }
std::string PurgeKey(uint64_t number) { return NumberedKey(kPurgeTable, number); }
std::string ItemPrefix(uint64_t container) { return NumberedKey(kItemTable, container); }
std::string IndexPrefix(uint64_t index) { return NumberedKey(kIndexTable, index); }

std::string HoldPrefix(uint64_t container) { return NumberedKey(kHoldTable, container); }
std::string KeyHoldsPrefix(uint64_t container) { return NumberedKey(kKeyHoldsTable, container); }
std::string HoldKeysPrefix(uint64_t container) { return NumberedKey(kHoldKeysTable, container); }

std::string HoldKeysPrefix(uint64_t container, uint64_t hold) {
  return TwiceNumberedKey(kHoldKeysTable, container, hold);
}

std::string HoldKey(uint64_t container, uint64_t hold) {
  return TwiceNumberedKey(kHoldTable, container, hold);
}

std::string KeyHoldsKey(uint64_t container, const ItemKey& key) {
  std::string out = KeyHoldsPrefix(container);
  AppendItem(key.partition_key, key.id, out);
  return out;
}

std::string HoldKeysKey(uint64_t container, uint64_t hold, const ItemKey& key) {
  std::string out = HoldKeysPrefix(container, hold);
  AppendItem(key.partition_key, key.id, out);
  return out;
}

std::string EventPrefix(uint64_t feed) { return NumberedKey(kEventTable, feed); }
std::string FeedTrimKey(uint64_t feed) { return NumberedKey(kFeedTrimTable, feed); }
std::string SubscriptionPrefix(uint64_t feed) { return NumberedKey(kSubscriptionTable, feed); }

std::string EventKey(uint64_t feed, uint64_t sequence) {
  return TwiceNumberedKey(kEventTable, feed, sequence);
}

std::string SubscriptionKey(uint64_t feed, absl::string_view name) {
  return absl::StrCat(SubscriptionPrefix(feed), name);
}

std::string IndexFamilyPrefix(uint64_t index, IndexFamily family) {
  std::string prefix = IndexPrefix(index);
  prefix.push_back(static_cast<char>(family));
  return prefix;
}

void AppendItemKey(uint64_t container, absl::string_view partition_key, absl::string_view id,
                   std::string& out) {
  out.push_back(kItemTable);
  AppendBigEndian(container, out);
  AppendItem(partition_key, id, out);
}

std::string EncodeItemKey(uint64_t container, const ItemKey& key) {
  std::string out;
  AppendItemKey(container, key.partition_key, key.id, out);
  return out;
}

size_t ItemKeySize(absl::string_view partition_key, absl::string_view id) {
  return 1 + 8 + 2 + partition_key.size() + id.size();
}

std::string IndexSeekKey(uint64_t index, IndexFamily family, int64_t time) {
  std::string key = IndexFamilyPrefix(index, family);
  AppendBigEndian(static_cast<uint64_t>(std::max<int64_t>(time, 0)), key);
  return key;
}

std::string EncodeIndexKey(uint64_t index, IndexFamily family, int64_t time, const ItemKey& key) {
  std::string out = IndexSeekKey(index, family, time);
  AppendItem(key.partition_key, key.id, out);
  return out;
}

// The smallest key after another is that key with a zero byte appended.
IndexPlace PlaceBehind(uint64_t index, const IndexEntry& entry) {
  return {entry.time, EncodeIndexKey(index, entry.family, entry.time, entry.key) + '\0'};
}

std::optional<uint64_t> DecodeNumber(absl::string_view encoded) {
  if (encoded.size() < kTableAndNumber) return std::nullopt;
  return ReadBigEndian(encoded.substr(1, kNumberBytes));
}

std::optional<ItemKey> DecodeItemKey(absl::string_view encoded) {
  if (encoded.size() < kTableAndNumber || encoded[0] != kItemTable) return std::nullopt;
  return DecodeItem(encoded.substr(kTableAndNumber));
}

std::optional<ItemKey> DecodeKeyHoldsKey(absl::string_view encoded) {
  if (encoded.size() < kTableAndNumber || encoded[0] != kKeyHoldsTable) return std::nullopt;
  return DecodeItem(encoded.substr(kTableAndNumber));
}

std::optional<uint64_t> DecodeHoldNumber(absl::string_view encoded) {
  if (encoded.size() < kTableAndTwoNumbers) return std::nullopt;
  if (encoded[0] != kHoldTable && encoded[0] != kHoldKeysTable) return std::nullopt;
  return ReadBigEndian(encoded.substr(kTableAndNumber, kNumberBytes));
}

std::optional<ItemKey> DecodeHoldKeysKey(absl::string_view encoded) {
  if (encoded.size() < kTableAndTwoNumbers || encoded[0] != kHoldKeysTable) return std::nullopt;
  return DecodeItem(encoded.substr(kTableAndTwoNumbers));
}

std::optional<uint64_t> DecodeEventSequence(absl::string_view encoded) {
  if (encoded.size() != kTableAndTwoNumbers || encoded[0] != kEventTable) return std::nullopt;
  return ReadBigEndian(encoded.substr(kTableAndNumber, kNumberBytes));
}

std::optional<std::string> DecodeSubscriptionName(absl::string_view encoded) {
  if (encoded.size() <= kTableAndNumber || encoded[0] != kSubscriptionTable) return std::nullopt;
  return std::string(encoded.substr(kTableAndNumber));
}

std::optional<IndexEntry> DecodeIndexKey(absl::string_view encoded) {
  const std::optional<EntryPosition> place = DecodeEntryPosition(encoded);
  if (!place.has_value()) return std::nullopt;
  std::optional<ItemKey> key = DecodeItem(encoded.substr(kIndexHeader));
  if (!key.has_value()) return std::nullopt;
  IndexEntry entry;
  entry.family = place->family;
  entry.time = place->time;
  entry.key = *std::move(key);
  return entry;
}

std::optional<EntryPosition> DecodeEntryPosition(absl::string_view encoded) {
  if (encoded.size() < kIndexHeader || encoded[0] != kIndexTable) return std::nullopt;
  const int family = encoded[kTableAndNumber];
  const auto time =
      static_cast<int64_t>(ReadBigEndian(encoded.substr(kTableAndNumber + 1, kNumberBytes)));
  if (family < 1 || family > static_cast<int>(kIndexFamilies) || time < 0) return std::nullopt;
  return EntryPosition{ReadBigEndian(encoded.substr(1, kNumberBytes)),
                       static_cast<IndexFamily>(family), time};
}

std::string PrefixEnd(std::string prefix) {
  while (!prefix.empty() && static_cast<unsigned char>(prefix.back()) == 0xFF) prefix.pop_back();
  if (!prefix.empty()) prefix.back() = static_cast<char>(prefix.back() + 1);
  return prefix;
}

}  // namespace ttl
