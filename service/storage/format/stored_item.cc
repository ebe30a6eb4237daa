#include "service/storage/format/stored_item.h"

#include <algorithm>
#include <limits>

#include "service/core/due_rules.h"

namespace ttl {
namespace {

// As NextReported(), of an item that does not count as touched.
StoredItem NextAdopted(const Container& container, const AdoptionTerms& terms,
                       const StoredItemPtr& before, const ItemVersion& version) {
  StoredItem next = NextVersion(before, version);
  next.adopted_until = AdoptedUntil(container, terms, next.version.times);
  if (before == nullptr || next.adopted_until == 0) return next;
  const bool is_same = !before->state_unknown && IsSameWrite(before->version.times, version.times);
  const bool waits = IsToConfirm(container, before->adopted_until);
  if (is_same || waits) next.adopted_until = before->adopted_until;
  return next;
}

}  // namespace

bool IsOlder(uint64_t epoch, int64_t ts, std::optional<uint64_t> sequence,
             const StoredItem& stored) {
  return stored.store_epoch >= epoch && IsOlderReport(ts, sequence, stored.version);
}

bool IsReleased(const StoredItem& item) {
  return item.held_until != 0 && item.position.family == IndexFamily::kRetryTime &&
         item.position.time == item.version.times.ts;
}

int64_t NoticedExpireTime(const FeedState& feed, const StoredItem& item) {
  return feed.IsAnnounced(item.noticed_sequence) ? item.noticed_expire_time : 0;
}

StoredItem NextVersion(const StoredItemPtr& before, const ItemVersion& version) {
  StoredItem next;
  next.version = version;
  next.generation = before == nullptr ? 1 : before->generation + 1;
  if (before == nullptr) return next;
  next.held_until = before->held_until;
  next.version.times.touch_time =
      std::max(version.times.touch_time, before->version.times.touch_time);
  return next;
}

StoredItem NextReported(const Container& container, const AdoptionTerms& terms,
                        const StoredItemPtr& before, const ItemVersion& version,
                        bool counts_as_touched) {
  StoredItem next = NextAdopted(container, terms, before, version);
  if (!counts_as_touched) return next;
  ItemTimes& times = next.version.times;
  times.touch_time = std::max(times.touch_time, absl::ToUnixSeconds(terms.latest));
  if (next.adopted_until == 0) return next;
  // One whose wait ends while it is not due is not adopted any more.
  const DueRule rule = ComputeDueRule(container.settings.policy, {}, terms.now);
  next.adopted_until = std::max(next.adopted_until, DueTime(rule, times).value_or(0));
  return next;
}

std::optional<StoredItem> CountedAsTouched(const StoredItem& item, int64_t touch_time) {
  if (item.version.times.touch_time >= touch_time) return std::nullopt;
  StoredItem touched = item;
  touched.version.times.touch_time = touch_time;
  return touched;
}

TrackedItem ToTracked(const StoredItem& stored) {
  TrackedItem item;
  item.version = stored.version;
  item.generation = stored.generation;
  item.attempts = stored.attempts;
  item.last_error = stored.last_error;
  item.state_unknown = stored.state_unknown;
  item.adopted_until = stored.adopted_until;
  item.store_epoch = stored.store_epoch;
  item.expired_sequence = stored.expired_sequence;
  item.noticed_expire_time = stored.noticed_expire_time;
  const bool waits =
      stored.position.family == IndexFamily::kRetryTime && stored.position.index != 0;
  if (waits && !IsReleased(stored)) {
    item.retry_time = stored.position.time;
  }
  return item;
}

std::optional<ItemTimes> TimesOf(const StoredItem* item) {
  if (item == nullptr || item->state_unknown) return std::nullopt;
  return item->version.times;
}

std::optional<EntryPosition> BelongsAt(uint64_t index, const StoredItem& item) {
  const ItemTimes& times = item.version.times;
  const bool in_range =
      times.ts >= 0 && times.base() <= std::numeric_limits<int64_t>::max() - kMaxTtl;
  if (index == 0 || !in_range) return std::nullopt;
  if (item.adopted_until != 0)
    return EntryPosition{index, IndexFamily::kAdopted, item.adopted_until};
  const OwnEnd own = ComputeOwnEnd(times);
  switch (own.kind) {
    case OwnEnd::Kind::kNever:
      return std::nullopt;
    case OwnEnd::Kind::kInherited:
      return EntryPosition{index, IndexFamily::kTs, times.base()};
    case OwnEnd::Kind::kAt:
      return EntryPosition{index, IndexFamily::kExpireTime, own.time};
  }
  return std::nullopt;
}

EntryPosition HeldPosition(uint64_t index, uint64_t hold) {
  return {index, IndexFamily::kHeld, static_cast<int64_t>(hold)};
}

EntryPosition GatedPosition(uint64_t index, uint64_t expired_sequence) {
  return {index, IndexFamily::kGated, static_cast<int64_t>(expired_sequence)};
}

void LeaveGates(uint64_t index, StoredItem& item) {
  if (item.position.index != index || item.position.family != IndexFamily::kGated) return;
  item.position = BelongsAt(index, item).value_or(EntryPosition());
}

std::optional<EntryPosition> RetryPosition(uint64_t index, int64_t next_try) {
  if (index == 0) return std::nullopt;
  return EntryPosition{index, IndexFamily::kRetryTime, std::max<int64_t>(next_try, 0)};
}

EntryPosition ReleasedPosition(uint64_t index, const StoredItem& item) {
  return RetryPosition(index, item.version.times.ts).value_or(EntryPosition());
}

std::optional<EntryPosition> ChoosePosition(const std::optional<EntryPosition>& present,
                                            const std::optional<EntryPosition>& wanted,
                                            int64_t max_earliness) {
  if (!present.has_value() || !wanted.has_value()) return wanted;
  if (present->index != wanted->index) return wanted;
  if (present->family != wanted->family) return wanted;
  if (wanted->family == IndexFamily::kAdopted) return wanted;
  const int64_t earliness = wanted->time - present->time;
  return earliness >= 0 && earliness <= max_earliness ? present : wanted;
}

int64_t MaxEarliness(const std::optional<int64_t>& default_ttl, const ItemTimes& times) {
  constexpr int64_t kHour = 3600;
  return std::max(kHour, ComputeExpiry(default_ttl, times).effective_ttl.value_or(0) / 2);
}

}  // namespace ttl
