#include "service/rpc/item_service.h"

#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/slice.h>

#include <utility>

#include "service/core/status_macros.h"
#include "service/rpc/async_stream_method.h"
#include "service/rpc/async_unary_method.h"
#include "service/rpc/check_answers.h"
#include "service/rpc/check_request.h"
#include "service/rpc/method_table.h"
#include "service/rpc/status_mapping.h"

namespace ttl {
namespace {

// Calls accepted in advance of the methods that are called most.
constexpr int kWaitingCalls = 16;

size_t CountBytes(const grpc::ByteBuffer& message) { return message.Length(); }
size_t CountBytes(const google::protobuf::MessageLite& message) { return message.ByteSizeLong(); }

// RequestX of a streaming method, for what asks for calls.
template <typename Method>
auto StreamRequester(ItemEndpoint& service, Method request_call) {
  return [&service, request_call](auto* context, auto* stream, auto* queue, void* tag) {
    (service.*request_call)(context, stream, queue, queue, tag);
  };
}

// The bytes of a message in one piece; `slice` keeps them.
absl::string_view Contiguous(const grpc::ByteBuffer& message, grpc::Slice& slice) {
  if (!message.TrySingleSlice(&slice).ok() && !message.DumpToSingleSlice(&slice).ok()) return {};
  return {reinterpret_cast<const char*>(slice.begin()), slice.size()};
}

// A message of `size` bytes that `write` fills.
template <typename Write>
grpc::ByteBuffer MakeMessage(size_t size, Write write) {
  const grpc::Slice slice(size);
  // Nobody else has seen the slice yet.
  write(const_cast<uint8_t*>(slice.begin()));
  return grpc::ByteBuffer(&slice, 1);
}

// Answers the checks of one queue, whose memory it reuses.
class CheckHandler {
 public:
  explicit CheckHandler(ItemCalls& calls)
      : calls_(calls), verdicts_(calls.counters().AddThread()) {}

  absl::Status Handle(const grpc::ByteBuffer& request, grpc::ByteBuffer& response) {
    grpc::Slice slice;
    TTL_RETURN_IF_ERROR(request_.Parse(Contiguous(request, slice)));
    TTL_RETURN_IF_ERROR(Check());
    response = MakeMessage(answers_.WireSize(), [this](uint8_t* out) { answers_.Write(out); });
    return absl::OkStatus();
  }

  absl::Status HandleStreamed(const grpc::ByteBuffer& request, grpc::ByteBuffer& response) {
    grpc::Slice slice;
    absl::Status status = request_.ParseStreamed(Contiguous(request, slice));
    if (status.ok()) status = Check();
    if (status.ok()) {
      response = MakeMessage(answers_.StreamedWireSize(),
                             [this](uint8_t* out) { answers_.WriteStreamed(out); });
      return status;
    }
    v1::StreamCheckVisibilityResponse refusal;
    FillMessageError(status, *refusal.mutable_error());
    response = MakeMessage(refusal.ByteSizeLong(), [&refusal](uint8_t* out) {
      refusal.SerializeWithCachedSizesToArray(out);
    });
    return status;
  }

 private:
  absl::Status Check() {
    TTL_RETURN_IF_ERROR(calls_.Check(request_, answers_));
    verdicts_.Add(answers_.Verdicts());
    return absl::OkStatus();
  }

