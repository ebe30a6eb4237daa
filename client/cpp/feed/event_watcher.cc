// The thread of StreamThread owns the request that opens the next stream. Its token moves only
// after the handler has returned, so that a stream that breaks meanwhile brings the response again
// rather than leaves it out. A subscription has no token: the sidecar knows what was acknowledged.
#include "ttl/event_watcher.h"

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "client/cpp/client_calls.h"
#include "client/cpp/grpc_status.h"
#include "client/cpp/stream_thread.h"
#include "grpcpp/channel.h"
#include "ttl/v1/feed_service.grpc.pb.h"

namespace ttl {
namespace {

// Whether the next stream may succeed where one ended with this error.
bool MayResumeAfter(absl::StatusCode code) {
  switch (code) {
    case absl::StatusCode::kOutOfRange:
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kNotFound:
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kPermissionDenied:
    case absl::StatusCode::kUnauthenticated:
    case absl::StatusCode::kUnimplemented:
      return false;
    default:
      return true;
  }
}

}  // namespace

class EventWatcher::State {
 public:
  State(const ClientCalls& calls, const v1::WatchEventsRequest& request, EventHandlers handlers)
      : channel_(calls.channel()),
        address_(calls.options().address),
        process_status_(calls.CheckProcess()),
        handlers_(std::move(handlers)),
        waits_(calls.options().wait_for_sidecar),
        request_(request),
        thread_([this](grpc::ClientContext& context) { return WatchOnce(context); }) {}

 private:
  StreamThread::Next WatchOnce(grpc::ClientContext& context) {
    if (!process_status_.ok()) return Fail(process_status_);
    context.set_wait_for_ready(waits_);
    const auto stub = v1::FeedService::NewStub(channel_);
    const auto reader = stub->WatchEvents(&context, request_);
    StreamThread::Next next = StreamThread::Next::kReopenLater;
    v1::WatchEventsResponse response;
    while (reader->Read(&response)) {
      next = StreamThread::Next::kReopen;
      waits_ = true;  // it was reachable
      handlers_.on_response(response);
      MoveBehind(response);
    }
    const grpc::Status end = reader->Finish();
    return thread_.is_stopping() ? StreamThread::Next::kNothingFurther : EndWith(end, next);
  }

  void MoveBehind(const v1::WatchEventsResponse& response) {
    if (!request_.has_containers() || response.token().empty()) return;
    request_.mutable_containers()->set_token(response.token());
  }

  StreamThread::Next EndWith(const grpc::Status& end, StreamThread::Next next) {
    const absl::Status status = end.ok() ? absl::UnavailableError("the sidecar ended the stream")
                                         : ToAbslStatus(end, address_, absl::InfiniteDuration());
    const bool is_unreachable = !waits_ && status.code() == absl::StatusCode::kUnavailable;
    if (is_unreachable || !MayResumeAfter(status.code())) return Fail(status);
    if (handlers_.on_break) handlers_.on_break(status);
    return next;
  }

  StreamThread::Next Fail(const absl::Status& status) {
    handlers_.on_failure(status);
    return StreamThread::Next::kNothingFurther;
  }

  const std::shared_ptr<grpc::Channel> channel_;
  const std::string address_;
  const absl::Status process_status_;
  const EventHandlers handlers_;
  // Both used by the thread alone.
  bool waits_;
  v1::WatchEventsRequest request_;
  StreamThread thread_;  // last, because it uses all of the above
};

EventWatcher::EventWatcher(const ClientCalls& calls, const v1::WatchEventsRequest& request,
                           EventHandlers handlers)
    : state_(std::make_unique<State>(calls, request, std::move(handlers))) {}

EventWatcher::~EventWatcher() = default;

}  // namespace ttl
