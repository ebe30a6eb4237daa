#include "service/storage/unannounced_items.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "service/base/saturated_add.h"
#include "service/base/status_macros.h"
#include "service/core/ttl_rules.h"
#include "service/storage/commit/item_reader.h"
#include "service/storage/commit/low_water_marks.h"
#include "service/storage/commit/unannounced_marks.h"
#include "service/storage/engine/database.h"
#include "service/storage/engine/index_cursor.h"
#include "service/storage/format/key_codec.h"
#include "service/storage/format/record_codec.h"
#include "service/storage/format/stored_item.h"

// A scan reads the entries of a family from its mark on. What stands before the mark is announced
// (or damaged), whatever the policy: a change of policy moves the last time at which an entry may
// stand for an expired item, and no entry. So no change of policy makes a scan begin again, except
// of notices, since "announced" means there that the item will end about when the notice said.
//
// A scan raises the mark twice: at once to the first entry that is not dealt with, and in
// Pass...(), when all that it found is announced or moved, behind the last entry that it looked at.
// Between the two the marks remember what commits lower, so that nothing is passed that became
// unannounced meanwhile.
//
// The families of kExpireTime and kTs are in the order in which their items expire. The others are
// not, so they are read whole; an item there that is not expired, because the policy was loosened,
// goes back to the place in the first two at which it will be found at its second.
//
// Scans begin no earlier than those of the sweep, which has passed what is not there any more.
namespace ttl {
namespace {

constexpr size_t kReadTogether = 512;

constexpr IndexFamily kInOrder[] = {IndexFamily::kExpireTime, IndexFamily::kTs};
constexpr IndexFamily kOthers[] = {IndexFamily::kRetryTime, IndexFamily::kAdopted,
                                   IndexFamily::kHeld, IndexFamily::kGated};

// Behind the time of any entry.
constexpr int64_t kAnyTime = LowWaterMarks::kEmpty - 1;

// How long after the time of its entry an item of a family in order expires; absent if it never
// does.
std::optional<int64_t> LifeOf(const Container& container, IndexFamily family) {
  const std::optional<int64_t>& default_ttl = container.settings.policy.default_ttl;
  if (container.index_number == 0 || !default_ttl.has_value() || !IsLegalTtl(*default_ttl)) {
    return std::nullopt;
  }
  if (family == IndexFamily::kExpireTime) return 0;
  if (*default_ttl == kNeverExpires) return std::nullopt;
  return *default_ttl;
}

std::optional<int64_t> FirstEnd(const Container& container, const LowWaterMarks& marks) {
  std::optional<int64_t> first;
  for (const IndexFamily family : kInOrder) {
    const std::optional<int64_t> life = LifeOf(container, family);
    if (!life.has_value()) continue;
    const int64_t mark = marks.Get(container.index_number, family).time;
    if (mark == LowWaterMarks::kEmpty) continue;
    first = std::min(first.value_or(LowWaterMarks::kEmpty), SaturatedAdd(mark, *life));
  }
  return first;
}

}  // namespace

struct UnannouncedItems::Search {
  LowWaterMarks& marks;
  std::optional<int64_t> default_ttl;
  int64_t now;
  int64_t notice;  // 0: expired items are looked for; else those that expire within it

  // What to do about the item of an entry.
  enum class Found {
    kPass,    // nothing, until a commit lowers the mark
    kTell,    //
    kTidy,    // its entry belongs elsewhere
    kExpired  // nothing, but the other search announces it
  };

