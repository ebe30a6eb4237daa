#ifndef TTL_SERVICE_CORE_FEED_FEED_EVENT_H_
#define TTL_SERVICE_CORE_FEED_FEED_EVENT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "service/core/feed/event_kind.h"
#include "service/core/item.h"
#include "service/core/ttl_rules.h"

namespace ttl {

// One event of the feed of a container. The fields have the meaning of those of Event in
// feed.proto.
struct FeedEvent {
  EventKind kind = EventKind::kExpired;
  uint64_t sequence = 0;  // position in the log
  absl::Time time;        // when it was logged
  ItemKey key;            // empty for kPolicyChanged and kResync
  int64_t ts = 0;         // of the version, Unix seconds
  TtlSource ttl_source = TtlSource::kNone;
  std::optional<int64_t> expire_time;  // Unix seconds
  uint64_t expired_sequence = 0;       // of the kExpired that this ends
  bool late = false;
  bool superseded = false;                 // of kPurged
  int64_t lateness_seconds = 0;            // of kPurged
  int64_t new_ts = 0;                      // of kReplaced, Unix seconds; 0: not known
  std::optional<int64_t> default_ttl;      // of kPolicyChanged
  std::optional<int64_t> old_default_ttl;  // of kPolicyChanged
  // Of kPurged: the names of the gates that were given up for the item.
  std::vector<std::string> given_up_subscriptions = {};
  // The serving time when it was logged, in seconds, rounded up; 0: not known.
  int64_t served_seconds = 0;

  friend bool operator==(const FeedEvent&, const FeedEvent&) = default;
};

}  // namespace ttl

#endif  // TTL_SERVICE_CORE_FEED_FEED_EVENT_H_
