#ifndef TTL_SERVICE_RPC_SOURCE_STREAM_H_
#define TTL_SERVICE_RPC_SOURCE_STREAM_H_

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_set.h"
#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "service/core/mutex.h"
#include "service/rpc/async_write_stream.h"
#include "service/rpc/call_queue.h"
#include "service/rpc/call_worker.h"
#include "service/rpc/method_gate.h"
#include "service/rpc/queued_method.h"

namespace ttl {

// What a call of a source came to.
enum class SourceStep {
  kMessage,  // a message was made
  kAgain,    // none yet: call again
  kEnd,      // there are no more
};

// Makes the messages of one stream, one after the other, each call by a bounded step.
template <typename Response>
using MessageSource = absl::AnyInvocable<absl::StatusOr<SourceStep>(Response&)>;

// A method with a stream of responses, each of which takes work: it is done by a worker,
// one message ahead of the client at most. On one queue; for its thread, but for
// construction and destruction while that does not run.
template <typename Request, typename Response>
class SourceMethod final : public QueuedMethod {
 public:
  struct Functions {
    // Asks gRPC for a call: RequestX of the generated service.
    std::function<void(grpc::ServerContext*, Request*, grpc::ServerAsyncWriter<Response>*,
                       grpc::CompletionQueue*, grpc::ServerCompletionQueue*, void* tag)>
        request_call;
    // Begins the work of a call; on the worker, as all calls of the source and its end.
    std::function<absl::StatusOr<MessageSource<Response>>(const Request&)> open;
  };

  // `worker` must outlive the calls.
  SourceMethod(CallQueue& queue, CallWorker& worker, const std::string& name, Functions functions)
      : queue_(queue),
        worker_(worker),
        counter_(queue.counters().AddStream(name)),
        gate_(name, queue.access()),
        functions_(std::move(functions)) {
    Accept();
  }

  void EndStreams(const absl::Status& status) override {
    end_status_ = status;
    for (Stream* stream : open_) stream->End(status);
  }

 private:
  class Stream final : public AsyncWriteStream<Request, Response> {
   public:
    explicit Stream(SourceMethod& method) : method_(method), worker_(method.worker_) {}

   private:
    void OnOpen(const Request& request) override {
      method_.Accept();
      method_.open_.insert(this);
      if (const absl::Status refused = method_.Refusal(this->context()); !refused.ok()) {
        return this->End(refused);
      }
      Run([this, &request, open = method_.functions_.open] {
        if (ended_) return;
        absl::StatusOr<MessageSource<Response>> source = open(request);
        if (!source.ok()) return this->End(source.status());
        source_ = *std::move(source);
        Advance();
      });
    }

    bool MakeNext(Response& message) override {
      {
        const MutexLock lock(next_mutex_);
        if (!next_.has_value()) return false;
        message = *std::move(next_);
        next_.reset();
      }
      Run([this] { Advance(); });
      return true;
    }

    void OnEnded() override {
      method_.open_.erase(this);
      ended_ = true;
      Run([this] { source_ = nullptr; });
    }

    // On the worker.
    void Advance() {
      if (ended_ || source_ == nullptr) return;
      Response message;
      const absl::StatusOr<SourceStep> step = source_(message);
      if (!step.ok()) return this->End(step.status());
      if (*step == SourceStep::kAgain) return Run([this] { Advance(); });
      if (*step == SourceStep::kEnd) return this->End(absl::OkStatus());
      {
        const MutexLock lock(next_mutex_);
        next_ = std::move(message);
      }
      this->SendNext();
    }

    // Runs `task` on the worker, which keeps the stream.
    void Run(std::function<void()> task) {
      // Never refused: each stream has one task or two, and there are few streams.
      worker_.Run([keep = this->shared_from_this(), task = std::move(task)] { task(); })
          .IgnoreError();
    }

    SourceMethod& method_;  // not after OnEnded()
    CallWorker& worker_;
    std::atomic<bool> ended_ = false;
    MessageSource<Response> source_;  // for the worker
    Mutex next_mutex_;
    std::optional<Response> next_ ABSL_GUARDED_BY(next_mutex_);
  };

  void Accept() {
    std::make_shared<Stream>(*this)->Accept(queue_, counter_, functions_.request_call);
  }

  absl::Status Refusal(const grpc::ServerContext& context) const {
    if (!end_status_.ok()) return end_status_;
    return gate_.Admit(context);
  }

  CallQueue& queue_;
  CallWorker& worker_;
  MethodCounter& counter_;
  const MethodGate gate_;
  const Functions functions_;
  absl::flat_hash_set<Stream*> open_;
  absl::Status end_status_;  // OK: streams go on
};

}  // namespace ttl

#endif  // TTL_SERVICE_RPC_SOURCE_STREAM_H_
