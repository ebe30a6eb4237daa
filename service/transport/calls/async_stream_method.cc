#include "service/transport/calls/async_stream_method.h"

#include <grpcpp/server_context.h>
#include <grpcpp/support/byte_buffer.h>

#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "service/base/stopwatch.h"
#include "service/transport/calls/call_step.h"
#include "service/transport/calls/message_exchange.h"
#include "service/transport/calls/status_mapping.h"

// A Call is a state machine on the queue's thread: every completed operation ends in Advance(),
// which starts whatever is possible now. gRPC allows one read and one write at a time.
//
// A message is in ahead_ from being read until its response is written. Handlers run concurrently
// and finish in any order, but only the response of the front is written, so responses have the
// order of the messages. Reading pauses at the bounds of ahead_, which is the flow control towards
// the client.
//
// A stream ends when the client has ended it, has disconnected (broken_) or was refused, or when
// the method ends its streams. Messages that were read are still answered, or dropped if the client
// has disconnected, but only after their handlers have finished, because handlers refer to them.
// Then the call finishes, and it is deleted once no operation is pending.
namespace ttl {
namespace {

constexpr int kWaitingCalls = 4;

// Reading pauses while this many messages or bytes are unanswered; bytes may exceed this by one
// message.
constexpr size_t kMaxMessagesAhead = 64;
constexpr size_t kMaxBytesAhead = size_t{1} << 20;

// Message objects kept for reuse in the same stream: at most this many, and none above this size.
constexpr size_t kMaxSpareMessages = 16;
constexpr size_t kMaxSpareMessageBytes = size_t{64} << 10;

}  // namespace

struct AsyncStreamMethod::Message final : public CallStep {
  explicit Message(Call& of, std::unique_ptr<Exchange> made)
      : call(of), exchange(std::move(made)) {}
  void Proceed(bool ok) override;

  Call& call;
  const std::unique_ptr<Exchange> exchange;
  size_t bytes = 0;
  bool answered = false;
  absl::StatusCode code = absl::StatusCode::kOk;
  Stopwatch stopwatch;
};

class AsyncStreamMethod::Call final {
 public:
  explicit Call(AsyncStreamMethod& method) : method_(method) {
    method_.service_.RequestBidiStream(method_.method_, context_, stream_, method_.queue_.queue(),
                                       static_cast<CallStep*>(&started_));
  }

  void OnAnswered(Message& message) {
    Settle(message);
    Advance();
  }

  // Does everything that can be done now. May delete this.
  void Advance() {
    DropUnwritable();
    if (CanWrite()) Write();
    if (CanRead()) Read();
    if (CanFinish()) Finish();
    if (finished_ && !reading_ && !writing_ && ahead_.empty()) method_.Delete(this);
  }

 private:
  using Handler = void (Call::*)(bool ok);
  struct Step final : public CallStep {
    Step(Call& of, Handler handler) : call(of), on(handler) {}
    void Proceed(bool ok) override { (call.*on)(ok); }
    Call& call;
    const Handler on;
  };

  void OnStarted(bool ok) {
    if (!ok) {  // the server is shutting down
      delete this;
      return;
    }
    method_.queue_.BeginCall();
    method_.queue_.BeginSending();
    method_.open_.insert(this);
    method_.counter_.open_streams.Add(1);
    method_.Accept();
    refused_ = method_.gate_.Admit(context_);
    Advance();
  }

  void OnRead(bool ok) {
    reading_ = false;
    read_ended_ = !ok;
    if (ok && !finishing_) Handle();
    Advance();
  }

  void OnWritten(bool ok) {
    writing_ = false;
    broken_ = broken_ || !ok;
    DropFront();
    Advance();
  }

  void OnFinished(bool /*ok*/) {
    finished_ = true;
    Advance();
  }

  bool IsEnding() const { return broken_ || !refused_.ok() || !method_.end_status_.ok(); }
  bool CanWrite() const {
    return !writing_ && !ahead_.empty() && ahead_.front()->answered && !broken_;
  }
  bool CanRead() const {
    return !reading_ && !read_ended_ && !finishing_ && !IsEnding() &&
           ahead_.size() < kMaxMessagesAhead && bytes_ahead_ < kMaxBytesAhead;
  }
  bool CanFinish() const {
    return !finishing_ && !writing_ && ahead_.empty() && (read_ended_ || IsEnding());
  }

  // Drops the responses to a client that has disconnected.
  void DropUnwritable() {
    while (broken_ && !ahead_.empty() && ahead_.front()->answered) DropFront();
  }

