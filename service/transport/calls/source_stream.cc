#include "service/transport/calls/source_stream.h"

#include <grpcpp/alarm.h>
#include <spdlog/spdlog.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "service/base/error_details.h"
#include "service/base/mutex.h"
#include "service/transport/calls/async_write_stream.h"

namespace ttl {

class SourceMethod::Stream final : public AsyncWriteStream {
 public:
  explicit Stream(SourceMethod& method)
      : method_(method), worker_(method.worker_), stall_watch_(*this) {}

 private:
  // A periodic alarm on the queue's thread while the stream is open. While it is set, it keeps the
  // stream alive and counts as a call of the queue.
  class StallWatch final : public CallStep {
   public:
    explicit StallWatch(Stream& stream)
        : stream_(stream), queue_(stream.method_.queue_), limit_(stream.method_.stall_limit_) {}

    void Start() {
      queue_.BeginCall();
      Set();
    }
    void Stop() { alarm_.Cancel(); }

    void Proceed(bool ok) override {
      const std::shared_ptr<AsyncWriteStream> keep = std::move(keep_);
      if (!ok || stream_.ended_) return queue_.EndCall();
      if (stream_.IsStalled()) stream_.TakeStall(limit_);
      Set();
    }

   private:
    void Set() {
      keep_ = stream_.shared_from_this();
      alarm_.Set(&queue_.queue(),
                 gpr_time_from_millis(absl::ToInt64Milliseconds(limit_), GPR_TIMESPAN),
                 static_cast<CallStep*>(this));
    }

    Stream& stream_;
    CallQueue& queue_;
    const absl::Duration limit_;
    std::shared_ptr<AsyncWriteStream> keep_;
    grpc::Alarm alarm_;
  };

  void OnOpen(grpc::ByteBuffer& request) override {
    method_.Accept();
    method_.open_.insert(this);
    if (const absl::Status refused = method_.Refusal(context()); !refused.ok()) {
      return End(refused);
    }
    stall_watch_.Start();
    Run([this, &request, open = method_.open_source_] {
      if (ended_) return;
      absl::StatusOr<ByteSource> source = open(request);
      if (!source.ok()) return End(source.status());
      source_ = *std::move(source);
      Advance();
    });
  }

  bool MakeNext(grpc::ByteBuffer& message) override {
    {
      const MutexLock lock(next_mutex_);
      is_sending_ = next_.has_value();
      if (!is_sending_) return false;
      message = *std::move(next_);
      next_.reset();
      ++sent_;
    }
    Run([this] { Advance(); });
    return true;
  }

  void OnEnded() override {
    method_.open_.erase(this);
    ended_ = true;
    stall_watch_.Stop();
    Run([this] { source_ = nullptr; });
  }

  // Runs on the worker.
  void Advance() {
    if (ended_ || source_ == nullptr) return;
    grpc::ByteBuffer message;
    const absl::StatusOr<SourceStep> step = source_(message);
    if (!step.ok()) return End(step.status());
    if (*step == SourceStep::kAgain) return Run([this] { Advance(); });
    if (*step == SourceStep::kEnd) return End(absl::OkStatus());
    {
      const MutexLock lock(next_mutex_);
      next_ = std::move(message);
    }
    SendNext();
  }

  // Whether the message being sent is the same as at the previous call.
  bool IsStalled() {
    const MutexLock lock(next_mutex_);
    const uint64_t seen = std::exchange(sent_seen_, sent_);
    return is_sending_ && sent_ == seen;
  }

  // Ends the stream, which frees what others may wait for. The status follows the message that the
  // client has not read, so it needs time to read both; a second stall cuts it off.
  void TakeStall(absl::Duration limit) {
    if (std::exchange(is_told_, true)) return context().TryCancel();
    spdlog::warn("stream ended, its client does not read: method={} limit={}",
                 method_.method_.full_name(), absl::FormatDuration(limit));
    End(MakeError(Reason::kClientTooSlow,
                  absl::StrCat("the client read no message for ", absl::FormatDuration(limit))));
    Run([this] { source_ = nullptr; });
  }

  // Runs `task` on the worker and keeps the stream alive until then.
  void Run(std::function<void()> task) {
    // Never refused: each stream has at most three tasks, and there are few streams.
    worker_.Run([keep = shared_from_this(), task = std::move(task)] { task(); }).IgnoreError();
  }

  SourceMethod& method_;  // not after OnEnded()
  CallWorker& worker_;
  std::atomic<bool> ended_ = false;
  bool is_told_ = false;  // that it is too slow; for the queue's thread
  ByteSource source_;     // for the worker
  Mutex next_mutex_;
  std::optional<grpc::ByteBuffer> next_ ABSL_GUARDED_BY(next_mutex_);
  bool is_sending_ ABSL_GUARDED_BY(next_mutex_) = false;
  uint64_t sent_ ABSL_GUARDED_BY(next_mutex_) = 0;  // messages, including the one in flight
  uint64_t sent_seen_ ABSL_GUARDED_BY(next_mutex_) = 0;
  StallWatch stall_watch_;
};

SourceMethod::SourceMethod(CallQueue& queue, ByteService& service,
                           const google::protobuf::MethodDescriptor& method, CallWorker& worker,
                           absl::Duration stall_limit, Open open)
    : queue_(queue),
      service_(service),
      method_(method),
      worker_(worker),
      stall_limit_(stall_limit),
      counter_(queue.counters().AddStream(NameOf(method))),
      gate_(NameOf(method), queue.access()),
      open_source_(std::move(open)) {
  Accept();
}

SourceMethod::~SourceMethod() = default;

void SourceMethod::EndStreams(const absl::Status& status) {
  end_status_ = status;
  for (Stream* stream : open_) stream->End(status);
}

void SourceMethod::Accept() {
  std::make_shared<Stream>(*this)->Accept(queue_, counter_, service_, method_);
}

absl::Status SourceMethod::Refusal(const grpc::ServerContext& context) const {
  if (!end_status_.ok()) return end_status_;
  return gate_.Admit(context);
}

}  // namespace ttl
