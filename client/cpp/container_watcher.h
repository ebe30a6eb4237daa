#ifndef TTL_CLIENT_CPP_CONTAINER_WATCHER_H_
#define TTL_CLIENT_CPP_CONTAINER_WATCHER_H_

#include <functional>
#include <memory>
#include <vector>

#include "absl/time/time.h"
#include "client/cpp/stream_thread.h"
#include "grpcpp/channel.h"
#include "grpcpp/client_context.h"
#include "grpcpp/support/status.h"
#include "ttl/v1/container_service.pb.h"

namespace ttl {

// Keeps a WatchContainers stream open, on a thread of its own, from construction to destruction;
// StreamThread says when one that ends is reopened.
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

  // The destructor cancels the stream and waits for a running handler.
  ContainerWatcher(const std::shared_ptr<grpc::Channel>& channel, absl::Duration heartbeat_interval,
                   const Rules& rules, Handlers handlers);
  ContainerWatcher(const ContainerWatcher&) = delete;
  ContainerWatcher& operator=(const ContainerWatcher&) = delete;

 private:
  StreamThread::Next WatchOnce(grpc::ClientContext& context);

  const std::shared_ptr<grpc::Channel> channel_;
  v1::WatchContainersRequest request_;
  const Handlers handlers_;
  StreamThread thread_;  // last, because it uses all of the above
};

}  // namespace ttl

#endif  // TTL_CLIENT_CPP_CONTAINER_WATCHER_H_
