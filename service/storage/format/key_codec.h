#ifndef TTL_SERVICE_STORAGE_FORMAT_KEY_CODEC_H_
#define TTL_SERVICE_STORAGE_FORMAT_KEY_CODEC_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "service/core/item.h"
#include "service/storage/format/index_entry.h"
#include "service/storage/format/stored_item.h"

// The keys of the database. One prefix byte per table, numbers big-endian so
// that bytewise order is numeric order, strings unambiguous:
//
//   'm' name                                      facts about the sidecar
//   'a' container id                              applied entry of the containers file
//   'c' number:8                                  containers
//   'i' number:8 item                             items of a container
//   't' number:8                                  totals of a container's items
//   'x' index:8 family:1 time:8 item              expiry index
//   'p' number:8                                  what is being purged
//   'h' container:8 hold:8                        holds of a container
//   'k' container:8 item                          the holds by key that name an item
//   'q' container:8 hold:8 item                   the items that a hold names
//   'e' feed:8 sequence:8                         events of a feed
//   'f' feed:8                                    up to where its events were dropped
//   's' feed:8 name                               subscriptions of a feed
//
// where item is: length of partition key:2, partition key, id.
namespace ttl {

inline constexpr char kMetaTable = 'm';
inline constexpr char kAppliedEntryTable = 'a';
inline constexpr char kContainerTable = 'c';
inline constexpr char kItemTable = 'i';
inline constexpr char kTotalsTable = 't';
inline constexpr char kIndexTable = 'x';
inline constexpr char kPurgeTable = 'p';
inline constexpr char kHoldTable = 'h';
inline constexpr char kKeyHoldsTable = 'k';
inline constexpr char kHoldKeysTable = 'q';
inline constexpr char kEventTable = 'e';
inline constexpr char kFeedTrimTable = 'f';
inline constexpr char kSubscriptionTable = 's';

// Longest key of an index entry, and so of any key.
inline constexpr size_t kMaxKeyBytes = 1 + 8 + 1 + 8 + 2 + kMaxPartitionKeyBytes + kMaxIdBytes;

std::string MetaKey(absl::string_view name);
std::string AppliedEntryKey(absl::string_view container_id);
std::string ContainerKey(uint64_t number);
std::string TotalsKey(uint64_t number);
std::string PurgeKey(uint64_t number);

// The prefix of all items of a container, of all entries of an index, and of those of one family.
std::string ItemPrefix(uint64_t container);
std::string IndexPrefix(uint64_t index);
std::string IndexFamilyPrefix(uint64_t index, IndexFamily family);

// Appends the key of an item; ItemKeySize() is its length. `partition_key` has at most
// kMaxPartitionKeyBytes.
void AppendItemKey(uint64_t container, absl::string_view partition_key, absl::string_view id,
                   std::string& out);
size_t ItemKeySize(absl::string_view partition_key, absl::string_view id);
std::string EncodeItemKey(uint64_t container, const ItemKey& key);

// First key of an index family at or after `time`. Negative times count as 0.
std::string IndexSeekKey(uint64_t index, IndexFamily family, int64_t time);
std::string EncodeIndexKey(uint64_t index, IndexFamily family, int64_t time, const ItemKey& key);

// The place right behind `entry`.
IndexPlace PlaceBehind(uint64_t index, const IndexEntry& entry);

// A hold, the holds that name an item, and an item that a hold names.
std::string HoldKey(uint64_t container, uint64_t hold);
std::string KeyHoldsKey(uint64_t container, const ItemKey& key);
std::string HoldKeysKey(uint64_t container, uint64_t hold, const ItemKey& key);

// The prefixes of these: by container, and all items that one hold names.
std::string HoldPrefix(uint64_t container);
std::string KeyHoldsPrefix(uint64_t container);
std::string HoldKeysPrefix(uint64_t container);
std::string HoldKeysPrefix(uint64_t container, uint64_t hold);

// An event, the record of what was dropped, and a subscription of a feed; and the prefixes of its
// events and subscriptions.
std::string EventKey(uint64_t feed, uint64_t sequence);
std::string FeedTrimKey(uint64_t feed);
std::string SubscriptionKey(uint64_t feed, absl::string_view name);
std::string EventPrefix(uint64_t feed);
std::string SubscriptionPrefix(uint64_t feed);

// The number in a key of the tables 'c', 'i', 't', 'x', 'p', 'h', 'k', 'q', 'e', 'f' and 's';
// absent if too short.
std::optional<uint64_t> DecodeNumber(absl::string_view encoded);

// Absent if `encoded` is not a key of that table.
std::optional<ItemKey> DecodeItemKey(absl::string_view encoded);
std::optional<ItemKey> DecodeKeyHoldsKey(absl::string_view encoded);
// The number of the hold in a key of the tables 'h' and 'q', and the item in one of 'q'.
std::optional<uint64_t> DecodeHoldNumber(absl::string_view encoded);
std::optional<ItemKey> DecodeHoldKeysKey(absl::string_view encoded);
std::optional<IndexEntry> DecodeIndexKey(absl::string_view encoded);
std::optional<uint64_t> DecodeEventSequence(absl::string_view encoded);
std::optional<std::string> DecodeSubscriptionName(absl::string_view encoded);

// The position of an index entry, decoded without its item.
std::optional<EntryPosition> DecodeEntryPosition(absl::string_view encoded);

// First key after all that begin with `prefix`, which has a byte below 0xFF.
std::string PrefixEnd(std::string prefix);

}  // namespace ttl

#endif  // TTL_SERVICE_STORAGE_FORMAT_KEY_CODEC_H_
