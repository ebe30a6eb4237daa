#ifndef TTL_SERVICE_RPC_ASYNC_UNARY_METHOD_H_
#define TTL_SERVICE_RPC_ASYNC_UNARY_METHOD_H_

#include <grpcpp/server_context.h>
#include <grpcpp/support/async_unary_call.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

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

// RequestX of a generated service: asks gRPC for a call of a unary method.
template <typename Service, typename Request, typename Response>
using RequestCall = void (Service::*)(grpc::ServerContext*, Request*,
                                      grpc::ServerAsyncResponseWriter<Response>*,
                                      grpc::CompletionQueue*, grpc::ServerCompletionQueue*, void*);

// The same of one service and for one queue.
template <typename Service, typename Method>
auto CallRequester(Service& service, Method request_call) {
  return
      [&service, request_call](auto* context, auto* message, auto* writer, auto* queue, void* tag) {
        (service.*request_call)(context, message, writer, queue, queue, tag);
      };
}

// One unary method on one queue, by gRPC's asynchronous API: for methods called so
// often that the cost of a call matters. Calls are made anew from finished
// ones, so that their messages keep their memory. For the queue's thread, but
// for construction and destruction while that does not run.
template <typename Request, typename Response>
class AsyncUnaryMethod final : public QueuedMethod {
 public:
  using Writer = grpc::ServerAsyncResponseWriter<Response>;

  struct Functions {
    // Asks gRPC for a call; see CallRequester.
    std::function<void(grpc::ServerContext*, Request*, Writer*, grpc::ServerCompletionQueue*,
                       void* tag)>
        request_call;
    // Fills the response, which is empty, and calls `done` once, on any thread. Both
    // messages live until then.
    std::function<void(const Request&, Response&, DoneStatus done)> handle;
    // Bytes of a request.
    std::function<size_t(const Request&)> count_bytes;
  };

  // Calls are counted under `name`, as in "ItemService/GetItem", and admitted as the
  // method of that name. `waiting_calls` are asked for in advance; that more
  // come at once is no harm, they wait.
  AsyncUnaryMethod(CallQueue& queue, const std::string& name, int waiting_calls,
                   Functions functions)
      : queue_(queue),
        counter_(queue.counters().AddUnary(name)),
        gate_(name, queue.access()),
        functions_(std::move(functions)) {
    for (int i = 0; i < waiting_calls; ++i) Accept();
  }

 private:
  // What is kept for later calls: so many, and none with messages that large.
  static constexpr size_t kMaxSpareCalls = 64;
  static constexpr size_t kMaxSpareBytes = size_t{64} << 10;

  class Call final : public CallStep {
   public:
    explicit Call(AsyncUnaryMethod& method) : method_(method) {}

    void Wait() {
      state_ = State::kWaiting;
      context_.emplace();
      writer_.emplace(&*context_);
      method_.functions_.request_call(&*context_, &request_, &*writer_, &method_.queue_.queue(),
                                      static_cast<CallStep*>(this));
    }

    void Proceed(bool ok) override {
      switch (state_) {
        case State::kWaiting:
          return ok ? Start() : Delete();
        case State::kHandled:
          return Send();
        case State::kSending:
          return method_.Recycle(std::unique_ptr<Call>(this));
      }
    }

    // Lets go of gRPC's call and of what its answer held.
    void Release() {
      writer_.reset();
      context_.reset();
      response_.Clear();
    }

    size_t CountBytes() const { return method_.functions_.count_bytes(request_); }

   private:
    enum class State { kWaiting, kHandled, kSending };

    void Start() {
      stopwatch_.Restart();
      method_.queue_.BeginCall();
      method_.queue_.BeginWork();
      method_.Accept();
      if (absl::Status admitted = method_.gate_.Admit(*context_); !admitted.ok()) {
        return End(std::move(admitted));
      }
      method_.functions_.handle(request_, response_,
                                [this](absl::Status status) { End(std::move(status)); });
    }

    // On any thread.
    void End(absl::Status status) {
      status_ = std::move(status);
      state_ = State::kHandled;
      if (method_.queue_.IsOwnThread()) return Send();
      method_.queue_.Post(*this);
    }

    void Send() {
      state_ = State::kSending;
      method_.queue_.EndWork();
      method_.counter_.calls.Count(status_.code(), stopwatch_.Nanoseconds());
      method_.gate_.LogEnd(*context_, status_);
      const auto tag = static_cast<CallStep*>(this);
      if (status_.ok()) return writer_->Finish(response_, grpc::Status::OK, tag);
      AddRetryPushback(status_, *context_);
      writer_->FinishWithError(ToGrpcStatus(status_), tag);
    }

    // The server is shutting down.
    void Delete() { delete this; }

    AsyncUnaryMethod& method_;
    State state_ = State::kWaiting;
    Request request_;
    Response response_;
    absl::Status status_;
    Stopwatch stopwatch_;
    // In this order: the writer uses the context.
    std::optional<grpc::ServerContext> context_;
    std::optional<Writer> writer_;
  };

  void Accept() {
    std::unique_ptr<Call> call;
    if (spare_.empty()) {
      call = std::make_unique<Call>(*this);
    } else {
      call = std::move(spare_.back());
      spare_.pop_back();
    }
    call.release()->Wait();  // its steps own it from here on
  }

  void Recycle(std::unique_ptr<Call> call) {
    queue_.EndCall();
    call->Release();
    if (spare_.size() < kMaxSpareCalls && call->CountBytes() <= kMaxSpareBytes) {
      spare_.push_back(std::move(call));
    }
  }

  CallQueue& queue_;
  MethodCounter& counter_;
  const MethodGate gate_;
  const Functions functions_;
  std::vector<std::unique_ptr<Call>> spare_;
};

}  // namespace ttl

#endif  // TTL_SERVICE_RPC_ASYNC_UNARY_METHOD_H_