  void DropFront() {
    std::unique_ptr<Message> message = std::move(ahead_.front());
    ahead_.pop_front();
    bytes_ahead_ -= message->bytes;
    message->exchange->Clear();
    if (spare_.size() < kMaxSpareMessages && message->bytes <= kMaxSpareMessageBytes) {
      spare_.push_back(std::move(message));
    }
  }

  void Read() {
    reading_ = true;
    if (spare_.empty()) {
      next_ = std::make_unique<Message>(*this, method_.new_exchange_());
    } else {
      next_ = std::move(spare_.back());
      spare_.pop_back();
    }
    stream_.Read(&incoming_, static_cast<CallStep*>(&read_));
  }

  void Handle() {
    Message& message = *next_;
    message.answered = false;
    message.stopwatch.Restart();
    message.bytes = incoming_.Length();
    if (!message.exchange->Read(incoming_)) {
      unparsable_ = read_ended_ = true;
      return;
    }
    method_.queue_.BeginWork();
    bytes_ahead_ += message.bytes;
    ahead_.push_back(std::move(next_));
    message.exchange->SetCall(context_);
    message.exchange->Handle([this, &message](const absl::Status& status) {
      message.code = status.code();
      if (method_.queue_.IsOwnThread()) {
        Settle(message);
      } else {
        method_.queue_.Post(message);
      }
    });
  }

  void Settle(Message& message) {
    message.answered = true;
    message.exchange->DropRequest();
    method_.queue_.EndWork();
    method_.counter_.messages.Count(message.code, message.stopwatch.Nanoseconds());
  }

  void Write() {
    writing_ = true;
    stream_.Write(ahead_.front()->exchange->Write(), static_cast<CallStep*>(&written_));
  }

  void Finish() {
    finishing_ = true;
    const absl::Status status = EndStatus();
    AddRetryPushback(status, context_);
    method_.counter_.calls.Count(broken_ ? absl::StatusCode::kCancelled : status.code());
    stream_.Finish(ToGrpcStatus(status), static_cast<CallStep*>(&finish_));
  }

  absl::Status EndStatus() const {
    if (!refused_.ok()) return refused_;
    if (unparsable_) return UnparsableRequest();
    return read_ended_ ? absl::OkStatus() : method_.end_status_;
  }

  AsyncStreamMethod& method_;
  grpc::ServerContext context_;
  ByteService::StreamReaderWriter stream_{&context_};
  Step started_{*this, &Call::OnStarted};
  Step read_{*this, &Call::OnRead};
  Step written_{*this, &Call::OnWritten};
  Step finish_{*this, &Call::OnFinished};

  std::unique_ptr<Message> next_;  // receives the next message
  grpc::ByteBuffer incoming_;
  std::deque<std::unique_ptr<Message>> ahead_;  // read, and not yet written
  std::vector<std::unique_ptr<Message>> spare_;
  size_t bytes_ahead_ = 0;
  bool reading_ = false;
  bool read_ended_ = false;  // the client has ended or disconnected, or a message was unparsable
  bool unparsable_ = false;  // the last message read
  bool writing_ = false;
  bool broken_ = false;  // writes fail
  bool finishing_ = false;
  bool finished_ = false;
  absl::Status refused_;  // OK if the caller was admitted
};

void AsyncStreamMethod::Message::Proceed(bool /*ok*/) { call.OnAnswered(*this); }

AsyncStreamMethod::AsyncStreamMethod(CallQueue& queue, ByteService& service,
                                     const google::protobuf::MethodDescriptor& method,
                                     NewExchange new_exchange)
    : queue_(queue),
      service_(service),
      method_(method),
      counter_(queue.counters().AddStream(NameOf(method))),
      gate_(NameOf(method), queue.access()),
      new_exchange_(std::move(new_exchange)) {
  for (int i = 0; i < kWaitingCalls; ++i) Accept();
}

AsyncStreamMethod::~AsyncStreamMethod() = default;

void AsyncStreamMethod::EndStreams(const absl::Status& status) {
  end_status_ = status;
  const std::vector<Call*> open(open_.begin(), open_.end());
  for (Call* call : open) call->Advance();
}

void AsyncStreamMethod::Accept() { new Call(*this); }  // its steps own it

void AsyncStreamMethod::Delete(Call* call) {
  counter_.open_streams.Add(-1);
  open_.erase(call);
  delete call;
  queue_.EndSending();
  queue_.EndCall();
}

}  // namespace ttl
