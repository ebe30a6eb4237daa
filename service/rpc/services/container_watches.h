#ifndef TTL_SERVICE_RPC_SERVICES_CONTAINER_WATCHES_H_
#define TTL_SERVICE_RPC_SERVICES_CONTAINER_WATCHES_H_

#include <cstddef>
#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "service/base/background_loop.h"
#include "service/base/mutex.h"
#include "service/base/wake_signal.h"
#include "service/core/guarded_clock.h"
#include "service/storage/containers.h"
#include "service/storage/holds.h"
#include "service/transport/calls/method_table.h"

namespace ttl {

// The open streams of WatchContainers. Its thread sends changes and heartbeats on all of them, so
// that a commit only has to wake it. Each stream has at most one message in flight, and the next
// one is built after that was sent: a slow watcher costs the memory of one message. Thread-safe;
// never blocks.
class ContainerWatches {
 public:
  static constexpr size_t kMaxWatches = 256;

  // All must outlive this.
  ContainerWatches(Containers& containers, const Holds& holds, const GuardedClock& clock);
  // REQUIRES: the server's Shutdown() has returned, so that no stream is open.
  ~ContainerWatches();
  ContainerWatches(const ContainerWatches&) = delete;
  ContainerWatches& operator=(const ContainerWatches&) = delete;

  // Adds the WatchContainers method to `table`.
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

  Containers& containers_;
  const Holds& holds_;
  const GuardedClock& clock_;
  WakeSignal signal_;
  mutable Mutex mutex_;
  absl::Status end_status_ ABSL_GUARDED_BY(mutex_);  // OK until EndStreams()
  Streams streams_ ABSL_GUARDED_BY(mutex_);
  BackgroundLoop loop_;  // last, because it uses all of the above
};

}  // namespace ttl

#endif  // TTL_SERVICE_RPC_SERVICES_CONTAINER_WATCHES_H_
