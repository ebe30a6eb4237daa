#ifndef TTL_SERVICE_TRANSPORT_CALLS_ASYNC_WRITE_STREAM_H_
#define TTL_SERVICE_TRANSPORT_CALLS_ASYNC_WRITE_STREAM_H_

#include <google/protobuf/descriptor.h>
#include <grpcpp/server_context.h>
#include <grpcpp/support/byte_buffer.h>

#include <memory>
#include <optional>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "service/base/mutex.h"
#include "service/transport/calls/byte_service.h"
#include "service/transport/calls/call_counters.h"
#include "service/transport/calls/call_queue.h"
#include "service/transport/calls/call_step.h"

namespace ttl {

// One call of a method with a stream of responses, by gRPC's asynchronous API, from
// being waited for to its end. One message is under way at most, and the next one is
// made when it is through: a client that reads slowly costs one message of memory.
// Made with std::make_shared; what is under way keeps it alive. Thread-safe.
class AsyncWriteStream : public std::enable_shared_from_this<AsyncWriteStream> {
 public:
  virtual ~AsyncWriteStream() = default;

  // Waits for a client of `method` of `service` on `queue`; the stream is counted in
  // `counter`, which is the queue's. Once.
  void Accept(CallQueue& queue, MethodCounter& counter, ByteService& service,
              const google::protobuf::MethodDescriptor& method);

  // Sends what MakeNext() makes, unless a message is under way; then it will be asked
  // when that is through.
  void SendNext();

  // Ends the stream when the message under way is through. Has no effect on a stream that
  // ends already.
  void End(const absl::Status& status);

 protected:
  // Of the call; from OnOpen() on.
  const grpc::ServerContext& context() const { return context_; }

  // A client has called; on the queue's thread. The next one should be accepted. `request`
  // may be emptied, and lives as long as the stream.
  virtual void OnOpen(grpc::ByteBuffer& request) = 0;

  // Makes `message`, which may hold an earlier one, the next to send; false if there is
  // nothing to say now. By one thread at a time; must call no method of this class.
  virtual bool MakeNext(grpc::ByteBuffer& message) = 0;

  // Nothing more will happen; on the queue's thread. Only after OnOpen().
  virtual void OnEnded() = 0;

 private:
  using Handler = void (AsyncWriteStream::*)(bool ok);

  // An operation of gRPC's. While it is under way it keeps the stream alive.
  class Step final : public CallStep {
   public:
    Step(AsyncWriteStream& stream, Handler handler) : stream_(stream), handler_(handler) {}
    void* Tag();
    void Proceed(bool ok) override;

   private:
    AsyncWriteStream& stream_;
    const Handler handler_;
    std::shared_ptr<AsyncWriteStream> keep_;
  };

  void OnStarted(bool ok);
  void OnWritten(bool ok);
  void OnGone(bool ok);
  void OnFinished(bool ok);
  absl::StatusCode EndCode();
  void Finish() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // Set once, before anything happens.
  CallQueue* queue_ = nullptr;
  MethodCounter* counter_ = nullptr;
  grpc::ServerContext context_;
  grpc::ByteBuffer request_;
  Step started_{*this, &AsyncWriteStream::OnStarted};
  Step written_{*this, &AsyncWriteStream::OnWritten};
  Step gone_{*this, &AsyncWriteStream::OnGone};
  Step finished_{*this, &AsyncWriteStream::OnFinished};

  Mutex mutex_;
  ByteService::StreamWriter writer_ ABSL_GUARDED_BY(mutex_){&context_};
  std::optional<absl::Status> end_status_ ABSL_GUARDED_BY(mutex_);  // absent: it goes on
  bool writing_ ABSL_GUARDED_BY(mutex_) = false;
  grpc::ByteBuffer message_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace ttl

#endif  // TTL_SERVICE_TRANSPORT_CALLS_ASYNC_WRITE_STREAM_H_
