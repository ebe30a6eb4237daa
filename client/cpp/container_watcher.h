#ifndef TTL_CLIENT_CPP_CONTAINER_WATCHER_H_
#define TTL_CLIENT_CPP_CONTAINER_WATCHER_H_

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "absl/time/time.h"
#include "grpcpp/channel.h"
#include "grpcpp/client_context.h"
#include "grpcpp/support/status.h"
#include "ttl/v1/container_service.pb.h"

namespace ttl {

// Keeps one stream of WatchContainers open, in a thread of its own, from construction to
// destruction. A stream that ends is opened again: 0.1 s later at first, then after
// pauses that double up to 2 s until a message comes.
class ContainerWatcher {
 public:
  // Called by the thread, one at a time; must return soon.
  struct Handlers {
    std::function<void(const v1::WatchContainersResponse&)> on_message;
    std::function<void(const grpc::Status&)> on_end;  // before the next stream's first message
  };

  ContainerWatcher(const std::shared_ptr<grpc::Channel>& channel, absl::Duration heartbeat_interval,
                   Handlers handlers);
  // Waits for the handler under way.
  ~ContainerWatcher();
  ContainerWatcher(const ContainerWatcher&) = delete;
  ContainerWatcher& operator=(const ContainerWatcher&) = delete;

 private:
  void Run();
  // Returns whether a message came.
  bool WatchOnce(grpc::ClientContext& context);
  // Makes the stream of `context` the one to cancel; null: there is none. False if the
  // watcher is to stop.
  bool SetStream(grpc::ClientContext* context);
  // False if the watcher is to stop.
  bool Pause(std::chrono::milliseconds pause);

  const std::shared_ptr<grpc::Channel> channel_;
  v1::WatchContainersRequest request_;
  const Handlers handlers_;

  std::mutex mutex_;
  std::condition_variable stopped_;
  // Both guarded by mutex_.
  bool stop_ = false;
  grpc::ClientContext* stream_ = nullptr;
  std::thread thread_;  // last: uses all the others
};

}  // namespace ttl

#endif  // TTL_CLIENT_CPP_CONTAINER_WATCHER_H_
