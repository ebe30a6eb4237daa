#include "tests/bench/echo/async_echo.h"

#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server_builder.h>
#include <grpcpp/server_context.h>

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "tests/bench/echo/answers.h"
#include "ttl/v1/item_service.grpc.pb.h"

namespace ttl::bench {
namespace {

using AsyncService = v1::ItemService::WithAsyncMethod_CheckVisibility<
    v1::ItemService::WithAsyncMethod_TrackItems<v1::ItemService::WithAsyncMethod_StreamTrackItems<
        v1::ItemService::WithAsyncMethod_StreamCheckVisibility<v1::ItemService::Service>>>>;

constexpr int kWaitingCalls = 32;  // of each method
constexpr int kWaitingStreams = 4;

// What an event of the queue is for.
class Step {
 public:
  virtual ~Step() = default;
  virtual void Proceed(bool ok) = 0;
};

// Answers one call, then waits for the next. Lives as long as the process.
template <typename Request, typename Response>
class UnaryCall final : public Step {
 public:
  using Writer = grpc::ServerAsyncResponseWriter<Response>;
  using Accept = std::function<void(grpc::ServerContext*, Request*, Writer*, void* tag)>;

  UnaryCall(Accept accept, const Answers<Request, Response>& answers)
      : accept_(std::move(accept)), answers_(answers) {
    Wait();
  }

  void Proceed(bool ok) override {
    if (is_answered_ || !ok) return Wait();
    is_answered_ = true;
    writer_->Finish(answers_.For(request_), grpc::Status::OK, static_cast<Step*>(this));
  }

 private:
  void Wait() {
    is_answered_ = false;
    writer_.reset();
    context_.emplace();
    writer_.emplace(&*context_);
    accept_(&*context_, &request_, &*writer_, static_cast<Step*>(this));
  }

  const Accept accept_;
  const Answers<Request, Response>& answers_;
  std::optional<grpc::ServerContext> context_;
  std::optional<Writer> writer_;
  Request request_;
  bool is_answered_ = false;
};

// Answers the messages of one stream, then waits for the next stream.
template <typename Request, typename Response>
class StreamCall {
 public:
  using Stream = grpc::ServerAsyncReaderWriter<Response, Request>;
  using Accept = std::function<void(grpc::ServerContext*, Stream*, void* tag)>;

  StreamCall(Accept accept, const Answers<Request, Response>& answers)
      : accept_(std::move(accept)), answers_(answers) {
    Wait();
  }

 private:
  // One of the operations that can be under way at one time.
  class Operation final : public Step {
   public:
    Operation(StreamCall& call, void (StreamCall::*end)(bool)) : call_(call), end_(end) {}
    void Proceed(bool ok) override { (call_.*end_)(ok); }
    void* Tag() { return static_cast<Step*>(this); }

   private:
    StreamCall& call_;
    void (StreamCall::*const end_)(bool);
  };

  void Wait() {
    stream_.reset();
    context_.emplace();
    stream_.emplace(&*context_);
    is_read_ = false;
    accept_(&*context_, &*stream_, opening_.Tag());
  }

  void Opened(bool ok) { ok ? stream_->Read(&request_, reading_.Tag()) : Wait(); }

  // Reading does not wait for writing; the transport bounds how far it gets ahead.
  void HasRead(bool ok) {
    if (!ok) {
      is_read_ = true;
      return WriteNext();
    }
    owed_.push_back(&answers_.For(request_));
    stream_->Read(&request_, reading_.Tag());
    WriteNext();
  }

  void Written(bool ok) {
    is_writing_ = false;
    if (!ok) owed_.clear();
    WriteNext();
  }

  void WriteNext() {
    if (is_writing_) return;
    if (!owed_.empty()) {
      is_writing_ = true;
      stream_->Write(*owed_.front(), writing_.Tag());
      owed_.pop_front();
    } else if (is_read_) {
      stream_->Finish(grpc::Status::OK, finishing_.Tag());
    }
  }

  void Finished(bool /*ok*/) { Wait(); }

  const Accept accept_;
  const Answers<Request, Response>& answers_;
  std::optional<grpc::ServerContext> context_;
  std::optional<Stream> stream_;
  Request request_;
  std::deque<const Response*> owed_;
  bool is_read_ = false;  // to the end
  bool is_writing_ = false;
  Operation opening_{*this, &StreamCall::Opened};
  Operation reading_{*this, &StreamCall::HasRead};
  Operation writing_{*this, &StreamCall::Written};
  Operation finishing_{*this, &StreamCall::Finished};
};

// Calls of all methods, all on one queue.
class Calls {
 public:
  Calls(AsyncService& service, grpc::ServerCompletionQueue& queue)
      : service_(service), queue_(queue) {
    for (int i = 0; i < kWaitingCalls; ++i) {
      AddUnary(&AsyncService::RequestCheckVisibility, answers_.check);
      AddUnary(&AsyncService::RequestTrackItems, answers_.track);
    }
    for (int i = 0; i < kWaitingStreams; ++i) {
      AddStream(&AsyncService::RequestStreamCheckVisibility, answers_.check_message);
      AddStream(&AsyncService::RequestStreamTrackItems, answers_.track_message);
    }
  }

 private:
  template <typename Request, typename Response, typename Method>
  void AddUnary(Method method, const Answers<Request, Response>& answers) {
    const auto accept = [this, method](auto* context, auto* request, auto* writer, void* tag) {
      (service_.*method)(context, request, writer, &queue_, &queue_, tag);
    };
    calls_.push_back(std::make_shared<UnaryCall<Request, Response>>(accept, answers));
  }

  template <typename Request, typename Response, typename Method>
  void AddStream(Method method, const Answers<Request, Response>& answers) {
    const auto accept = [this, method](auto* context, auto* stream, void* tag) {
      (service_.*method)(context, stream, &queue_, &queue_, tag);
    };
    calls_.push_back(std::make_shared<StreamCall<Request, Response>>(accept, answers));
  }

  AsyncService& service_;
  grpc::ServerCompletionQueue& queue_;
  const AllAnswers answers_{};
  std::vector<std::shared_ptr<void>> calls_;
};

}  // namespace

bool ServeAsync(const std::string& address) {
  AsyncService service;
  grpc::ServerBuilder builder;
  builder.AddListeningPort(address, grpc::InsecureServerCredentials());
  builder.RegisterService(&service);
  const std::unique_ptr<grpc::ServerCompletionQueue> queue = builder.AddCompletionQueue();
  const std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  if (server == nullptr) return false;
  const Calls calls(service, *queue);
  void* tag = nullptr;
  bool ok = false;
  while (queue->Next(&tag, &ok)) static_cast<Step*>(tag)->Proceed(ok);
  return true;
}

}  // namespace ttl::bench
