#ifndef TTL_SERVICE_CORE_FEED_SUBSCRIPTION_H_
#define TTL_SERVICE_CORE_FEED_SUBSCRIPTION_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "service/core/feed/event_kind.h"

namespace ttl {

inline constexpr size_t kMaxSubscriptionNameBytes = 255;
// Maximum number of subscriptions in all containers.
inline constexpr size_t kMaxSubscriptions = 100;

// A named reader of the feed of one container.
struct Subscription {
  std::string name;
  std::vector<EventKind> kinds;  // empty: all; kResync is always read
  std::string consumer;          // who may acknowledge; empty: any caller with the role
  absl::Time create_time;
  uint64_t acknowledged_sequence = 0;
  // A gate: an item is deleted only after this subscription has acknowledged the EXPIRED of the
  // item, or has been given up for it.
  bool gate = false;
  int64_t give_up_after_seconds = 0;  // of a gate, in serving time; 0: it is waited for for ever
  // Of a gate: it may have missed events up to here, which were dropped or lost. So an item whose
  // EXPIRED has this sequence or a smaller one is announced again before it is deleted.
  uint64_t gate_sequence = 0;
  // Of a gate: the serving time when it was created, in seconds. Events without one of their own
  // were logged before.
  int64_t served_seconds = 0;

  friend bool operator==(const Subscription&, const Subscription&) = default;
};

}  // namespace ttl

#endif  // TTL_SERVICE_CORE_FEED_SUBSCRIPTION_H_
