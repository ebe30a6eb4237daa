#include "service/storage/upkeep/feed_invariants.h"

#include <cstdint>
#include <optional>
#include <string>

#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "service/base/status_macros.h"
#include "service/storage/format/feed_codec.h"
#include "service/storage/format/key_codec.h"
#include "service/storage/format/record_codec.h"

namespace ttl {
namespace {

absl::Status FeedViolation(absl::string_view what, absl::string_view key) {
  return absl::InternalError(absl::StrCat(what, " (key ", absl::BytesToHexString(key), ")"));
}

bool Ends(const FeedEvent& event) {
  switch (event.kind) {
    case EventKind::kPurged:
      return !event.superseded;
    case EventKind::kGone:
    case EventKind::kRevived:
    case EventKind::kReplaced:
      return true;
    case EventKind::kExpired:
    case EventKind::kPolicyChanged:
    case EventKind::kResync:
    case EventKind::kExpiring:
      return false;
  }
  return false;
}

// One log, event by event.
class LogCheck {
 public:
  LogCheck(const Container& container, uint64_t dropped_sequence)
      : container_(container), dropped_(dropped_sequence) {}

  absl::Status Add(absl::string_view key, absl::string_view value) {
    const std::optional<uint64_t> sequence = DecodeEventSequence(key);
    if (!sequence.has_value()) return FeedViolation("the key of an event is truncated", key);
    if (*sequence <= dropped_ || *sequence <= container_.feed.first_sequence) {
      return FeedViolation("an event is before the first of its feed", key);
    }
    TTL_ASSIGN_OR_RETURN(const FeedEvent event, DecodeEvent(*sequence, value));
    last_ = *sequence;
    ++events_;
    bytes_ += static_cast<int64_t>(key.size() + value.size());
    if (event.kind == EventKind::kExpired) open_.emplace(*sequence, event.key);
    if (!Ends(event)) return absl::OkStatus();
    const uint64_t expired = event.expired_sequence;
    if (expired == 0) return FeedViolation("an event ends no EXPIRED", key);
    if (!ended_.insert(expired).second) return FeedViolation("an EXPIRED ends twice", key);
    const auto open = open_.find(expired);
    if (open == open_.end()) {
      if (expired <= dropped_) return absl::OkStatus();
      return FeedViolation("an event ends an EXPIRED that is not in the log", key);
    }
    if (open->second != event.key) return FeedViolation("an EXPIRED ends with another item", key);
    open_.erase(open);
    return absl::OkStatus();
  }

  absl::Status Finish(const Database& database, const std::optional<FeedLog::State>& state) const {
    for (const auto& [sequence, key] : open_) {
      const std::string encoded = EncodeItemKey(container_.number, key);
      TTL_ASSIGN_OR_RETURN(const auto bytes, database.Get(encoded));
      if (!bytes.has_value()) return FeedViolation("an EXPIRED has no item and no end", encoded);
      TTL_ASSIGN_OR_RETURN(const StoredItem item, DecodeStoredItem(*bytes));
      if (item.expired_sequence == sequence) continue;
      return FeedViolation("an EXPIRED that has not ended is not the one of its item", encoded);
    }
    const std::string key = EventPrefix(container_.feed.number);
    if (!state.has_value()) return FeedViolation("a feed is not known", key);
    if (state->dropped_sequence != dropped_) return FeedViolation("a wrong first event", key);
    if (events_ > 0 && state->last_sequence != last_)
      return FeedViolation("a wrong last event", key);
    if (state->counted_to.has_value()) return absl::OkStatus();
    if (state->events == events_ && state->bytes == bytes_) return absl::OkStatus();
    return FeedViolation("events are miscounted", key);
  }

