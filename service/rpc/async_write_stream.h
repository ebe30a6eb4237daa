#ifndef TTL_SERVICE_RPC_ASYNC_WRITE_STREAM_H_
#define TTL_SERVICE_RPC_ASYNC_WRITE_STREAM_H_

#include <grpcpp/server_context.h>
#include <grpcpp/support/async_stream.h>

#include <memory>
#include <optional>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "service/core/mutex.h"
#include "service/rpc/call_counters.h"
#include "service/rpc/call_queue.h"
#include "service/rpc/call_step.h"
#include "service/rpc/status_mapping.h"

namespace ttl {

// One call of a method with a stream of responses, by gRPC's asynchronous API, from
// being waited for to its end. One message is under way at most, and the next one is
// made when it is through: a client that reads slowly costs one message of memory.
// Made with std::make_shared; what is under way keeps it alive. Thread-safe.
template <typename Request, typename Response>
class AsyncWriteStream : public std::enable_shared_from_this<AsyncWriteStream<Request, Response>> {
 public:
  using Writer = grpc::ServerAsyncWriter<Response>;
  // RequestX of a generated service.
  using RequestStream =
      absl::FunctionRef<void(grpc::ServerContext*, Request*, Writer*, grpc::CompletionQueue*,
                             grpc::ServerCompletionQueue*, void* tag)>;

  virtual ~AsyncWriteStream() = default;

  // Waits for a client on `queue`; the stream is counted in `counter`, which is the
  // queue's. Once.
  void Accept(CallQueue& queue, MethodCounter& counter, RequestStream request_stream) {
    queue_ = &queue;
    counter_ = &counter;
    context_.AsyncNotifyWhenDone(static_cast<CallStep*>(&gone_));
    const MutexLock lock(mutex_);
    request_stream(&context_, &request_, &writer_, &queue.queue(), &queue.queue(), started_.Tag());
  }

  // Sends what MakeNext() makes, unless a message is under way; then it will be asked
  // when that is through.
  void SendNext() {
    const MutexLock lock(mutex_);
    if (writing_ || end_status_.has_value() || !MakeNext(message_)) return;
    writing_ = true;
    writer_.Write(message_, written_.Tag());
  }

  // Ends the stream when the message under way is through. Has no effect on a stream that
  // ends already.
  void End(const absl::Status& status) {
    const MutexLock lock(mutex_);
    if (end_status_.has_value()) return;
    end_status_ = status;
    if (!writing_) Finish();
  }

 protected:
  // Of the call; from OnOpen() on.
  const grpc::ServerContext& context() const { return context_; }

  // A client has called; on the queue's thread. The next one should be accepted.
  virtual void OnOpen(const Request& request) = 0;

  // Makes `message`, which may hold an earlier one, the next to send; false if there is
  // nothing to say now. By one thread at a time; must call no method of this class.
  virtual bool MakeNext(Response& message) = 0;

  // Nothing more will happen; on the queue's thread. Only after OnOpen().
  virtual void OnEnded() = 0;

 private:
  using Handler = void (AsyncWriteStream::*)(bool ok);

  // An operation of gRPC's. While it is under way it keeps the stream alive.
  class Step final : public CallStep {
   public:
    Step(AsyncWriteStream& stream, Handler handler) : stream_(stream), handler_(handler) {}
    void* Tag() {
      keep_ = stream_.shared_from_this();
      return static_cast<CallStep*>(this);
    }
    void Proceed(bool ok) override {
      const std::shared_ptr<AsyncWriteStream> stream = std::move(keep_);
      (stream.get()->*handler_)(ok);
    }

   private:
    AsyncWriteStream& stream_;
    const Handler handler_;
    std::shared_ptr<AsyncWriteStream> keep_;
  };

  void OnStarted(bool ok) {
    if (!ok) return;  // the server is shutting down
    gone_.Tag();      // it comes for a call that is there, and for no other
    queue_->BeginCall();
    counter_->open_streams.Add(1);
    OnOpen(request_);
  }

  void OnWritten(bool ok) {
    if (!ok) End(absl::CancelledError("the client is gone"));
    {
      const MutexLock lock(mutex_);
      writing_ = false;
      if (end_status_.has_value()) return Finish();
    }
    SendNext();
  }

  void OnGone(bool /*ok*/) { End(absl::CancelledError("the client is gone")); }
  void OnFinished(bool /*ok*/) {
    counter_->open_streams.Add(-1);
    counter_->calls.Count(EndCode());
    OnEnded();
    queue_->EndCall();
  }

  absl::StatusCode EndCode() {
    const MutexLock lock(mutex_);
    return end_status_.value_or(absl::OkStatus()).code();
  }

  void Finish() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    writer_.Finish(ToGrpcStatus(*end_status_), finished_.Tag());
  }

  // Set once, before anything happens.
  CallQueue* queue_ = nullptr;
  MethodCounter* counter_ = nullptr;
  grpc::ServerContext context_;
  Request request_;
  Step started_{*this, &AsyncWriteStream::OnStarted};
  Step written_{*this, &AsyncWriteStream::OnWritten};
  Step gone_{*this, &AsyncWriteStream::OnGone};
  Step finished_{*this, &AsyncWriteStream::OnFinished};

  Mutex mutex_;
  Writer writer_ ABSL_GUARDED_BY(mutex_){&context_};
  std::optional<absl::Status> end_status_ ABSL_GUARDED_BY(mutex_);  // absent: it goes on
  bool writing_ ABSL_GUARDED_BY(mutex_) = false;
  Response message_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace ttl

#endif  // TTL_SERVICE_RPC_ASYNC_WRITE_STREAM_H_
