#ifndef TTL_EVENT_HANDLERS_H_
#define TTL_EVENT_HANDLERS_H_

#include <functional>

#include "absl/status/status.h"
#include "ttl/v1/feed_service.pb.h"

namespace ttl {

// What an EventWatcher calls: on its thread, one at a time. A handler may block, which delays only
// this watcher, but it must not destroy the watcher.
struct EventHandlers {
  // Events in the order of the log, or a heartbeat without any. The watcher counts a response as
  // dealt with when this returns. Ignore events of a kind that you do not know, but count their
  // sequence. Required.
  std::function<void(const v1::WatchEventsResponse&)> on_response;

  // A stream broke, and the watcher will open the next one: why. May be empty.
  std::function<void(const absl::Status&)> on_break;

  // The watcher has given up, and calls nothing afterwards: why. Required.
  std::function<void(const absl::Status&)> on_failure;
};

}  // namespace ttl

#endif  // TTL_EVENT_HANDLERS_H_
