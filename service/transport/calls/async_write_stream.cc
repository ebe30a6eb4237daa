#include "service/transport/calls/async_write_stream.h"

#include <spdlog/spdlog.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "service/base/error_details.h"
#include "service/transport/calls/status_mapping.h"

namespace ttl {

void AsyncWriteStream::Accept(CallQueue& queue, MethodCounter& counter, ByteService& service,
                              const google::protobuf::MethodDescriptor& method) {
  queue_ = &queue;
  counter_ = &counter;
  method_ = &method;
  context_.AsyncNotifyWhenDone(static_cast<CallStep*>(&gone_));
  const MutexLock lock(mutex_);
  service.RequestServerStream(method, context_, request_, writer_, queue.queue(), started_.Tag());
}

void AsyncWriteStream::SendNext() {
  const MutexLock lock(mutex_);
  if (writing_ || end_status_.has_value() || !MakeNext(message_)) return;
  writing_ = true;
  ++writes_;
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
  queue_->BeginCall();
  SetStallCheck();
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
  has_ended_ = true;
  alarm_.Cancel();
  counter_->open_streams.Add(-1);
  counter_->calls.Count(EndCode());
  OnEnded();
  queue_->EndSending();
  queue_->EndCall();
}

void AsyncWriteStream::SetStallCheck() {
  alarm_.Set(&queue_->queue(),
             gpr_time_from_millis(absl::ToInt64Milliseconds(stall_limit_), GPR_TIMESPAN),
             stall_check_.Tag());
}

void AsyncWriteStream::OnStallCheck(bool ok) {
  if (!ok || has_ended_) return queue_->EndCall();
  if (IsStalled()) TakeStall();
  SetStallCheck();
}

bool AsyncWriteStream::IsStalled() {
  const MutexLock lock(mutex_);
  const uint64_t seen = std::exchange(writes_seen_, writes_);
  return (writing_ || end_status_.has_value()) && writes_ == seen;
}

// The status follows the message that the client has not read, so it needs time to read both; a
// second stall cuts it off.
void AsyncWriteStream::TakeStall() {
  if (std::exchange(is_ended_as_stalled_, true)) return context_.TryCancel();
  spdlog::warn("stream ended, its client does not read: method={} limit={}", method_->full_name(),
               absl::FormatDuration(stall_limit_));
  End(MakeError(Reason::kClientTooSlow, absl::StrCat("the client read no message for ",
                                                     absl::FormatDuration(stall_limit_))));
  OnStalled();
}

absl::StatusCode AsyncWriteStream::EndCode() {
  const MutexLock lock(mutex_);
  return end_status_.value_or(absl::OkStatus()).code();
}

void AsyncWriteStream::Finish() {
  ++writes_;
  AddRetryPushback(*end_status_, context_);
  writer_.Finish(ToGrpcStatus(*end_status_), finished_.Tag());
}

}  // namespace ttl
