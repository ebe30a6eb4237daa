#ifndef TTL_SERVICE_RPC_SERVICES_EVENT_STREAMS_H_
#define TTL_SERVICE_RPC_SERVICES_EVENT_STREAMS_H_

#include <cstddef>
#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "service/base/background_loop.h"
#include "service/base/mutex.h"
#include "service/base/wake_signal.h"
#include "service/rpc/services/event_position.h"
#include "service/storage/feed.h"
#include "service/transport/calls/method_table.h"
#include "ttl/v1/feed_service.pb.h"

namespace ttl {

// The open streams of WatchEvents. Its thread reads the log and sends on all of them, so that a
// commit only has to wake it and no call thread reads events. Each stream has at most one message
// in flight, and the next one is read after that was sent: a slow client costs the memory of one
// message and delays nobody, and one that does not read loses its place (AsyncWriteStream).
// Thread-safe; never blocks a caller.
class EventStreams {
 public:
  static constexpr size_t kMaxStreams = 100;

  // `feed` is that of `parts`, for acknowledgements. All must outlive this.
  EventStreams(Feed& feed, const EventPosition::Parts& parts, absl::Duration stall_limit);
  // REQUIRES: the server's Shutdown() has returned, so that no stream is open.
  ~EventStreams();
  EventStreams(const EventStreams&) = delete;
  EventStreams& operator=(const EventStreams&) = delete;

  // Adds the WatchEvents method to `table`.
  void AddMethod(MethodTable& table);

 private:
  class Method;
  class Stream;
  using Streams = std::vector<std::shared_ptr<Stream>>;

  absl::Status Add(const std::shared_ptr<Stream>& stream);
  void Remove(const Stream& stream);
  Streams OpenStreams() const;
  // Ends all open streams, and refuses new ones, with `status`.
  void EndStreams(const absl::Status& status);

  // Sends what is due on all streams. Returns how long until more may be due.
  absl::Duration SendAllDue();

  Feed& feed_;
  const EventPosition::Parts parts_;
  const absl::Duration stall_limit_;
  WakeSignal signal_;
  v1::WatchEventsResponse response_;  // the one that is being made, on the thread of this
  mutable Mutex mutex_;
  absl::Status end_status_ ABSL_GUARDED_BY(mutex_);  // OK until EndStreams()
  Streams streams_ ABSL_GUARDED_BY(mutex_);
  BackgroundLoop loop_;  // last, because it uses all of the above
};

}  // namespace ttl

#endif  // TTL_SERVICE_RPC_SERVICES_EVENT_STREAMS_H_
