#ifndef TTL_CLIENT_CPP_CONTAINER_WATCHER_H_
#define TTL_CLIENT_CPP_CONTAINER_WATCHER_H_

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "absl/time/time.h"
#include "grpcpp/channel.h"
#include "grpcpp/client_context.h"
#include "grpcpp/support/status.h"
#include "ttl/v1/container_service.pb.h"

namespace ttl {

// Keeps a WatchContainers stream open, on a thread of its own, from construction to destruction. A
// stream that ends is reopened after 0.1 s; the delay doubles up to 2 s until a message arrives.
class ContainerWatcher {
 public:
  // Called on the thread, one at a time; must return soon.
  struct Handlers {
    std::function<void(const v1::WatchContainersResponse&)> on_message;
    std::function<void(const grpc::Status&)> on_end;  // before the next stream's first message
  };

  // Containers that need other rules than these are left out. Only a client that judges by a rule,
  // or does not judge at all, may list it.
  using Rules = std::vector<v1::JudgingRule>;

  ContainerWatcher(const std::shared_ptr<grpc::Channel>& channel, absl::Duration heartbeat_interval,
                   const Rules& rules, Handlers handlers);
  // Cancels the stream and waits for a running handler.
  ~ContainerWatcher();
  ContainerWatcher(const ContainerWatcher&) = delete;
  ContainerWatcher& operator=(const ContainerWatcher&) = delete;

 private:
  void Run();
  // Returns whether a message arrived.
  bool WatchOnce(grpc::ClientContext& context);
  // Sets the stream to cancel; null: none. Returns false if the watcher is stopping.
  bool SetStream(grpc::ClientContext* context);
  // Returns false if the watcher is stopping.
  bool Pause(std::chrono::milliseconds pause);

  const std::shared_ptr<grpc::Channel> channel_;
  v1::WatchContainersRequest request_;
  const Handlers handlers_;

  std::mutex mutex_;
  std::condition_variable stopped_;
  // Both guarded by mutex_.
  bool stop_ = false;
  grpc::ClientContext* stream_ = nullptr;
  std::thread thread_;  // last, because it uses all of the above
};

}  // namespace ttl

#endif  // TTL_CLIENT_CPP_CONTAINER_WATCHER_H_
