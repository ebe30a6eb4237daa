#include "service/transport/calls/async_unary_method.h"

#include <grpcpp/server_context.h>
#include <grpcpp/support/byte_buffer.h>

#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "service/base/stopwatch.h"
#include "service/transport/calls/call_step.h"
#include "service/transport/calls/message_exchange.h"
#include "service/transport/calls/status_mapping.h"

namespace ttl {
namespace {

// Call objects kept for reuse: at most this many, and none with a request above this size.
constexpr size_t kMaxSpareCalls = 64;
constexpr size_t kMaxSpareRequestBytes = size_t{64} << 10;

}  // namespace

class AsyncUnaryMethod::Call final : public CallStep {
 public:
  explicit Call(AsyncUnaryMethod& method) : method_(method), exchange_(method.new_exchange_()) {}

  void Wait() {
    state_ = State::kWaiting;
    context_.emplace();
    writer_.emplace(&*context_);
    method_.service_.RequestUnary(method_.method_, *context_, request_, *writer_,
                                  method_.queue_.queue(), static_cast<CallStep*>(this));
  }

  void Proceed(bool ok) override {
    switch (state_) {
      case State::kWaiting:
        return ok ? Start() : Delete();
      case State::kHandled:
        return Send();
      case State::kSending:
        if (is_admitted_) method_.queue_.EndSending();
        return method_.Recycle(std::unique_ptr<Call>(this));
    }
  }

  // Releases gRPC's call, and what the response refers to.
  void Release() {
    writer_.reset();
    context_.reset();
    request_.Clear();
    exchange_->Clear();
  }

  size_t request_bytes() const { return request_bytes_; }

 private:
  enum class State { kWaiting, kHandled, kSending };

  void Start() {
    stopwatch_.Restart();
    method_.queue_.BeginCall();
    method_.queue_.BeginWork();
    method_.Accept();
    request_bytes_ = request_.Length();
    unparsable_ = false;
    absl::Status admitted = method_.gate_.Admit(*context_);
    is_admitted_ = admitted.ok();
    if (!is_admitted_) return End(std::move(admitted));
    unparsable_ = !exchange_->Read(request_);
    if (unparsable_) return End(UnparsableRequest());
    exchange_->SetCall(*context_);
    exchange_->Handle([this](absl::Status status) { End(std::move(status)); });
  }

  // May be called on any thread.
  void End(absl::Status status) {
    status_ = std::move(status);
    state_ = State::kHandled;
    if (method_.queue_.IsOwnThread()) return Send();
    method_.queue_.Post(*this);
  }

  void Send() {
    state_ = State::kSending;
    method_.queue_.EndWork();
    request_.Clear();  // of who was refused
    exchange_->DropRequest();
    if (is_admitted_) method_.queue_.BeginSending();
    method_.counter_.calls.Count(status_.code(), stopwatch_.Nanoseconds());
    // A request that cannot be parsed is the caller's fault, although its code is INTERNAL.
    if (!unparsable_) method_.gate_.LogEnd(*context_, status_);
    const auto tag = static_cast<CallStep*>(this);
    if (status_.ok()) return writer_->Finish(exchange_->Write(), grpc::Status::OK, tag);
    AddRetryPushback(status_, *context_);
    writer_->FinishWithError(ToGrpcStatus(status_), tag);
  }

  // Called when the server shuts down.
  void Delete() { delete this; }

  AsyncUnaryMethod& method_;
  const std::unique_ptr<Exchange> exchange_;
  State state_ = State::kWaiting;
  grpc::ByteBuffer request_;
  size_t request_bytes_ = 0;
  bool is_admitted_ = false;
  bool unparsable_ = false;
  absl::Status status_;
  Stopwatch stopwatch_;
  // The order matters: the writer uses the context.
  std::optional<grpc::ServerContext> context_;
  std::optional<ByteService::UnaryWriter> writer_;
};

AsyncUnaryMethod::AsyncUnaryMethod(CallQueue& queue, ByteService& service,
                                   const google::protobuf::MethodDescriptor& method,
                                   int waiting_calls, NewExchange new_exchange)
    : queue_(queue),
      service_(service),
      method_(method),
      counter_(queue.counters().AddUnary(NameOf(method))),
      gate_(NameOf(method), queue.access()),
      new_exchange_(std::move(new_exchange)) {
  for (int i = 0; i < waiting_calls; ++i) Accept();
}

AsyncUnaryMethod::~AsyncUnaryMethod() = default;

void AsyncUnaryMethod::Accept() {
  std::unique_ptr<Call> call;
  if (spare_.empty()) {
    call = std::make_unique<Call>(*this);
  } else {
    call = std::move(spare_.back());
    spare_.pop_back();
  }
  call.release()->Wait();  // its steps own it from here on
}

void AsyncUnaryMethod::Recycle(std::unique_ptr<Call> call) {
  queue_.EndCall();
  call->Release();
  if (spare_.size() < kMaxSpareCalls && call->request_bytes() <= kMaxSpareRequestBytes) {
    spare_.push_back(std::move(call));
  }
}

}  // namespace ttl
