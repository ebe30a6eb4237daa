#ifndef TTL_SERVICE_RPC_ASYNC_STREAM_METHOD_H_
#define TTL_SERVICE_RPC_ASYNC_STREAM_METHOD_H_

#include <grpcpp/server_context.h>
#include <grpcpp/support/async_stream.h>

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "service/core/stopwatch.h"
#include "service/rpc/call_counters.h"
#include "service/rpc/call_queue.h"
#include "service/rpc/call_step.h"
#include "service/rpc/method_gate.h"
#include "service/rpc/queued_method.h"
#include "service/rpc/status_mapping.h"
#include "service/storage/done.h"

namespace ttl {

// One bidirectional method on one queue, by gRPC's asynchronous API, each of whose
// messages is answered by one. They are answered in the order in which they came, and
// are handled side by side: a bounded number is read ahead of the answers. For the
// queue's thread, but for construction and destruction while that does not run.
template <typename Request, typename Response>
class AsyncStreamMethod final : public QueuedMethod {
 public:
  using Stream = grpc::ServerAsyncReaderWriter<Response, Request>;

  struct Functions {
    // Asks gRPC for a call: RequestX of the generated service.
    std::function<void(grpc::ServerContext*, Stream*, grpc::ServerCompletionQueue*, void* tag)>
        request_call;
    // Fills the response, which is empty, also if the message is refused, and calls `done`
    // once, on any thread, with what became of it. Both messages live until then.
    std::function<void(const Request&, Response&, DoneStatus done)> handle;
    // Bytes of a request.
    std::function<size_t(const Request&)> count_bytes;
  };

  // Streams and messages are counted under `name`, as in "ItemService/StreamTrackItems",
  // and streams admitted as the method of that name.
  AsyncStreamMethod(CallQueue& queue, const std::string& name, Functions functions)
      : queue_(queue),
        counter_(queue.counters().AddStream(name)),
        gate_(name, queue.access()),
        functions_(std::move(functions)) {
    for (int i = 0; i < kWaitingCalls; ++i) Accept();
  }

  // Answers what was read first.
  void EndStreams(const absl::Status& status) override {
    end_status_ = status;
    const std::vector<Call*> open(open_.begin(), open_.end());
    for (Call* call : open) call->Advance();
  }

 private:
  static constexpr int kWaitingCalls = 4;

  // How far is read ahead of the answers, in messages and bytes: never more than one
  // message beyond.
  static constexpr size_t kMaxMessagesAhead = 64;
  static constexpr size_t kMaxBytesAhead = size_t{1} << 20;

  // Messages kept for later ones of the same stream: so many, and none that large.
  static constexpr size_t kMaxSpareMessages = 16;
  static constexpr size_t kMaxSpareBytes = size_t{64} << 10;

  class Call;

  struct Message final : public CallStep {
    explicit Message(Call& of) : call(of) {}
    void Proceed(bool /*ok*/) override { call.OnAnswered(*this); }

    Call& call;
    Request request;
    Response response;
    size_t bytes = 0;
    bool answered = false;
    absl::StatusCode code = absl::StatusCode::kOk;
    Stopwatch stopwatch;
  };

  class Call final {
   public:
    explicit Call(AsyncStreamMethod& method) : method_(method) {
      method_.functions_.request_call(&context_, &stream_, &method_.queue_.queue(),
                                      static_cast<CallStep*>(&started_));
    }

    void OnAnswered(Message& message) {
      Settle(message);
      Advance();
    }

    // Takes every step that can be taken now. May delete this.
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

    // What was read for a client that is gone.
    void DropUnwritable() {
      while (broken_ && !ahead_.empty() && ahead_.front()->answered) DropFront();
    }

    void DropFront() {
      std::unique_ptr<Message> message = std::move(ahead_.front());
      ahead_.pop_front();
      bytes_ahead_ -= message->bytes;
      if (spare_.size() < kMaxSpareMessages && message->bytes <= kMaxSpareBytes) {
        spare_.push_back(std::move(message));
      }
    }

    void Read() {
      reading_ = true;
      if (spare_.empty()) {
        next_ = std::make_unique<Message>(*this);
      } else {
        next_ = std::move(spare_.back());
        spare_.pop_back();
      }
      stream_.Read(&next_->request, static_cast<CallStep*>(&read_));
    }

    void Handle() {
      Message& message = *next_;
      method_.queue_.BeginWork();
      message.answered = false;
      message.stopwatch.Restart();
      message.bytes = method_.functions_.count_bytes(message.request);
      bytes_ahead_ += message.bytes;
      ahead_.push_back(std::move(next_));
      message.response.Clear();
      method_.functions_.handle(message.request, message.response,
                                [this, &message](const absl::Status& status) {
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
      method_.queue_.EndWork();
      method_.counter_.messages.Count(message.code, message.stopwatch.Nanoseconds());
    }

    void Write() {
      writing_ = true;
      stream_.Write(ahead_.front()->response, static_cast<CallStep*>(&written_));
    }

    void Finish() {
      finishing_ = true;
      const absl::Status status = EndStatus();
      method_.counter_.calls.Count(broken_ ? absl::StatusCode::kCancelled : status.code());
      stream_.Finish(ToGrpcStatus(status), static_cast<CallStep*>(&finish_));
    }

    absl::Status EndStatus() const {
      if (!refused_.ok()) return refused_;
      return read_ended_ ? absl::OkStatus() : method_.end_status_;
    }

    AsyncStreamMethod& method_;
    grpc::ServerContext context_;
    Stream stream_{&context_};
    Step started_{*this, &Call::OnStarted};
    Step read_{*this, &Call::OnRead};
    Step written_{*this, &Call::OnWritten};
    Step finish_{*this, &Call::OnFinished};

    std::unique_ptr<Message> next_;               // being read
    std::deque<std::unique_ptr<Message>> ahead_;  // read, and not yet written
    std::vector<std::unique_ptr<Message>> spare_;
    size_t bytes_ahead_ = 0;
    bool reading_ = false;
    bool read_ended_ = false;  // by the client, or because it is gone
    bool writing_ = false;
    bool broken_ = false;  // nothing can be written any more
    bool finishing_ = false;
    bool finished_ = false;
    absl::Status refused_;  // OK: the caller was admitted
  };

  void Accept() { new Call(*this); }  // its steps own it

  void Delete(Call* call) {
    counter_.open_streams.Add(-1);
    open_.erase(call);
    delete call;
    queue_.EndCall();
  }

  CallQueue& queue_;
  MethodCounter& counter_;
  const MethodGate gate_;
  const Functions functions_;
  absl::flat_hash_set<Call*> open_;
  absl::Status end_status_;  // OK: streams go on
};

}  // namespace ttl

#endif  // TTL_SERVICE_RPC_ASYNC_STREAM_METHOD_H_
