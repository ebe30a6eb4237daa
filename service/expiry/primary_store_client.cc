#include "service/expiry/primary_store_client.h"

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "grpc/support/time.h"
#include "grpcpp/create_channel.h"
#include "grpcpp/support/channel_arguments.h"
#include "service/core/mutex.h"

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

template <typename Response, typename Call>
absl::StatusOr<Response> PrimaryStoreClient::Run(absl::Duration deadline, Call call) {
  grpc::ClientContext context;
  context.set_deadline(After(deadline));
  context.set_wait_for_ready(false);
  {
    MutexLock lock(mutex_);
    if (cancelled_) return absl::CancelledError("the sidecar is stopping");
    under_way_ = &context;
  }
  Response response;
  const grpc::Status status = call(&context, &response);
  {
    MutexLock lock(mutex_);
    under_way_ = nullptr;
  }
  if (status.ok()) return response;
  return absl::Status(static_cast<absl::StatusCode>(status.error_code()), status.error_message());
}

absl::StatusOr<v1::GetStoreInfoResponse> PrimaryStoreClient::GetStoreInfo(absl::Duration deadline) {
  return Run<v1::GetStoreInfoResponse>(
      deadline, [this](grpc::ClientContext* context, v1::GetStoreInfoResponse* response) {
        return stub_->GetStoreInfo(context, v1::GetStoreInfoRequest(), response);
      });
}

absl::StatusOr<v1::DeleteItemsResponse> PrimaryStoreClient::DeleteItems(
    const v1::DeleteItemsRequest& request, absl::Duration deadline) {
  return Run<v1::DeleteItemsResponse>(
      deadline, [this, &request](grpc::ClientContext* context, v1::DeleteItemsResponse* response) {
        return stub_->DeleteItems(context, request, response);
      });
}

void PrimaryStoreClient::Cancel() {
  MutexLock lock(mutex_);
  cancelled_ = true;
  if (under_way_ != nullptr) under_way_->TryCancel();
}

}  // namespace ttl
