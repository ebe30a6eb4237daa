#ifndef TTL_FEED_CLIENT_H_
#define TTL_FEED_CLIENT_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "ttl/event_handlers.h"
#include "ttl/event_watcher.h"
#include "ttl/v1/feed.pb.h"
#include "ttl/v1/feed_service.pb.h"

namespace ttl {

class ClientCalls;

// What expires and what is deleted, for whoever archives items or invalidates caches; see
// TtlClient::feed(), whose rules for deadlines, retries and errors apply, and FeedService. Creating
// and deleting a subscription is sent at most once. Thread-safe.
class FeedClient {
 public:
  FeedClient(const FeedClient&) = delete;
  FeedClient& operator=(const FeedClient&) = delete;

  // Begins to read what `request` names, a subscription or containers; EventWatcher says how.
  // Errors go to the handlers.
  std::unique_ptr<EventWatcher> Watch(const v1::WatchEventsRequest& request,
                                      EventHandlers handlers);

  // States that all events of a subscription up to `sequence` are dealt with, and returns the
  // sequence up to which it has acknowledged now. `epoch` is that of the response that brought the
  // event. Retried as a read. OUT_OF_RANGE with the reason SEQUENCE_NOT_SENT if the sidecar has
  // restarted since it sent the event: the watcher brings it again; acknowledge it then.
  absl::StatusOr<uint64_t> Acknowledge(absl::string_view container, absl::string_view name,
                                       uint64_t epoch, uint64_t sequence);

  // With `gate`, no item is deleted after the return that the subscription has not acknowledged;
  // the call waits for the deletes that are under way. If it fails without a response, the
  // subscription may exist: GetSubscription tells.
  absl::StatusOr<v1::Subscription> CreateSubscription(const v1::Subscription& subscription);
  absl::StatusOr<v1::Subscription> GetSubscription(absl::string_view container,
                                                   absl::string_view name);

  // Returns the subscriptions of a container, or all, in the order of (container, name).
  absl::StatusOr<std::vector<v1::Subscription>> ListSubscriptions(absl::string_view container = "");

  // Ends its streams, too. If an earlier call failed without a response, NOT_FOUND may mean that it
  // deleted the subscription.
  absl::Status DeleteSubscription(absl::string_view container, absl::string_view name);

 private:
  friend class TtlClient;

  // `calls` must outlive this.
  explicit FeedClient(ClientCalls& calls) : calls_(calls) {}

  ClientCalls& calls_;
};

}  // namespace ttl

#endif  // TTL_FEED_CLIENT_H_