  const ItemCalls& calls_;
  VerdictCounter& verdicts_;
  CheckRequest request_;
  CheckAnswers answers_;
};

// Calls `done` after a refusal has been written into the response.
DoneStatus TellRefusal(v1::StreamTrackItemsResponse& response, DoneStatus done) {
  return [&response, done = std::move(done)](const absl::Status& status) mutable {
    if (!status.ok()) FillMessageError(status, *response.mutable_error());
    done(status);
  };
}

void TrackStreamed(ItemCalls& calls, const v1::StreamTrackItemsRequest& request,
                   v1::StreamTrackItemsResponse& response, DoneStatus done) {
  done = TellRefusal(response, std::move(done));
  if (!request.has_untrack()) {
    return calls.Track(request.request(), *response.mutable_response(), std::move(done));
  }
  if (request.has_request()) {
    return done(absl::InvalidArgumentError("request and untrack are both set: must be one"));
  }
  calls.Untrack(request.untrack(), *response.mutable_untracked(), std::move(done));
}

void AddCheckMethods(ItemEndpoint& service, ItemCalls& calls, QueuedMethods& methods) {
  using Bytes = grpc::ByteBuffer;
  auto handler = std::make_shared<CheckHandler>(calls);
  methods.Add(std::make_unique<AsyncUnaryMethod<Bytes, Bytes>>(
      methods.queue(), "ItemService/CheckVisibility", kWaitingCalls,
      AsyncUnaryMethod<Bytes, Bytes>::Functions{
          CallRequester(service, &ItemEndpoint::RequestCheckVisibility),
          [handler](const Bytes& request, Bytes& response, DoneStatus done) {
            done(handler->Handle(request, response));
          },
          [](const Bytes& request) { return CountBytes(request); }}));
  methods.Add(std::make_unique<AsyncStreamMethod<Bytes, Bytes>>(
      methods.queue(), "ItemService/StreamCheckVisibility",
      AsyncStreamMethod<Bytes, Bytes>::Functions{
          StreamRequester(service, &ItemEndpoint::RequestStreamCheckVisibility),
          [handler](const Bytes& request, Bytes& response, DoneStatus done) {
            done(handler->HandleStreamed(request, response));
          },
          [](const Bytes& request) { return CountBytes(request); }}));
}

void AddTrackMethods(ItemEndpoint& service, ItemCalls& calls, QueuedMethods& methods) {
  using Unary = AsyncUnaryMethod<v1::TrackItemsRequest, v1::TrackItemsResponse>;
  methods.Add(std::make_unique<Unary>(
      methods.queue(), MethodName<v1::TrackItemsRequest>(), kWaitingCalls,
      Unary::Functions{
          CallRequester(service, &ItemEndpoint::RequestTrackItems),
          [&calls](const v1::TrackItemsRequest& request, v1::TrackItemsResponse& response,
                   DoneStatus done) { calls.Track(request, response, std::move(done)); },
          [](const v1::TrackItemsRequest& request) { return CountBytes(request); }}));
  using Streamed = AsyncStreamMethod<v1::StreamTrackItemsRequest, v1::StreamTrackItemsResponse>;
  methods.Add(std::make_unique<Streamed>(
      methods.queue(), MethodName<v1::StreamTrackItemsRequest>(),
      Streamed::Functions{
          StreamRequester(service, &ItemEndpoint::RequestStreamTrackItems),
          [&calls](const v1::StreamTrackItemsRequest& request,
                   v1::StreamTrackItemsResponse& response,
                   DoneStatus done) { TrackStreamed(calls, request, response, std::move(done)); },
          [](const v1::StreamTrackItemsRequest& request) { return CountBytes(request); }}));
}

}  // namespace

void ItemService::AcceptCalls(Endpoint& endpoint, CallQueue& queue, CallWorker& worker) {
  QueuedMethods& methods = *queues_.emplace_back(std::make_unique<QueuedMethods>(queue));
  AddCheckMethods(endpoint, calls_, methods);
  AddTrackMethods(endpoint, calls_, methods);
  MethodTable table(endpoint, calls_, worker, methods);
  table.AddQuick(&ItemEndpoint::RequestUntrackItems, &ItemCalls::Untrack);
  table.AddQuick(&ItemEndpoint::RequestGetItem, &ItemCalls::Get);
  table.Add(&ItemEndpoint::RequestListItems, &ItemCalls::List);
}

void ItemService::EndStreams() {
  for (const auto& methods : queues_) methods->EndStreams();
}

}  // namespace ttl
