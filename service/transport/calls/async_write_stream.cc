#include "service/transport/calls/async_write_stream.h"

#include <utility>

#include "service/transport/calls/status_mapping.h"

namespace ttl {

void AsyncWriteStream::Accept(CallQueue& queue, MethodCounter& counter, ByteService& service,
                              const google::protobuf::MethodDescriptor& method) {
  queue_ = &queue;
  counter_ = &counter;
  context_.AsyncNotifyWhenDone(static_cast<CallStep*>(&gone_));
  const MutexLock lock(mutex_);
  service.RequestServerStream(method, context_, request_, writer_, queue.queue(), started_.Tag());
}

void AsyncWriteStream::SendNext() {
  const MutexLock lock(mutex_);
  if (writing_ || end_status_.has_value() || !MakeNext(message_)) return;
  writing_ = true;
  writer_.Write(message_, written_.Tag());
}

void AsyncWriteStream::End(const absl::Status& status) {
  const MutexLock lock(mutex_);
  if (end_status_.has_value()) return;
  end_status_ = status;
  if (!writing_) Finish();
}

void* AsyncWriteStream::Step::Tag() {
  keep_ = stream_.shared_from_this();
  return static_cast<CallStep*>(this);
}

void AsyncWriteStream::Step::Proceed(bool ok) {
  const std::shared_ptr<AsyncWriteStream> stream = std::move(keep_);
  (stream.get()->*handler_)(ok);
}

void AsyncWriteStream::OnStarted(bool ok) {
  if (!ok) return;  // the server is shutting down
  gone_.Tag();      // it comes for a call that is there, and for no other
  queue_->BeginCall();
  queue_->BeginSending();
  counter_->open_streams.Add(1);
  OnOpen(request_);
}

void AsyncWriteStream::OnWritten(bool ok) {
  if (!ok) End(absl::CancelledError("the client has disconnected"));
  {
    const MutexLock lock(mutex_);
    writing_ = false;
    if (end_status_.has_value()) return Finish();
  }
  SendNext();
}

void AsyncWriteStream::OnGone(bool /*ok*/) {
  End(absl::CancelledError("the client has disconnected"));
}

void AsyncWriteStream::OnFinished(bool /*ok*/) {
  counter_->open_streams.Add(-1);
  counter_->calls.Count(EndCode());
  OnEnded();
  queue_->EndSending();
  queue_->EndCall();
}

absl::StatusCode AsyncWriteStream::EndCode() {
  const MutexLock lock(mutex_);
  return end_status_.value_or(absl::OkStatus()).code();
}

void AsyncWriteStream::Finish() {
  AddRetryPushback(*end_status_, context_);
  writer_.Finish(ToGrpcStatus(*end_status_), finished_.Tag());
}

}  // namespace ttl