 private:
  const Container& container_;
  const uint64_t dropped_;
  absl::btree_map<uint64_t, ItemKey> open_;
  absl::flat_hash_set<uint64_t> ended_;
  uint64_t last_ = 0;
  int64_t events_ = 0;
  int64_t bytes_ = 0;
};

absl::StatusOr<uint64_t> DroppedSequence(const Database& database, uint64_t feed) {
  TTL_ASSIGN_OR_RETURN(const auto trim, database.Get(FeedTrimKey(feed)));
  return trim.has_value() ? DecodeFeedTrim(*trim) : 0;
}

absl::Status CheckLog(const Database& database, const Container& container, const FeedLog& log) {
  const uint64_t feed = container.feed.number;
  TTL_ASSIGN_OR_RETURN(const uint64_t dropped, DroppedSequence(database, feed));
  LogCheck check(container, dropped);
  auto cursor = database.WalkPrefix(EventPrefix(feed), EventPrefix(feed));
  for (; cursor.Valid(); cursor.Next()) {
    TTL_RETURN_IF_ERROR(check.Add(cursor.key(), cursor.value()));
  }
  TTL_RETURN_IF_ERROR(cursor.status());
  return check.Finish(database, log.Find(feed));
}

}  // namespace

absl::Status CheckAnnounced(const Database& database, const Container& container,
                            absl::string_view encoded, const StoredItem& item) {
  if (!container.feed.IsAnnounced(item.expired_sequence)) return absl::OkStatus();
  const uint64_t feed = container.feed.number;
  TTL_ASSIGN_OR_RETURN(const auto bytes, database.Get(EventKey(feed, item.expired_sequence)));
  if (!bytes.has_value()) {
    TTL_ASSIGN_OR_RETURN(const uint64_t dropped, DroppedSequence(database, feed));
    if (item.expired_sequence <= dropped) return absl::OkStatus();
    return FeedViolation("an item names an EXPIRED that is not in the log", encoded);
  }
  TTL_ASSIGN_OR_RETURN(const FeedEvent event, DecodeEvent(item.expired_sequence, *bytes));
  if (event.kind == EventKind::kExpired && DecodeItemKey(encoded) == event.key) {
    return absl::OkStatus();
  }
  return FeedViolation("an item names an event that is not its EXPIRED", encoded);
}

absl::Status CheckFeedRecord(absl::string_view encoded, absl::string_view value) {
  switch (encoded[0]) {
    case kEventTable: {
      const std::optional<uint64_t> sequence = DecodeEventSequence(encoded);
      if (!sequence.has_value()) return FeedViolation("the key of an event is truncated", encoded);
      return DecodeEvent(*sequence, value).status();
    }
    case kFeedTrimTable:
      return DecodeFeedTrim(value).status();
    default:
      return DecodeSubscription("", value).status();
  }
}

absl::Status CheckFeeds(const Database& database, const Catalog& catalog, const FeedLog& log) {
  absl::flat_hash_set<uint64_t> feeds;
  for (const ContainerPtr& container : catalog.All()) {
    if (!container->feed.is_on()) continue;
    feeds.insert(container->feed.number);
    if (container->feed.has_gates != log.Gates(container->feed.number).has_gates) {
      return FeedViolation("a container is wrong about whether it has gates",
                           ContainerKey(container->number));
    }
    TTL_RETURN_IF_ERROR(CheckLog(database, *container, log));
  }
  for (const char table : {kEventTable, kFeedTrimTable, kSubscriptionTable}) {
    auto cursor = database.WalkPrefix(std::string(1, table), {&table, 1});
    for (; cursor.Valid(); cursor.Next()) {
      const uint64_t feed = DecodeNumber(cursor.key()).value_or(0);
      TTL_RETURN_IF_ERROR(CheckFeedRecord(cursor.key(), cursor.value()));
      if (feeds.contains(feed)) continue;
      TTL_ASSIGN_OR_RETURN(const auto purged, database.Get(PurgeKey(feed)));
      if (purged.has_value()) continue;
      return FeedViolation("a record is in a feed that does not exist", cursor.key());
    }
    TTL_RETURN_IF_ERROR(cursor.status());
  }
  return absl::OkStatus();
}

}  // namespace ttl
