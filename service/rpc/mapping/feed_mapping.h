#ifndef TTL_SERVICE_RPC_MAPPING_FEED_MAPPING_H_
#define TTL_SERVICE_RPC_MAPPING_FEED_MAPPING_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "service/core/feed/feed_event.h"
#include "service/core/feed/subscription.h"
#include "ttl/v1/feed.pb.h"
#include "ttl/v1/feed_service.pb.h"

// Conversions between feeds of the API and ours. Pure functions. All errors are INVALID_ARGUMENT
// and name the path of the field, its value and what is allowed.
namespace ttl {

inline constexpr size_t kMaxWatchedContainers = 100;
inline constexpr size_t kMaxConsumerBytes = 512;
inline constexpr int64_t kMaxGiveUpAfterSeconds = int64_t{366} * 86400;

// What a stream watches.
struct WatchRequest {
  // Of a subscription: its container and its name, and neither token nor kinds. Otherwise 1 to
  // kMaxWatchedContainers ids, each once, and an empty name.
  std::vector<std::string> containers;
  std::string subscription;
  std::string token;
  std::vector<EventKind> kinds;  // empty: all
  absl::Duration heartbeat;
};
absl::StatusOr<WatchRequest> ReadWatchRequest(const v1::WatchEventsRequest& request);

// The name, kinds, consumer, gate and give_up_after of the subscription that a request asks for.
absl::StatusOr<Subscription> ReadSubscription(const v1::CreateSubscriptionRequest& request);

// OK if a subscription may have this name. `field` is the path of the name.
absl::Status ValidateSubscriptionName(absl::string_view field, absl::string_view name);

v1::Event ToProto(const FeedEvent& event, absl::string_view container_id);

// The subscription in one line, for the log: its kinds, its consumer and, of a gate, how long items
// wait for it.
std::string Describe(const Subscription& subscription);

}  // namespace ttl

#endif  // TTL_SERVICE_RPC_MAPPING_FEED_MAPPING_H_
