#include "service/transport/calls/source_stream.h"

#include <atomic>
#include <memory>
#include <optional>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "service/base/mutex.h"
#include "service/transport/calls/async_write_stream.h"

namespace ttl {

class SourceMethod::Stream final : public AsyncWriteStream {
 public:
  explicit Stream(SourceMethod& method)
      : AsyncWriteStream(method.stall_limit_), method_(method), worker_(method.worker_) {}

 private:
  void OnOpen(grpc::ByteBuffer& request) override {
    method_.Accept();
    method_.open_.insert(this);
    if (const absl::Status refused = method_.Refusal(context()); !refused.ok()) {
      return End(refused);
    }
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
      if (!next_.has_value()) return false;
      message = *std::move(next_);
      next_.reset();
    }
    Run([this] { Advance(); });
    return true;
  }

  void OnStalled() override { DropSource(); }

  void OnEnded() override {
    method_.open_.erase(this);
    ended_ = true;
    DropSource();
  }

  // Frees what the source holds.
  void DropSource() {
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

  // Runs `task` on the worker and keeps the stream alive until then.
  void Run(std::function<void()> task) {
    // Never refused: each stream has at most three tasks, and there are few streams.
    worker_.Run([keep = shared_from_this(), task = std::move(task)] { task(); }).IgnoreError();
  }

  SourceMethod& method_;  // not after OnEnded()
  CallWorker& worker_;
  std::atomic<bool> ended_ = false;
  ByteSource source_;  // for the worker
  Mutex next_mutex_;
  std::optional<grpc::ByteBuffer> next_ ABSL_GUARDED_BY(next_mutex_);
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
