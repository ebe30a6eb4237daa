#include "client/cpp/container_watcher.h"

#include <cstdint>
#include <utility>

#include "ttl/v1/container_service.grpc.pb.h"

namespace ttl {
namespace {

v1::WatchContainersRequest RequestFor(absl::Duration heartbeat_interval,
                                      const ContainerWatcher::Rules& rules) {
  v1::WatchContainersRequest request;
  const int64_t nanos = absl::ToInt64Nanoseconds(heartbeat_interval);
  request.mutable_heartbeat_interval()->set_seconds(nanos / 1'000'000'000);
  request.mutable_heartbeat_interval()->set_nanos(static_cast<int32_t>(nanos % 1'000'000'000));
  for (const v1::JudgingRule rule : rules) request.add_rules(rule);
  return request;
}

}  // namespace

ContainerWatcher::ContainerWatcher(const std::shared_ptr<grpc::Channel>& channel,
                                   absl::Duration heartbeat_interval, const Rules& rules,
                                   Handlers handlers)
    : channel_(channel),
      request_(RequestFor(heartbeat_interval, rules)),
      handlers_(std::move(handlers)),
      thread_([this](grpc::ClientContext& context) { return WatchOnce(context); }) {}

StreamThread::Next ContainerWatcher::WatchOnce(grpc::ClientContext& context) {
  const auto stub = v1::ContainerService::NewStub(channel_);
  const auto reader = stub->WatchContainers(&context, request_);
  StreamThread::Next next = StreamThread::Next::kReopenLater;
  v1::WatchContainersResponse message;
  while (reader->Read(&message)) {
    next = StreamThread::Next::kReopen;
    handlers_.on_message(message);
  }
  handlers_.on_end(reader->Finish());
  return next;
}

}  // namespace ttl
