#include "client/cpp/stream_thread.h"

#include <algorithm>
#include <utility>

namespace ttl {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kFirstPause(100);
constexpr milliseconds kLongestPause(2000);

}  // namespace

StreamThread::StreamThread(ReadStream read) : read_(std::move(read)), thread_([this] { Run(); }) {}

StreamThread::~StreamThread() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
    if (stream_ != nullptr) stream_->TryCancel();
  }
  stopped_.notify_all();
  thread_.join();
}

bool StreamThread::is_stopping() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return stop_;
}

void StreamThread::Run() {
  milliseconds pause = kFirstPause;
  do {
    grpc::ClientContext context;
    // Wait for the connection: calls that fail at once would not advance the attempt to connect.
    context.set_wait_for_ready(true);
    if (!SetStream(&context)) return;
    const Next next = read_(context);
    SetStream(nullptr);
    if (next == Next::kNothingFurther) return;
    if (next == Next::kReopen) pause = kFirstPause;
  } while (Pause(std::exchange(pause, std::min(2 * pause, kLongestPause))));
}

bool StreamThread::SetStream(grpc::ClientContext* context) {
  const std::lock_guard<std::mutex> lock(mutex_);
  stream_ = context;
  return !stop_;
}

bool StreamThread::Pause(milliseconds pause) {
  std::unique_lock<std::mutex> lock(mutex_);
  return !stopped_.wait_for(lock, pause, [this] { return stop_; });
}

}  // namespace ttl
