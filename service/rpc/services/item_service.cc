#include "service/rpc/services/item_service.h"

#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/slice.h>
#include <spdlog/spdlog.h>

#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "service/base/error_details.h"
#include "service/base/log_limiter.h"
#include "service/base/quoted.h"
#include "service/base/status_macros.h"
#include "service/base/stopwatch.h"
#include "service/rpc/checks/check_answers.h"
#include "service/rpc/checks/check_request.h"
#include "service/rpc/mapping/message_error.h"
#include "service/transport/calls/exchange.h"
#include "service/transport/calls/message_exchange.h"
#include "service/transport/calls/method_table.h"
#include "service/transport/calls/status_mapping.h"

namespace ttl {
namespace {

constexpr absl::Duration kImpossibleLogInterval = absl::Minutes(1);

// The bytes of a message as one view; `slice` owns them.
absl::string_view Contiguous(const grpc::ByteBuffer& message, grpc::Slice& slice) {
  if (!message.TrySingleSlice(&slice).ok() && !message.DumpToSingleSlice(&slice).ok()) return {};
  return {reinterpret_cast<const char*>(slice.begin()), slice.size()};
}

// A message of `size` bytes, filled by `write`.
template <typename Write>
grpc::ByteBuffer MakeMessage(size_t size, Write write) {
  const grpc::Slice slice(size);
  // The slice is not shared yet.
  write(const_cast<uint8_t*>(slice.begin()));
  return grpc::ByteBuffer(&slice, 1);
}

// Answers the checks of one call queue. Used by its thread only, so that memory can be reused.
class CheckHandler {
 public:
  explicit CheckHandler(ItemCalls& calls)
      : calls_(calls), verdicts_(calls.counters().AddThread()) {}

  absl::Status Handle(const grpc::ServerContextBase& call, const grpc::ByteBuffer& request,
                      grpc::ByteBuffer& response) {
    grpc::Slice slice;
    TTL_RETURN_IF_ERROR(request_.Parse(Contiguous(request, slice)));
    TTL_RETURN_IF_ERROR(Check(call));
    response = MakeMessage(answers_.WireSize(), [this](uint8_t* out) { answers_.Write(out); });
    return absl::OkStatus();
  }

  absl::Status HandleStreamed(const grpc::ServerContextBase& call, const grpc::ByteBuffer& request,
                              grpc::ByteBuffer& response) {
    grpc::Slice slice;
    absl::Status status = request_.ParseStreamed(Contiguous(request, slice));
    if (status.ok()) status = Check(call);
    if (status.ok()) {
      response = MakeMessage(answers_.StreamedWireSize(),
                             [this](uint8_t* out) { answers_.WriteStreamed(out); });
      return status;
    }
    v1::StreamCheckVisibilityResponse refusal;
    FillMessageError(status, *refusal.mutable_error());
    response = SerializeMessage(refusal);
    return status;
  }

 private:
  absl::Status Check(const grpc::ServerContextBase& call) {
    ImpossibleChecks impossible;
    TTL_RETURN_IF_ERROR(calls_.Check(request_, answers_, impossible));
    verdicts_.Add(answers_.Verdicts());
    if (impossible.count > 0) LogImpossible(call, request_.checks()[impossible.first]);
    return absl::OkStatus();
  }

  // Limited for each container: a broken client sends many.
  void LogImpossible(const grpc::ServerContextBase& call, const ttl::Check& check) {
    const auto left_out =
        log_limiter_.Admit(request_.container(), absl::Nanoseconds(since_start_.Nanoseconds()));
    if (!left_out.has_value()) return;
    spdlog::warn(
        "check carries an impossible state, which is shown: container={} partition_key={} "
        "id={} ts={} ttl={} expire_at={} peer={} left_out={}",
        Quoted(request_.container()), Quoted(check.partition_key), Quoted(check.id),
        check.carried->ts, Show(check.carried->ttl), Show(check.carried->expire_at),
        Quoted(call.peer()), *left_out);
  }

  static std::string Show(const std::optional<int64_t>& value) {
    return value.has_value() ? absl::StrCat(*value) : "absent";
  }

  const ItemCalls& calls_;
  VerdictCounter& verdicts_;
  CheckRequest request_;
  CheckAnswers answers_;
  LogLimiter log_limiter_{kImpossibleLogInterval};
  const Stopwatch since_start_;
};

// One call, answered by the handler that all calls of a queue share.
class CheckExchange final : public Exchange {
 public:
  using Method = absl::Status (CheckHandler::*)(const grpc::ServerContextBase&,
                                                const grpc::ByteBuffer&, grpc::ByteBuffer&);

  CheckExchange(std::shared_ptr<CheckHandler> handler, Method handle)
      : handler_(std::move(handler)), handle_(handle) {}

  // The handler reports malformed bytes.
  bool Read(grpc::ByteBuffer& request) override {
    request_.Swap(&request);
    return true;
  }
  void SetCall(const grpc::ServerContextBase& call) override { call_ = &call; }
  void Handle(DoneStatus done) override { done((*handler_.*handle_)(*call_, request_, response_)); }
  void DropRequest() override { request_.Clear(); }
  grpc::ByteBuffer& Write() override { return response_; }
  void Clear() override {
    request_.Clear();
    response_.Clear();
  }

 private:
  const std::shared_ptr<CheckHandler> handler_;
  const Method handle_;
  const grpc::ServerContextBase* call_ = nullptr;
  grpc::ByteBuffer request_;
  grpc::ByteBuffer response_;
};

// Writes an error into the response before it calls `done`.
DoneStatus WithErrorIn(v1::StreamTrackItemsResponse& response, DoneStatus done) {
  return [&response, done = std::move(done)](const absl::Status& status) mutable {
    if (!status.ok()) FillMessageError(status, *response.mutable_error());
    done(status);
  };
}

}  // namespace

const google::protobuf::ServiceDescriptor& ItemService::descriptor() const {
  return *v1::TrackItemsRequest::descriptor()->file()->service(0);
}

void ItemService::AddMethods(MethodTable& table) {
  const auto checks = std::make_shared<CheckHandler>(calls_);
  table.AddByteUnary(
      "CheckVisibility",
      [checks] { return std::make_unique<CheckExchange>(checks, &CheckHandler::Handle); },
      MethodTable::kManyWaitingCalls);
  table.AddByteStream("StreamCheckVisibility", [checks] {
    return std::make_unique<CheckExchange>(checks, &CheckHandler::HandleStreamed);
  });
  table.AddQuick("TrackItems", calls_, &ItemCalls::Track, MethodTable::kManyWaitingCalls);
  table.AddStream("StreamTrackItems", *this, &ItemService::TrackStreamed);
  table.AddQuick("UntrackItems", calls_, &ItemCalls::Untrack);
  table.AddQuick("TouchItems", calls_, &ItemCalls::Touch, MethodTable::kManyWaitingCalls);
  table.AddQuick("GetItem", calls_, &ItemCalls::Get);
  table.Add("ListItems", calls_, &ItemCalls::List);
}

void ItemService::TrackStreamed(const v1::StreamTrackItemsRequest& request,
                                v1::StreamTrackItemsResponse& response, DoneStatus done) {
  done = WithErrorIn(response, std::move(done));
  if (!request.has_untrack()) {
    return calls_.Track(request.request(), *response.mutable_response(), std::move(done));
  }
  if (request.has_request()) {
    return done(InvalidField("untrack", "request and untrack are both set: set only one of them"));
  }
  calls_.Untrack(request.untrack(), *response.mutable_untracked(), std::move(done));
}

}  // namespace ttl
