#include "client/cpp/container_watcher.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "ttl/v1/container_service.grpc.pb.h"

namespace ttl {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kFirstPause(100);
constexpr milliseconds kLongestPause(2000);

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
      thread_([this] { Run(); }) {}

ContainerWatcher::~ContainerWatcher() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
    if (stream_ != nullptr) stream_->TryCancel();
  }
  stopped_.notify_all();
  thread_.join();
}

void ContainerWatcher::Run() {
  milliseconds pause = kFirstPause;
  do {
    grpc::ClientContext context;
    // Wait for the connection: calls that fail at once would not advance the attempt to connect.
    context.set_wait_for_ready(true);
    if (!SetStream(&context)) return;
    if (WatchOnce(context)) pause = kFirstPause;
    SetStream(nullptr);
  } while (Pause(std::exchange(pause, std::min(2 * pause, kLongestPause))));
}

bool ContainerWatcher::WatchOnce(grpc::ClientContext& context) {
  const auto stub = v1::ContainerService::NewStub(channel_);
  const auto reader = stub->WatchContainers(&context, request_);
  bool heard = false;
  v1::WatchContainersResponse message;
  while (reader->Read(&message)) {
    heard = true;
    handlers_.on_message(message);
  }
  handlers_.on_end(reader->Finish());
  return heard;
}

bool ContainerWatcher::SetStream(grpc::ClientContext* context) {
  const std::lock_guard<std::mutex> lock(mutex_);
  stream_ = context;
  return !stop_;
}

bool ContainerWatcher::Pause(milliseconds pause) {
  std::unique_lock<std::mutex> lock(mutex_);
  return !stopped_.wait_for(lock, pause, [this] { return stop_; });
}

}  // namespace ttl
