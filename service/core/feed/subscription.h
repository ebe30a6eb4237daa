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

  friend bool operator==(const Subscription&, const Subscription&) = default;
};

}  // namespace ttl

#endif  // TTL_SERVICE_CORE_FEED_SUBSCRIPTION_H_
