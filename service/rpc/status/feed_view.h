#ifndef TTL_SERVICE_RPC_STATUS_FEED_VIEW_H_
#define TTL_SERVICE_RPC_STATUS_FEED_VIEW_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "service/core/container.h"
#include "service/core/state/feed_progress.h"
#include "service/rpc/status/sent_marks.h"
#include "service/storage/feed.h"
#include "ttl/v1/feed.pb.h"

namespace ttl {

// How far the feeds and their subscriptions are: the source of status and metrics. Thread-safe.
// Reads the log from disk where there are subscriptions with events that are not acknowledged.
class FeedView {
 public:
  // The most events of a subscription that are counted.
  static constexpr size_t kMaxCounted = 1000;

  // All must outlive this.
  struct Parts {
    const Feed& feed;
    const FeedProgress& progress;
    const SentMarks& sent;
  };

  explicit FeedView(const Parts& parts) : parts_(parts) {}

  // The status of the feed of `container`. REQUIRES: it has one.
  v1::FeedStatus StatusOf(const Container& container) const;

  // A subscription of `container`, as in the API.
  v1::Subscription ToProto(const Container& container, const SubscriptionView& view) const;

  // When the oldest event was logged that the subscription has not acknowledged; absent if there is
  // none, or if the log cannot be read. Reads nothing from disk if it has acknowledged none of the
  // events that are kept.
  std::optional<absl::Time> OldestUnacknowledged(const Container& container,
                                                 const SubscriptionView& view) const;

  // A gated subscription that due items wait for, or the room in a full log.
  struct WaitingGate {
    std::string name;
    // When the oldest event was logged that it has not acknowledged and that was not given up;
    // absent as above.
    std::optional<absl::Time> since;
  };
  // Those of `container`, in the order of their names. Cheap if nothing waits.
  std::vector<WaitingGate> WaitingGates(const Container& container) const;

  const Parts& parts() const { return parts_; }

 private:
  v1::SubscriptionStatus StatusOf(const Container& container, const SubscriptionView& view) const;
  // The events that the subscription has not acknowledged, as far as they are counted.
  EventsBehind Behind(const Container& container, const SubscriptionView& view) const;
  // When the oldest event behind `after` was logged.
  std::optional<absl::Time> OldestBehind(const Container& container, const SubscriptionView& view,
                                         uint64_t after) const;

  const Parts parts_;
};

}  // namespace ttl

#endif  // TTL_SERVICE_RPC_STATUS_FEED_VIEW_H_
