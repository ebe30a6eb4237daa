#ifndef TTL_SERVICE_CORE_FEED_FEED_CLOCK_H_
#define TTL_SERVICE_CORE_FEED_FEED_CLOCK_H_

#include <functional>
#include <optional>

#include "absl/time/time.h"

namespace ttl {

// The times by which events are written.
struct FeedMoment {
  absl::Time now;  // the time of the event
  // The time at which items are judged: the one for deletes. Absent while nothing may be judged,
  // because the clock is suspect, data is in doubt or the store is unconfirmed: then no EXPIRED and
  // no EXPIRING is written.
  std::optional<absl::Time> judged_at;
  // Since boot; zero while it cannot be read.
  absl::Duration steady = absl::ZeroDuration();
};

// Called on a commit thread, so it must not block. Thread-safe.
using FeedClock = std::function<FeedMoment()>;

}  // namespace ttl

#endif  // TTL_SERVICE_CORE_FEED_FEED_CLOCK_H_
