#ifndef TTL_SERVICE_RPC_SERVICES_EVENT_POSITION_H_
#define TTL_SERVICE_RPC_SERVICES_EVENT_POSITION_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "service/core/container.h"
#include "service/core/guarded_clock.h"
#include "service/core/state/feed_progress.h"
#include "service/rpc/mapping/feed_mapping.h"
#include "service/rpc/status/sent_marks.h"
#include "service/storage/containers.h"
#include "service/storage/feed.h"
#include "ttl/v1/feed_service.pb.h"

namespace ttl {

// The position of one WatchEvents stream in the log, which decides its next message; independent of
// the transport. It stores no events: each message is read from the log when it is built, so a slow
// reader costs no memory. Not thread-safe.
class EventPosition {
 public:
  static constexpr size_t kMaxLagging = 10;  // containers named in a message

  // All must outlive this.
  struct Parts {
    const Containers& containers;
    const Feed& feed;
    const FeedProgress& progress;
    const GuardedClock& clock;
    SentMarks& sent;
  };

  // Begins at the token, the acknowledgement or, without either, behind the last event. NOT_FOUND
  // if a container or the subscription does not exist, FAILED_PRECONDITION if a container has no
  // feed, INVALID_ARGUMENT if the token is for other containers, OUT_OF_RANGE if it is of another
  // log. Reads nothing from disk.
  static absl::StatusOr<EventPosition> Open(const Parts& parts, WatchRequest request);

  enum class Found {
    kEvents,   // the message has events
    kNothing,  // there are no events now
    kMore,     // of those examined, none is of a kind that is read; go on
  };
  // Makes `message` the next events. Reads a bounded number of them from disk. An error ends the
  // stream: those of Open(), and OUT_OF_RANGE if events were dropped that come next. A gated
  // subscription gets a RESYNC in place of those, since the items that it has not acknowledged are
  // announced again.
  absl::StatusOr<Found> Next(v1::WatchEventsResponse& message);

  // Makes `message` a heartbeat. REQUIRES: Next() has just returned kNothing or kMore.
  void Heartbeat(v1::WatchEventsResponse& message);

  // The last event of the container, if a subscription has acknowledged all events of the kinds
  // that it reads, and others come behind them: what can be acknowledged on its behalf. Absent if
  // there is none. REQUIRES: Next() has just returned kNothing.
  std::optional<uint64_t> PassedSequence() const;

  // Of a subscription; the name is empty for a stream of containers. These do not change, and may
  // be read on any thread.
  const std::string& container() const { return request_.containers[0]; }
  const std::string& subscription() const { return request_.subscription; }
  uint64_t feed() const { return feed_; }
  uint64_t epoch() const { return epoch_; }

  absl::Duration heartbeat() const { return request_.heartbeat; }

 private:
  // What can be said about the time up to which everything has been sent.
  struct Progress {
    std::optional<absl::Time> watermark;
    std::vector<std::string> lagging;  // ids of containers
    std::string stall;
  };

  EventPosition(const Parts& parts, WatchRequest request)
      : parts_(parts), request_(std::move(request)) {}

  absl::Status Begin();
  absl::Status BeginAtToken();
  // Finds the containers as they are now. OK if they and the subscription are still those that the
  // stream was opened for.
  absl::Status FindAgain();
  // The subscription; NOT_FOUND also if it is another one of the same name.
  absl::StatusOr<SubscriptionView> FindSubscriptionAgain() const;
  absl::Status EventsDropped() const;
  // Makes `message` a RESYNC in place of the events that a gated subscription has lost.
  absl::StatusOr<Found> PassDropped(v1::WatchEventsResponse& message);
  Progress ReadProgress() const;
  void KeepProgress(Progress progress, bool at_end);
  void AddEvents(const FeedPage& page, v1::WatchEventsResponse& message);
  // Sets all but the events.
  void Stamp(v1::WatchEventsResponse& message) const;

  Parts parts_;
  WatchRequest request_;
  uint64_t feed_ = 0;      // number of the feed of the first container
  absl::Time subscribed_;  // create_time of the subscription
  bool is_gate_ = false;
  std::vector<ContainerPtr> containers_;
  std::vector<uint64_t> epochs_;  // of their logs
  uint64_t containers_hash_ = 0;
  uint64_t epoch_ = 0;
  uint64_t sequence_ = 0;   // all events up to it have been sent or passed
  uint64_t last_sent_ = 0;  // the last event that was sent
  Progress progress_;       // with what has been sent
};

}  // namespace ttl

#endif  // TTL_SERVICE_RPC_SERVICES_EVENT_POSITION_H_
