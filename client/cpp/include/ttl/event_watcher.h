#ifndef TTL_EVENT_WATCHER_H_
#define TTL_EVENT_WATCHER_H_

#include <memory>

#include "ttl/event_handlers.h"
#include "ttl/v1/feed_service.pb.h"

namespace ttl {

class ClientCalls;

// Reads the feed of containers, or a subscription, on a thread of its own, from FeedClient::Watch()
// to destruction. It may outlive the client.
//
// A stream that breaks is opened again by itself, after 0.1 to 2 s: behind the token of the last
// response that on_response returned from, or, with a subscription, behind what was acknowledged.
// So no event is left out, and those of a subscription that were not acknowledged come again. A
// watch of containers without a token begins with its first response: what happens before is not
// reported.
//
// It gives up, with on_failure, if opening the stream again would not help:
// - OUT_OF_RANGE: events are missing: they were dropped (ErrorReason() EVENTS_DROPPED), or the log
//   is another one (LOG_REPLACED). Watch without a token, wait for the first response, then compare
//   what you keep with the store; with a subscription, read its last_sequence, compare, acknowledge
//   that sequence and watch.
// - INVALID_ARGUMENT, NOT_FOUND, FAILED_PRECONDITION, PERMISSION_DENIED, UNAUTHENTICATED,
//   UNIMPLEMENTED: the request cannot be served. FAILED_PRECONDITION also in a child of the process
//   that created the client.
// - UNAVAILABLE: the sidecar was not reachable at first, and TtlClientOptions::wait_for_sidecar is
//   off.
class EventWatcher {
 public:
  // Cancels the stream and waits for a running handler. Must not be called by a handler.
  ~EventWatcher();
  EventWatcher(const EventWatcher&) = delete;
  EventWatcher& operator=(const EventWatcher&) = delete;

 private:
  friend class FeedClient;
  class State;

  EventWatcher(const ClientCalls& calls, const v1::WatchEventsRequest& request,
               EventHandlers handlers);

  const std::unique_ptr<State> state_;
};

}  // namespace ttl

#endif  // TTL_EVENT_WATCHER_H_
