#ifndef TTL_SERVICE_TRANSPORT_CALLS_ASYNC_WRITE_STREAM_H_
#define TTL_SERVICE_TRANSPORT_CALLS_ASYNC_WRITE_STREAM_H_

#include <google/protobuf/descriptor.h>
#include <grpcpp/alarm.h>
#include <grpcpp/server_context.h>
#include <grpcpp/support/byte_buffer.h>

#include <cstdint>
#include <memory>
#include <optional>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "service/base/mutex.h"
#include "service/transport/calls/byte_service.h"
#include "service/transport/calls/call_counters.h"
#include "service/transport/calls/call_queue.h"
#include "service/transport/calls/call_step.h"

namespace ttl {

// One call of a server-streaming method, from the wait for a client to its end. At most one message
// is in flight, and the next one is built after it was sent: a slow client costs the memory of one
// message. A stream whose client reads nothing for the stall limit, or up to twice as long, is
// ended, because others may wait for what it holds, such as one of a limited number of streams; if
// the client does not read the status either for as long, the call is cancelled. Must be created
// with std::make_shared; pending operations keep it alive. Thread-safe.
class AsyncWriteStream : public std::enable_shared_from_this<AsyncWriteStream> {
 public:
  // For streams that hold nothing but their place. A client may need minutes for what it has read
  // before it reads on.
  static constexpr absl::Duration kStallLimit = absl::Minutes(10);

  explicit AsyncWriteStream(absl::Duration stall_limit = kStallLimit) : stall_limit_(stall_limit) {}
  virtual ~AsyncWriteStream() = default;

  // Waits for a client to call `method` of `service` on `queue`. The stream is counted in
  // `counter`, which belongs to the queue. To be called once.
  void Accept(CallQueue& queue, MethodCounter& counter, ByteService& service,
              const google::protobuf::MethodDescriptor& method);

  // Sends the message that MakeNext() builds. While a message is in flight, MakeNext() is called
  // after it was sent.
  void SendNext();

  // Ends the stream after the message in flight. No effect on a stream that is ending.
  void End(const absl::Status& status);

 protected:
  // The context of the call. Valid from OnOpen() on.
  const grpc::ServerContext& context() const { return context_; }

  // A client has called. Runs on the queue's thread, and should accept the next call. `request` may
  // be cleared, and lives as long as the stream.
  virtual void OnOpen(grpc::ByteBuffer& request) = 0;

  // Replaces `message` by the next one to send, or returns false if there is none now. Called by
  // one thread at a time; must not call methods of this class.
  virtual bool MakeNext(grpc::ByteBuffer& message) = 0;

  // The stream has been ended because its client does not read. Runs on the queue's thread, and
  // before OnEnded().
  virtual void OnStalled() {}

  // The stream has ended. Runs on the queue's thread, and only after OnOpen().
  virtual void OnEnded() = 0;

 private:
  using Handler = void (AsyncWriteStream::*)(bool ok);

  // A gRPC operation. Keeps the stream alive while it is pending.
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
  void OnStallCheck(bool ok);
  absl::StatusCode EndCode();
  void Finish() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // While the next check is set, it counts as a call of the queue.
  void SetStallCheck();
  // Whether the client has read nothing since the previous call although something waits for it.
  bool IsStalled();
  void TakeStall();

  const absl::Duration stall_limit_;
  // Set by Accept().
  CallQueue* queue_ = nullptr;
  MethodCounter* counter_ = nullptr;
  const google::protobuf::MethodDescriptor* method_ = nullptr;
  grpc::ServerContext context_;
  grpc::ByteBuffer request_;
  Step started_{*this, &AsyncWriteStream::OnStarted};
  Step written_{*this, &AsyncWriteStream::OnWritten};
  Step gone_{*this, &AsyncWriteStream::OnGone};
  Step finished_{*this, &AsyncWriteStream::OnFinished};
  Step stall_check_{*this, &AsyncWriteStream::OnStallCheck};

  // Used by the queue's thread only.
  grpc::Alarm alarm_;
  bool has_ended_ = false;
  bool is_ended_as_stalled_ = false;

  Mutex mutex_;
  ByteService::StreamWriter writer_ ABSL_GUARDED_BY(mutex_){&context_};
  std::optional<absl::Status> end_status_
      ABSL_GUARDED_BY(mutex_);  // absent while the stream is open
  bool writing_ ABSL_GUARDED_BY(mutex_) = false;
  uint64_t writes_ ABSL_GUARDED_BY(mutex_) = 0;  // of messages and the status, begun so far
  uint64_t writes_seen_ ABSL_GUARDED_BY(mutex_) = 0;
  grpc::ByteBuffer message_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace ttl

#endif  // TTL_SERVICE_TRANSPORT_CALLS_ASYNC_WRITE_STREAM_H_