  Found Judge(const FeedState& feed, const StoredItem* item, std::optional<int64_t> end) const {
    if (item == nullptr) return Found::kTidy;
    if (!IsUnannounced(feed, *item)) return Found::kPass;
    if (!end.has_value() || *end > SaturatedAdd(now, notice)) return Found::kTidy;
    if (notice == 0) return Found::kTell;
    const int64_t noticed = NoticedExpireTime(feed, *item);
    const bool was_noticed =
        noticed != 0 && noticed >= *end - notice && noticed <= SaturatedAdd(*end, notice);
    if (was_noticed) return Found::kPass;
    return *end <= now ? Found::kExpired : Found::kTell;
  }
};

UnannouncedItems::UnannouncedItems(const Database& database, const ItemReader& reader,
                                   const LowWaterMarks& sweep, UnannouncedMarks& marks)
    : database_(database), reader_(reader), sweep_(sweep), marks_(marks) {}

std::optional<int64_t> UnannouncedItems::NextExpiry(const Container& container) const {
  return FirstEnd(container, marks_.expiries);
}

std::optional<int64_t> UnannouncedItems::NextNotice(const Container& container) const {
  if (!container.settings.feed.has_value()) return std::nullopt;
  const std::optional<int64_t>& notice = container.settings.feed->notice_seconds;
  if (!notice.has_value()) return std::nullopt;
  const std::optional<int64_t> end = FirstEnd(container, marks_.notices);
  if (!end.has_value()) return std::nullopt;
  return std::max<int64_t>(*end - *notice, 0);
}

bool UnannouncedItems::HasOthers(const Container& container) const {
  if (!LifeOf(container, IndexFamily::kExpireTime).has_value()) return false;
  return std::any_of(std::begin(kOthers), std::end(kOthers), [&](IndexFamily family) {
    return marks_.expiries.Get(container.index_number, family).time != LowWaterMarks::kEmpty;
  });
}

absl::StatusOr<UnannouncedScan> UnannouncedItems::ScanExpired(const Container& container,
                                                              int64_t now,
                                                              const UnannouncedLimits& limits) {
  UnannouncedScan scan;
  scan.generation = marks_.expiries.Generation();
  const Search search = {marks_.expiries, container.settings.policy.default_ttl, now, 0};
  size_t examined = 0;
  for (const IndexFamily family : kInOrder) {
    const std::optional<int64_t> life = LifeOf(container, family);
    if (!life.has_value()) continue;
    TTL_RETURN_IF_ERROR(ScanFamily(container, search, family, now - *life, limits, examined, scan));
  }
  if (!LifeOf(container, IndexFamily::kExpireTime).has_value()) return scan;
  for (const IndexFamily family : kOthers) {
    TTL_RETURN_IF_ERROR(ScanFamily(container, search, family, kAnyTime, limits, examined, scan));
  }
  return scan;
}

absl::StatusOr<UnannouncedScan> UnannouncedItems::ScanExpiring(const Container& container,
                                                               int64_t now,
                                                               const UnannouncedLimits& limits) {
  UnannouncedScan scan;
  if (!container.settings.feed.has_value()) return scan;
  const int64_t notice = container.settings.feed->notice_seconds.value_or(0);
  if (notice <= 0) return scan;
  scan.generation = marks_.notices.Generation();
  const Search search = {marks_.notices, container.settings.policy.default_ttl, now, notice};
  size_t examined = 0;
  for (const IndexFamily family : kInOrder) {
    const std::optional<int64_t> life = LifeOf(container, family);
    if (!life.has_value()) continue;
    TTL_RETURN_IF_ERROR(ScanFamily(container, search, family, SaturatedAdd(now, notice) - *life,
                                   limits, examined, scan));
  }
  return scan;
}

absl::Status UnannouncedItems::ScanFamily(const Container& container, const Search& search,
                                          IndexFamily family, int64_t last_time,
                                          const UnannouncedLimits& limits, size_t& examined,
                                          UnannouncedScan& scan) {
  using Found = Search::Found;
  const uint64_t index = container.index_number;
  const IndexPlace mark = search.marks.BeginScan(index, family);
  const IndexPlace start = std::max(mark, sweep_.Get(index, family));
  if (start.time == LowWaterMarks::kEmpty) {
    search.marks.EndScan(index, family, start);
    return absl::OkStatus();
  }
  IndexCursor cursor(database_, index, family, start);
  std::optional<IndexPlace> first_open;     // the first entry that is not dealt with
  std::optional<IndexPlace> first_expired;  // the first that this scan does not deal with
  while (true) {
    const size_t most = std::min(
        {kReadTogether, limits.max_items - scan.items.size(), limits.max_examined - examined});
    std::vector<IndexEntry> entries = cursor.TakeUntil(last_time, most);
    if (entries.empty()) break;
    examined += entries.size();
    const auto items = reader_.ReadOwners(container, entries);
    for (size_t i = 0; i < entries.size(); ++i) {
      if (absl::IsDataLoss(items[i].status())) {
        ++scan.unreadable;
        continue;
      }
      TTL_RETURN_IF_ERROR(items[i].status());
      const StoredItem* item = items[i]->get();
      const std::optional<int64_t> end =
          item == nullptr ? std::nullopt : ExpireTime(search.default_ttl, item->version.times);
      const Found found = search.Judge(container.feed, item, end);
      if (found == Found::kPass) continue;
      IndexEntry& entry = entries[i];
      const IndexPlace place = {entry.time, EncodeIndexKey(index, family, entry.time, entry.key)};
      if (!first_open.has_value()) first_open = place;
      if (found == Found::kExpired && !first_expired.has_value()) first_expired = place;
      if (found == Found::kTell) {
        scan.items.push_back({std::move(entry.key), item->generation, *end});
      } else if (found == Found::kTidy) {
        scan.early.push_back(std::move(entry));
      }
    }
  }
  TTL_RETURN_IF_ERROR(cursor.status());
  const IndexPlace reached = cursor.Valid() ? cursor.place() : IndexPlace{LowWaterMarks::kEmpty};
  scan.more = scan.more || (cursor.Valid() && reached.time <= last_time);
  search.marks.EndScan(index, family, first_open.value_or(reached));
  scan.reached.emplace_back(family, first_expired.value_or(reached));
  return absl::OkStatus();
}

void UnannouncedItems::PassExpired(const Container& container, const UnannouncedScan& scan) {
  for (const auto& [family, place] : scan.reached) {
    marks_.expiries.EndScanOf(scan.generation, container.index_number, family, place);
  }
}

void UnannouncedItems::PassExpiring(const Container& container, const UnannouncedScan& scan) {
  for (const auto& [family, place] : scan.reached) {
    marks_.notices.EndScanOf(scan.generation, container.index_number, family, place);
  }
}

void UnannouncedItems::Forget(uint64_t index) { marks_.Forget(index); }
void UnannouncedItems::ForgetNotices(uint64_t index) { marks_.notices.Forget(index); }

absl::StatusOr<RevivedPage> UnannouncedItems::FindRevived(const Container& container, int64_t now,
                                                          const std::optional<ItemKey>& after,
                                                          const UnannouncedLimits& limits) const {
  const std::string prefix = ItemPrefix(container.number);
  // The smallest key after another is that key with a zero byte appended.
  const std::string start =
      after.has_value() ? EncodeItemKey(container.number, *after) + '\0' : prefix;
  RevivedPage page;
  size_t examined = 0;
  auto cursor = database_.WalkPrefix(prefix, start);
  for (; cursor.Valid(); cursor.Next()) {
    std::optional<ItemKey> key = DecodeItemKey(cursor.key());
    if (!key.has_value()) return absl::DataLossError("the key of an item is truncated");
    const absl::StatusOr<StoredItem> item = DecodeStoredItem(cursor.value());
    const bool is_last = ++examined == limits.max_examined;
    if (item.ok() && !item->state_unknown && container.feed.IsAnnounced(item->expired_sequence)) {
      const std::optional<int64_t> end =
          ExpireTime(container.settings.policy.default_ttl, item->version.times);
      if (!end.has_value() || *end > now) page.items.push_back({*key, item->generation, 0});
    }
    if (is_last || page.items.size() == limits.max_items) {
      page.next = *std::move(key);
      return page;
    }
  }
  TTL_RETURN_IF_ERROR(cursor.status());
  return page;
}

}  // namespace ttl
