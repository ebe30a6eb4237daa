#include "service/expiry/primary_store_client.h"

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "grpc/support/time.h"
#include "grpcpp/create_channel.h"
#include "grpcpp/support/channel_arguments.h"
#include "service/core/mutex.h"
#include "service/expiry/retry_info.h"

namespace ttl {
namespace {

constexpr int kMinReconnectMilliseconds = 100;
constexpr int kMaxReconnectMilliseconds = 1000;
constexpr int kConnectTimeoutMilliseconds = 5000;
constexpr int kKeepaliveMilliseconds = 30'000;
// An answer may carry the present state of every item of a request.
constexpr int kMaxMessageBytes = 16 << 20;

std::unique_ptr<v1::PrimaryStoreService::Stub> NewStub(
    const std::string& address, const std::shared_ptr<grpc::ChannelCredentials>& credentials) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, kMinReconnectMilliseconds);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, kMaxReconnectMilliseconds);
  // Also the time that an attempt to connect may take.
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, kConnectTimeoutMilliseconds);
  // Only while calls are under way, so that no server takes it amiss.
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveMilliseconds);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 0);
  // A connection of its own: its state is not shared with other clients of the process.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetMaxReceiveMessageSize(kMaxMessageBytes);
  arguments.SetMaxSendMessageSize(kMaxMessageBytes);
  return v1::PrimaryStoreService::NewStub(
      grpc::CreateCustomChannel(address, credentials, arguments));
}

// A deadline relative to now, whatever the clocks of the system show.
gpr_timespec After(absl::Duration deadline) {
  return gpr_time_from_nanos(absl::ToInt64Nanoseconds(deadline), GPR_TIMESPAN);
}

}  // namespace

PrimaryStoreClient::PrimaryStoreClient(const std::string& address,
                                       const std::shared_ptr<grpc::ChannelCredentials>& credentials)
    : stub_(NewStub(address, credentials)) {}

PrimaryStoreClient::~PrimaryStoreClient() {
  Cancel();
  MutexLock lock(mutex_);
  while (running_ > 0) left_.Wait(mutex_);
}

// What a call needs until it is answered.
template <typename Response>
struct PrimaryStoreClient::Call {
  grpc::ClientContext context;
  Response response;
  Answer<Response> answer;
};

template <typename Request, typename Response, typename Method>
void PrimaryStoreClient::Start(Method method, const Request& request, absl::Duration deadline,
                               Answer<Response> answer) {
  auto call = std::make_shared<Call<Response>>();
  call->context.set_deadline(After(deadline));
  call->context.set_wait_for_ready(false);
  call->answer = std::move(answer);
  if (!Enter(&call->context)) return call->answer(absl::CancelledError("the sidecar is stopping"));
  Call<Response>& started = *call;
  (stub_->async()->*method)(&started.context, &request, &started.response,
                            [this, call = std::move(call)](const grpc::Status& status) mutable {
                              Answer<Response> to = std::move(call->answer);
                              absl::StatusOr<Response> result = std::move(call->response);
                              if (!status.ok()) result = FromGrpc(status);
                              Forget(&call->context);
                              // The context holds the channel, whose end waits for this very
                              // thread: the last reference to it must not be dropped here, after
                              // Leave().
                              call.reset();
                              to(std::move(result));
                              Leave();
                            });
}

void PrimaryStoreClient::GetStoreInfo(absl::Duration deadline,
                                      Answer<v1::GetStoreInfoResponse> answer) {
  using Method = void (v1::PrimaryStoreService::Stub::async::*)(
      grpc::ClientContext*, const v1::GetStoreInfoRequest*, v1::GetStoreInfoResponse*,
      std::function<void(grpc::Status)>);
  Start(static_cast<Method>(&v1::PrimaryStoreService::Stub::async::GetStoreInfo),
        v1::GetStoreInfoRequest::default_instance(), deadline, std::move(answer));
}

void PrimaryStoreClient::DeleteItems(const v1::DeleteItemsRequest& request, absl::Duration deadline,
                                     Answer<v1::DeleteItemsResponse> answer) {
  using Method = void (v1::PrimaryStoreService::Stub::async::*)(
      grpc::ClientContext*, const v1::DeleteItemsRequest*, v1::DeleteItemsResponse*,
      std::function<void(grpc::Status)>);
  Start(static_cast<Method>(&v1::PrimaryStoreService::Stub::async::DeleteItems), request, deadline,
        std::move(answer));
}

bool PrimaryStoreClient::Enter(grpc::ClientContext* context) {
  MutexLock lock(mutex_);
  if (cancelled_) return false;
  under_way_.insert(context);
  ++running_;
  return true;
}

void PrimaryStoreClient::Forget(grpc::ClientContext* context) {
  MutexLock lock(mutex_);
  under_way_.erase(context);
}

void PrimaryStoreClient::Leave() {
  MutexLock lock(mutex_);
  --running_;
  left_.NotifyAll();
}

void PrimaryStoreClient::Cancel() {
  MutexLock lock(mutex_);
  cancelled_ = true;
  for (grpc::ClientContext* context : under_way_) context->TryCancel();
}

}  // namespace ttl
