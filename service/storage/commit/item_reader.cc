#include "service/storage/commit/item_reader.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "service/base/status_macros.h"
#include "service/storage/format/key_codec.h"
#include "service/storage/format/record_codec.h"

namespace ttl {
namespace {

absl::StatusOr<StoredItemPtr> Decode(absl::string_view bytes) {
  TTL_ASSIGN_OR_RETURN(StoredItem decoded, DecodeStoredItem(bytes));
  return std::make_shared<const StoredItem>(std::move(decoded));
}

// Goes forward to the first key at or after `key`: step by step if it is near. False if
// the way there is damaged.
bool SkipTo(Database::Cursor& cursor, absl::string_view key) {
  constexpr int kNear = 8;
  for (int steps = 0; steps < kNear && cursor.Valid() && cursor.key() < key; ++steps) cursor.Next();
  if (!cursor.Valid() || cursor.key() < key) cursor.Seek(key);
  return cursor.status().ok();
}

}  // namespace

absl::StatusOr<StoredItemPtr> ItemReader::Read(absl::string_view key) const {
  RecordCache::Ticket ticket;
  if (std::optional<StoredItemPtr> known = cache_.Find(key, ticket)) return *std::move(known);
  return ReadDatabase(key, ticket);
}

std::vector<absl::StatusOr<StoredItemPtr>> ItemReader::ReadMany(
    absl::string_view prefix, const std::vector<std::string>& keys) const {
  std::vector<absl::StatusOr<StoredItemPtr>> items(keys.size());
  std::vector<RecordCache::Ticket> tickets(keys.size());
  std::vector<size_t> missing;
  for (size_t i = 0; i < keys.size(); ++i) {
    std::optional<StoredItemPtr> known = cache_.Find(keys[i], tickets[i]);
    if (known.has_value()) {
      items[i] = *std::move(known);
    } else {
      missing.push_back(i);
    }
  }
  if (missing.empty()) return items;
  std::sort(missing.begin(), missing.end(),
            [&keys](size_t a, size_t b) { return keys[a] < keys[b]; });
  // Begun after the tickets were taken: it sees all that was put before.
  auto cursor = database_.WalkPrefix(prefix, keys[missing.front()]);
  for (const size_t i : missing) {
    if (!SkipTo(cursor, keys[i])) {
      items[i] = ReadDatabase(keys[i], tickets[i]);  // says what is damaged, and what is not
      continue;
    }
    const bool found = cursor.Valid() && cursor.key() == keys[i];
    items[i] = found ? Decode(cursor.value()) : StoredItemPtr();
    if (items[i].ok()) cache_.Offer(keys[i], *items[i], tickets[i]);
  }
  return items;
}

std::vector<absl::StatusOr<StoredItemPtr>> ItemReader::ReadOwners(
    const Container& container, const std::vector<IndexEntry>& entries) const {
  std::vector<std::string> keys;
  keys.reserve(entries.size());
  for (const IndexEntry& entry : entries) {
    keys.push_back(EncodeItemKey(container.number, entry.key));
  }
  auto items = ReadMany(ItemPrefix(container.number), keys);
  for (size_t i = 0; i < entries.size(); ++i) {
    const EntryPosition position{container.index_number, entries[i].family, entries[i].time};
    if (items[i].ok() && *items[i] != nullptr && (*items[i])->position != position) {
      items[i] = StoredItemPtr();
    }
  }
  return items;
}

void ItemReader::ReadTimes(absl::Span<RecordCache::Lookup> lookups,
                           std::vector<absl::StatusOr<std::optional<ItemTimes>>>& times) const {
  times.clear();
  cache_.FindTimes(lookups);
  for (const RecordCache::Lookup& lookup : lookups) {
    if (lookup.known) {
      times.emplace_back(lookup.times);
      continue;
    }
    times.push_back(ReadColdTimes(lookup));
  }
}

absl::StatusOr<std::optional<ItemTimes>> ItemReader::ReadColdTimes(
    const RecordCache::Lookup& lookup) const {
  if (lookup.missed_again) {
    TTL_ASSIGN_OR_RETURN(const StoredItemPtr item, ReadDatabase(lookup.key, lookup.ticket));
    return TimesOf(item.get());
  }
  TTL_ASSIGN_OR_RETURN(const std::optional<std::string> bytes, database_.Get(lookup.key));
  if (!bytes.has_value()) return std::nullopt;
  TTL_ASSIGN_OR_RETURN(const StoredItem item, DecodeStoredItem(*bytes));
  return TimesOf(&item);
}

absl::StatusOr<StoredItemPtr> ItemReader::ReadDatabase(absl::string_view key,
                                                       const RecordCache::Ticket& ticket) const {
  TTL_ASSIGN_OR_RETURN(const std::optional<std::string> bytes, database_.Get(key));
  StoredItemPtr item;
  if (bytes.has_value()) {
    TTL_ASSIGN_OR_RETURN(item, Decode(*bytes));
  }
  cache_.Offer(key, item, ticket);
  return item;
}

}  // namespace ttl
