#include "service/storage/feed/event_writer.h"

#include <utility>

#include "absl/time/time.h"

namespace ttl {
namespace {

Expiry ExpiryOf(const Container& container, const ItemTimes& times) {
  return ComputeExpiry(container.settings.policy.default_ttl, times);
}

FeedEvent EventOf(EventKind kind, const Container& container, const ItemKey& key,
                  const ItemTimes& times) {
  const Expiry expiry = ExpiryOf(container, times);
  FeedEvent event;
  event.kind = kind;
  event.key = key;
  event.ts = times.ts;
  event.ttl_source = expiry.source;
  event.expire_time = expiry.time;
  return event;
}

// Whether they are one version of the item. Its sequence does not say: to a store that has none of
// its own, such as a table, it is the position at which the item was read. An etag may be learned
// later.
bool IsSameVersion(const ItemVersion& a, const ItemVersion& b) {
  return IsSameWrite(a.times, b.times) && (a.etag == b.etag || a.etag.empty() || b.etag.empty());
}

// The sequence of the EXPIRED of an item that ends now, which is announced first if it was not; 0
// if the item is not announced.
uint64_t SettleExpired(FeedChanges& changes, const Container& container, const ItemKey& key,
                       const StoredItem& item) {
  if (container.feed.IsAnnounced(item.expired_sequence)) return item.expired_sequence;
  StoredItem announced = item;
  return LogExpired(changes, container, key, announced, /*late=*/false) ? announced.expired_sequence
                                                                        : 0;
}

// Whether the report of a version that is tracked already may revive the item: its state was
// unknown, perhaps while items were revived, or it counts as touched.
bool MayRevive(const StoredItem& before, const StoredItem& after) {
  return before.state_unknown || before.version.times.touch_time != after.version.times.touch_time;
}

// Whether a report changes nothing of what was announced about the item. An announced item that it
// may revive is judged now, and without a judging time its EXPIRED ends here, because nothing would
// end it later.
bool GoesOn(FeedChanges& changes, const Container& container, const StoredItem& before,
            const StoredItem& after) {
  if (!IsSameVersion(before.version, after.version)) return false;
  if (!MayRevive(before, after) || !container.feed.IsAnnounced(before.expired_sequence))
    return true;
  return changes.moment().judged_at.has_value();
}

void LogPurged(FeedChanges& changes, const Container& container, const ItemKey& key,
               const ItemTimes& times, uint64_t expired_sequence, const Purge& purge,
               bool superseded) {
  FeedEvent event = EventOf(EventKind::kPurged, container, key, times);
  event.expired_sequence = expired_sequence;
  event.lateness_seconds = purge.lateness_seconds;
  event.superseded = superseded;
  event.given_up_subscriptions = changes.GivenUpFor(container.feed.number, purge.expired_sequence);
  changes.Add(container.feed.number, std::move(event));
}

}  // namespace

void LogReported(FeedChanges& changes, const Container& container, const ItemKey& key,
                 const StoredItem* before, StoredItem& after) {
  if (before != nullptr && GoesOn(changes, container, *before, after)) {
    after.expired_sequence = before->expired_sequence;
    after.noticed_expire_time = before->noticed_expire_time;
    after.noticed_sequence = before->noticed_sequence;
    if (!MayRevive(*before, after)) return;
    LogRevived(changes, container, key, after);
  } else if (before != nullptr) {
    const uint64_t ended = SettleExpired(changes, container, key, *before);
    if (ended != 0) {
      FeedEvent event = EventOf(EventKind::kReplaced, container, key, before->version.times);
      event.expired_sequence = ended;
      event.new_ts = after.version.times.ts;
      changes.Add(container.feed.number, std::move(event));
    }
  }
  LogExpired(changes, container, key, after, /*late=*/true);
}

void LogErased(FeedChanges& changes, const Container& container, const ItemKey& key,
               const StoredItem& before, const std::optional<Purge>& purge) {
  StoredItem erased = before;
  // The store deletes only the version that is tracked.
  if (purge.has_value()) erased.state_unknown = false;
  const uint64_t ended = SettleExpired(changes, container, key, erased);
  if (ended == 0) return;
  const ItemTimes& times = before.version.times;
  if (purge.has_value()) {
    LogPurged(changes, container, key, times, ended, *purge, /*superseded=*/false);
    return;
  }
  FeedEvent event = EventOf(EventKind::kGone, container, key, times);
  event.expired_sequence = ended;
  changes.Add(container.feed.number, std::move(event));
}

void LogSuperseded(FeedChanges& changes, const Container& container, const ItemKey& key,
                   const ItemTimes& times, const Purge& purge) {
  if (!container.feed.IsAnnounced(purge.expired_sequence)) return;
  LogPurged(changes, container, key, times, purge.expired_sequence, purge, /*superseded=*/true);
}

bool LogPurged(FeedChanges& changes, const Container& container, const ItemKey& key,
               StoredItem& item, const Purge& purge) {
  const uint64_t ended = item.expired_sequence;
  if (!container.feed.IsAnnounced(ended)) return false;
  LogPurged(changes, container, key, item.version.times, ended, purge, /*superseded=*/false);
  item.expired_sequence = 0;
  return true;
}

bool LogExpired(FeedChanges& changes, const Container& container, const ItemKey& key,
                StoredItem& item, bool late) {
  if (item.state_unknown || container.feed.IsAnnounced(item.expired_sequence)) return false;
  return LogExpiredAgain(changes, container, key, item, late);
}

bool LogExpiredAgain(FeedChanges& changes, const Container& container, const ItemKey& key,
                     StoredItem& item, bool late) {
  const FeedState& feed = container.feed;
  FeedEvent event = EventOf(EventKind::kExpired, container, key, item.version.times);
  if (!event.expire_time.has_value()) return false;
  const std::optional<absl::Time> judged_at = changes.moment().judged_at;
  if (!judged_at.has_value() || !IsExpiredAt(event.expire_time, *judged_at)) return false;
  event.late =
      late || feed.IsAnnounced(item.expired_sequence) || *event.expire_time <= feed.policy_time;
  item.expired_sequence = changes.Add(feed.number, std::move(event));
  return true;
}

bool LogExpiring(FeedChanges& changes, const Container& container, const ItemKey& key,
                 StoredItem& item, bool late) {
  const FeedState& feed = container.feed;
  const std::optional<absl::Time> judged_at = changes.moment().judged_at;
  if (!container.settings.feed->notice_seconds.has_value() || !judged_at.has_value()) return false;
  if (item.state_unknown || feed.IsAnnounced(item.expired_sequence)) return false;
  const int64_t notice = *container.settings.feed->notice_seconds;
  FeedEvent event = EventOf(EventKind::kExpiring, container, key, item.version.times);
  if (!event.expire_time.has_value() || IsExpiredAt(event.expire_time, *judged_at)) return false;
  const int64_t notice_time = *event.expire_time - notice;
  if (notice_time > absl::ToUnixSeconds(*judged_at)) return false;
  const int64_t noticed = NoticedExpireTime(feed, item);
  const int64_t moved_by = *event.expire_time - noticed;
  const bool is_noticed = noticed != 0 && moved_by <= notice && -moved_by <= notice;
  if (is_noticed) return false;
  event.late = late || notice_time <= feed.policy_time;
  item.noticed_expire_time = *event.expire_time;
  item.noticed_sequence = changes.Add(feed.number, std::move(event));
  return true;
}

bool LogRevived(FeedChanges& changes, const Container& container, const ItemKey& key,
                StoredItem& item) {
  const std::optional<absl::Time> judged_at = changes.moment().judged_at;
  if (!container.feed.IsAnnounced(item.expired_sequence) || item.state_unknown) return false;
  FeedEvent event = EventOf(EventKind::kRevived, container, key, item.version.times);
  if (!judged_at.has_value() || IsExpiredAt(event.expire_time, *judged_at)) return false;
  event.expired_sequence = item.expired_sequence;
  item.expired_sequence = 0;
  changes.Add(container.feed.number, std::move(event));
  return true;
}

bool TellTouched(FeedChanges& changes, const Container& container, const ItemKey& key,
                 StoredItem& item) {
  if (!container.feed.IsAnnounced(item.expired_sequence)) return false;
  if (LogRevived(changes, container, key, item)) return true;
  if (changes.moment().judged_at.has_value()) return false;
  FeedEvent event = EventOf(EventKind::kReplaced, container, key, item.version.times);
  event.expired_sequence = std::exchange(item.expired_sequence, 0);
  event.new_ts = item.version.times.ts;
  changes.Add(container.feed.number, std::move(event));
  return true;
}

void LogPolicyChange(FeedChanges& changes, const Container& container,
                     std::optional<int64_t> before) {
  FeedEvent event;
  event.kind = EventKind::kPolicyChanged;
  event.default_ttl = container.settings.policy.default_ttl;
  event.old_default_ttl = before;
  changes.Add(container.feed.number, std::move(event));
}

void LogResync(FeedChanges& changes, const Container& container) {
  FeedEvent event;
  event.kind = EventKind::kResync;
  changes.Add(container.feed.number, std::move(event));
}

}  // namespace ttl
