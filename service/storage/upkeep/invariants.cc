#include "service/storage/upkeep/invariants.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "service/base/status_macros.h"
#include "service/storage/format/key_codec.h"
#include "service/storage/format/record_codec.h"
#include "service/storage/format/stored_item.h"
#include "service/storage/upkeep/feed_invariants.h"

namespace ttl {
namespace {

// The numbers that keys may be under.
struct Numbers {
  absl::flat_hash_map<uint64_t, ContainerPtr> by_container;
  absl::flat_hash_map<uint64_t, ContainerPtr> by_index;
  absl::flat_hash_set<uint64_t> purged;
};

absl::Status Violation(absl::string_view what, absl::string_view key) {
  return absl::InternalError(absl::StrCat(what, " (key ", absl::BytesToHexString(key), ")"));
}

absl::StatusOr<Numbers> ReadNumbers(const Database& database, const Catalog& catalog) {
  Numbers numbers;
  for (const ContainerPtr& container : catalog.All()) {
    numbers.by_container[container->number] = container;
    if (container->index_number != 0) numbers.by_index[container->index_number] = container;
  }
  auto cursor = database.ReadPrefix(std::string(1, kPurgeTable));
  for (; cursor.Valid(); cursor.Next()) {
    numbers.purged.insert(DecodeNumber(cursor.key()).value_or(0));
  }
  TTL_RETURN_IF_ERROR(cursor.status());
  return numbers;
}

// The tally that a container should have.
struct Expected {
  ItemHistogram all;
  int64_t adopted = 0;
  ItemHistogram walked;  // the items that the walk has passed
  int64_t failing = 0;   // of those
  int64_t set_aside = 0;
  int64_t gated = 0;
  int64_t announced = 0;
};
using ExpectedTallies = absl::flat_hash_map<uint64_t, Expected>;

// The histogram, the totals and the record of the totals agree with the items.
absl::Status CheckTallies(const Database& database, const Numbers& numbers, const Tallies& tallies,
                          const ExpectedTallies& expected) {
  for (const auto& [number, container] : numbers.by_container) {
    const auto it = expected.find(number);
    const Expected items = it == expected.end() ? Expected() : it->second;
    const std::string key = TotalsKey(number);
    const TallyView view = tallies.View(number);
    if (tallies.FiguresOf(number, {}, 0).failing != items.failing) {
      return Violation("failing items are miscounted", key);
    }
    if (tallies.SetAside(number) != items.set_aside) {
      return Violation("items set aside are miscounted", key);
    }
    if (tallies.Gated(number) != items.gated) return Violation("gated items are miscounted", key);
    if (tallies.Announced(number) != items.announced)
      return Violation("announced items are miscounted", key);
    if (!view.histogram.Agrees(items.walked)) return Violation("a tally is not of its items", key);
    TTL_ASSIGN_OR_RETURN(const auto bytes, database.Get(key));
    if (!bytes.has_value() && !view.complete) continue;  // to be found out
    if (!bytes.has_value()) return Violation("totals that are known are not stored", key);
    TTL_ASSIGN_OR_RETURN(const ContainerTotals totals, DecodeTotals(*bytes));
    if (totals.tracked != items.all.total() || view.tracked != totals.tracked) {
      return Violation("totals are not those of the items", key);
    }
    if (totals.adopted.left != items.adopted || view.adopted != totals.adopted) {
      return Violation("adopted items are miscounted", key);
    }
  }
  return absl::OkStatus();
}

void Expect(const Tallies& tallies, const Container& container, absl::string_view key,
            const StoredItem& item, ExpectedTallies& expected) {
  const uint64_t number = container.number;
  Tallies::AddTo(expected[number].all, item);
  if (item.adopted_until != 0) ++expected[number].adopted;
  const std::optional<std::string> position = tallies.WalkPosition(number);
  if (position.has_value() && key > *position) return;
  Tallies::AddTo(expected[number].walked, item);
  if (Tallies::IsFailing(item)) ++expected[number].failing;
  if (Tallies::IsSetAside(item, container.index_number)) ++expected[number].set_aside;
  if (Tallies::IsGated(item, container.index_number)) ++expected[number].gated;
  if (Tallies::IsAnnounced(item, Tallies::AnnouncedAfter(container))) ++expected[number].announced;
}

absl::Status CheckItems(const Database& database, const Numbers& numbers, const Tallies& tallies) {
  ExpectedTallies expected;
  const std::string table(1, kItemTable);
  auto cursor = database.WalkPrefix(table, table);
  for (; cursor.Valid(); cursor.Next()) {
    const uint64_t number = DecodeNumber(cursor.key()).value_or(0);
    const auto it = numbers.by_container.find(number);
    if (it == numbers.by_container.end()) {
      if (numbers.purged.contains(number)) continue;
      return Violation("an item is in a container that does not exist", cursor.key());
    }
    TTL_ASSIGN_OR_RETURN(const StoredItem item, DecodeStoredItem(cursor.value()));
    TTL_RETURN_IF_ERROR(CheckItem(database, *it->second, cursor.key(), item));
    Expect(tallies, *it->second, cursor.key(), item, expected);
  }
  TTL_RETURN_IF_ERROR(cursor.status());
  return CheckTallies(database, numbers, tallies, expected);
}

absl::Status CheckEntries(const Database& database, const Numbers& numbers) {
  const std::string table(1, kIndexTable);
  auto cursor = database.WalkPrefix(table, table);
  for (; cursor.Valid(); cursor.Next()) {
    const uint64_t index = DecodeNumber(cursor.key()).value_or(0);
    const auto it = numbers.by_index.find(index);
    if (it == numbers.by_index.end()) {
      if (numbers.purged.contains(index)) continue;
      return Violation("an entry is in an index that does not exist", cursor.key());
    }
    TTL_RETURN_IF_ERROR(CheckEntry(database, *it->second, cursor.key()));
  }
  return cursor.status();
}

// Each hold is in a container that exists, or is being purged, and has as many keys as it says
// until it ends. A container says whether holds stand.
absl::Status CheckHolds(const Database& database, const Numbers& numbers) {
  absl::flat_hash_set<uint64_t> with_holds;
  const std::string table(1, kHoldTable);
  auto cursor = database.WalkPrefix(table, table);
  for (; cursor.Valid(); cursor.Next()) {
    const uint64_t number = DecodeNumber(cursor.key()).value_or(0);
    if (!numbers.by_container.contains(number)) {
      if (numbers.purged.contains(number)) continue;
      return Violation("a hold is in a container that does not exist", cursor.key());
    }
    const uint64_t hold_number = DecodeHoldNumber(cursor.key()).value_or(0);
    TTL_ASSIGN_OR_RETURN(const StoredHold hold, DecodeHold(number, hold_number, cursor.value()));
    if (!hold.stands()) continue;
    with_holds.insert(number);
    int64_t keys = 0;
    auto key = database.ReadPrefix(HoldKeysPrefix(number, hold_number));
    for (; key.Valid(); key.Next()) ++keys;
    TTL_RETURN_IF_ERROR(key.status());
    if (keys != hold.hold.key_count) return Violation("keys are miscounted", cursor.key());
  }
  TTL_RETURN_IF_ERROR(cursor.status());
  for (const auto& [number, container] : numbers.by_container) {
    if (container->has_holds == with_holds.contains(number)) continue;
    return Violation("a container is wrong about whether it has holds", ContainerKey(number));
  }
  return absl::OkStatus();
}

// The tables of the keys agree with each other and with the holds.
absl::Status CheckHoldKeys(const Database& database, const Numbers& numbers) {
  for (const char table : {kKeyHoldsTable, kHoldKeysTable}) {
    const std::string prefix(1, table);
    auto cursor = database.WalkPrefix(prefix, prefix);
    for (; cursor.Valid(); cursor.Next()) {
      const uint64_t number = DecodeNumber(cursor.key()).value_or(0);
      if (!numbers.by_container.contains(number) && numbers.purged.contains(number)) continue;
      TTL_RETURN_IF_ERROR(CheckHoldKey(database, cursor.key(), cursor.value()));
    }
    TTL_RETURN_IF_ERROR(cursor.status());
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckHoldKey(const Database& database, absl::string_view encoded,
                          absl::string_view value) {
  const uint64_t container = DecodeNumber(encoded).value_or(0);
  if (const std::optional<ItemKey> key = DecodeHoldKeysKey(encoded)) {
    const uint64_t number = DecodeHoldNumber(encoded).value_or(0);
    TTL_ASSIGN_OR_RETURN(const auto hold, database.Get(HoldKey(container, number)));
    if (!hold.has_value()) return Violation("a key is under a hold that does not exist", encoded);
    TTL_ASSIGN_OR_RETURN(const auto back, database.Get(KeyHoldsKey(container, *key)));
    if (!back.has_value()) return Violation("a key of a hold does not name it", encoded);
    TTL_ASSIGN_OR_RETURN(const std::vector<uint64_t> holds, DecodeKeyHolds(*back));
    if (std::binary_search(holds.begin(), holds.end(), number)) return absl::OkStatus();
    return Violation("a key of a hold does not name it", encoded);
  }
  const std::optional<ItemKey> key = DecodeKeyHoldsKey(encoded);
  if (!key.has_value()) return Violation("a key of a hold is truncated", encoded);
  TTL_ASSIGN_OR_RETURN(const std::vector<uint64_t> holds, DecodeKeyHolds(value));
  for (const uint64_t number : holds) {
    TTL_ASSIGN_OR_RETURN(const auto back, database.Get(HoldKeysKey(container, number, *key)));
    if (!back.has_value()) return Violation("a key names a hold that does not have it", encoded);
  }
  return absl::OkStatus();
}

// An item in an existing index has exactly the entry that it names, no later than its deadline. An
// item without an entry can never expire.
absl::Status CheckItem(const Database& database, const Container& container,
                       absl::string_view encoded, const StoredItem& item) {
  const std::optional<ItemKey> key = DecodeItemKey(encoded);
  if (!key.has_value()) return Violation("the key of an item is truncated", encoded);
  TTL_RETURN_IF_ERROR(CheckAnnounced(database, container, encoded, item));
  if (item.version.times.touch_time != 0 && !container.has_touches) {
    return Violation("an item is touched in a container without touches", encoded);
  }
  const auto wanted = BelongsAt(container.index_number, item);
  if (item.position.index != container.index_number || item.position.index == 0) {
    if (wanted.has_value() && !container.index_build.has_value()) {
      return Violation("an item that can expire is in no index", encoded);
    }
    return absl::OkStatus();
  }
  TTL_ASSIGN_OR_RETURN(const auto entry,
                       database.Get(EncodeIndexKey(item.position.index, item.position.family,
                                                   item.position.time, *key)));
  if (!entry.has_value())
    return Violation("an item names an index entry that does not exist", encoded);
  if (item.position.family == IndexFamily::kRetryTime) return absl::OkStatus();
  if (item.position.family == IndexFamily::kHeld) {
    const auto number = static_cast<uint64_t>(item.position.time);
    TTL_ASSIGN_OR_RETURN(const auto hold, database.Get(HoldKey(container.number, number)));
    if (!hold.has_value()) return Violation("an item is set aside under no hold", encoded);
    if (wanted.has_value()) return absl::OkStatus();
    return Violation("an item that can never expire is set aside", encoded);
  }
  if (item.position.family == IndexFamily::kGated) {
    // A gate passes the entry no later than the EXPIRED of its item.
    if (static_cast<uint64_t>(item.position.time) != item.expired_sequence) {
      return Violation("an item is set aside under an event that is not its EXPIRED", encoded);
    }
    if (wanted.has_value()) return absl::OkStatus();
    return Violation("an item that can never expire is set aside", encoded);
  }
  if (item.position.family == IndexFamily::kAdopted && item.position.time != item.adopted_until) {
    return Violation("an adopted item's entry is not at the end of its wait", encoded);
  }
  if (!wanted.has_value() || wanted->family != item.position.family) {
    return Violation("an item's entry is in the wrong family", encoded);
  }
  if (item.position.time > wanted->time) {
    return Violation("an item's entry is later than its deadline", encoded);
  }
  return absl::OkStatus();
}

absl::Status CheckEntry(const Database& database, const Container& container,
                        absl::string_view encoded) {
  const std::optional<IndexEntry> entry = DecodeIndexKey(encoded);
  if (!entry.has_value()) return Violation("an index entry is unreadable", encoded);
  TTL_ASSIGN_OR_RETURN(const auto bytes, database.Get(EncodeItemKey(container.number, entry->key)));
  if (!bytes.has_value()) return Violation("an entry stands for no item", encoded);
  TTL_ASSIGN_OR_RETURN(const StoredItem item, DecodeStoredItem(*bytes));
  if (item.position != EntryPosition{container.index_number, entry->family, entry->time}) {
    return Violation("an index entry belongs to an item that names another entry", encoded);
  }
  return absl::OkStatus();
}

absl::Status CheckInvariants(const Database& database, const Catalog& catalog,
                             const Tallies& tallies, const FeedLog& feed_log) {
  // The data of a container that could not be read cannot be told from violations.
  if (const auto problems = catalog.Problems(); !problems.empty()) {
    return absl::DataLossError(problems.front());
  }
  TTL_ASSIGN_OR_RETURN(const Numbers numbers, ReadNumbers(database, catalog));
  TTL_RETURN_IF_ERROR(CheckHolds(database, numbers));
  TTL_RETURN_IF_ERROR(CheckHoldKeys(database, numbers));
  TTL_RETURN_IF_ERROR(CheckItems(database, numbers, tallies));
  TTL_RETURN_IF_ERROR(CheckFeeds(database, catalog, feed_log));
  return CheckEntries(database, numbers);
}

}  // namespace ttl
