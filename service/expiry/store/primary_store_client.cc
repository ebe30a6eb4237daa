#include "service/expiry/store/primary_store_client.h"

#include <atomic>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "grpc/support/time.h"
#include "grpcpp/create_channel.h"
#include "grpcpp/support/channel_arguments.h"
#include "service/base/mutex.h"
#include "service/expiry/store/retry_info.h"
#include "ttl/v1/primary_store_service.grpc.pb.h"

namespace ttl {
namespace {

constexpr char kTraceParentKey[] = "traceparent";

constexpr int kMinReconnectMilliseconds = 100;
constexpr int kMaxReconnectMilliseconds = 1000;
constexpr int kConnectTimeoutMilliseconds = 5000;
constexpr int kKeepaliveMilliseconds = 30'000;
// A response may carry the current version of every item of the request.
constexpr int kMaxMessageBytes = 16 << 20;

std::unique_ptr<v1::PrimaryStoreService::Stub> NewStub(
    const std::string& address, const std::shared_ptr<grpc::ChannelCredentials>& credentials,
    const std::string& server_name) {
  grpc::ChannelArguments arguments;
  if (!server_name.empty()) arguments.SetSslTargetNameOverride(server_name);
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, kMinReconnectMilliseconds);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, kMaxReconnectMilliseconds);
  // This is also the timeout of an attempt to connect.
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, kConnectTimeoutMilliseconds);
  // Only while calls are in flight: servers close connections that ping without calls.
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveMilliseconds);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 0);
  // Do not share a connection, and its backoff, with other clients in the process.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  // Ignore http_proxy of the environment.
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  // gRPC would decompress a message before it checks the size.
  arguments.SetInt(GRPC_ARG_ENABLE_PER_MESSAGE_DECOMPRESSION, 0);
  arguments.SetMaxReceiveMessageSize(kMaxMessageBytes);
  arguments.SetMaxSendMessageSize(kMaxMessageBytes);
  return v1::PrimaryStoreService::NewStub(
      grpc::CreateCustomChannel(address, credentials, arguments));
}

// A relative deadline, which steps of the wall clock do not affect.
gpr_timespec After(absl::Duration deadline) {
  return gpr_time_from_nanos(absl::ToInt64Nanoseconds(deadline), GPR_TIMESPAN);
}

}  // namespace

template <typename Response>
struct PrimaryStoreClient::Call final : AnyCall {
  void End() override {
    if (status.ok()) return answer(std::move(response));
    answer(FromGrpc(status));
  }
  grpc::StatusCode code() const override { return status.error_code(); }

  Response response;
  grpc::Status status;
  std::unique_ptr<grpc::ClientAsyncResponseReader<Response>> reader;
  Answer<Response> answer;
};

struct PrimaryStoreClient::Link {
  std::unique_ptr<v1::PrimaryStoreService::Stub> stub;
  std::atomic<uint64_t> answers = 0;
};

PrimaryStoreClient::PrimaryStoreClient(const std::string& address,
                                       const std::shared_ptr<grpc::ChannelCredentials>& credentials,
                                       const std::string& server_name)
    : address_(address),
      credentials_(credentials),
      server_name_(server_name),
      link_(NewLink()),
      thread_([this] { EndCalls(); }) {}

PrimaryStoreClient::~PrimaryStoreClient() {
  Cancel();
  thread_.join();
  queue_.Shutdown();
  void* tag = nullptr;
  bool ok = false;
  while (queue_.Next(&tag, &ok)) continue;
}

std::shared_ptr<PrimaryStoreClient::Link> PrimaryStoreClient::NewLink() const {
  auto link = std::make_shared<Link>();
  link->stub = NewStub(address_, credentials_, server_name_);
  return link;
}

PrimaryStoreClient::CallStart PrimaryStoreClient::BeginOnLink() {
  MutexLock lock(mutex_);
  return {link_, link_->answers};
}

void PrimaryStoreClient::NoteEnd(const CallStart& start, grpc::StatusCode code) {
  if (code != grpc::StatusCode::DEADLINE_EXCEEDED) {
    ++start.link->answers;
    return;
  }
  MutexLock lock(mutex_);
  if (start.link == link_ && start.link->answers == start.answers) link_ = NewLink();
}

template <typename Request, typename Response, typename Method>
void PrimaryStoreClient::Start(Method method, const Request& request,
                               const std::string& trace_parent, absl::Duration deadline,
                               Answer<Response> answer) {
  auto call = std::make_unique<Call<Response>>();
  call->context.set_deadline(After(deadline));
  call->context.set_wait_for_ready(false);
  if (!trace_parent.empty()) call->context.AddMetadata(kTraceParentKey, trace_parent);
  call->answer = std::move(answer);
  if (!Enter(*call)) return call->answer(absl::CancelledError("the sidecar is stopping"));
  Call<Response>& started = *call.release();  // EndCalls() deletes it
  started.start = BeginOnLink();
  started.reader = (started.start.link->stub.get()->*method)(&started.context, request, &queue_);
  started.reader->Finish(&started.response, &started.status, static_cast<AnyCall*>(&started));
}

void PrimaryStoreClient::GetStoreInfo(absl::Duration deadline,
                                      Answer<v1::GetStoreInfoResponse> answer) {
  Start(&v1::PrimaryStoreService::Stub::AsyncGetStoreInfo,
        v1::GetStoreInfoRequest::default_instance(), /*trace_parent=*/"", deadline,
        std::move(answer));
}

void PrimaryStoreClient::DeleteItems(const v1::DeleteItemsRequest& request,
                                     const std::string& trace_parent, absl::Duration deadline,
                                     Answer<v1::DeleteItemsResponse> answer) {
  Start(&v1::PrimaryStoreService::Stub::AsyncDeleteItems, request, trace_parent, deadline,
        std::move(answer));
}

absl::Status PrimaryStoreClient::ScanItems(
    const v1::ScanItemsRequest& request, absl::Duration deadline,
    absl::FunctionRef<bool(const v1::ScanItemsResponse&)> take) {
  grpc::ClientContext context;
  context.set_deadline(After(deadline));
  context.set_wait_for_ready(false);
  if (!EnterScan(context)) return absl::CancelledError("the sidecar is stopping");
  const CallStart start = BeginOnLink();
  const auto reader = start.link->stub->ScanItems(&context, request);
  v1::ScanItemsResponse response;
  bool ended = false;
  while (!ended && reader->Read(&response)) {
    ++start.link->answers;
    ended = !take(response);
  }
  if (ended) context.TryCancel();
  const grpc::Status status = reader->Finish();
  LeaveScan(context);
  NoteEnd(start, status.error_code());
  return ended || status.ok() ? absl::OkStatus() : FromGrpc(status);
}

bool PrimaryStoreClient::EnterScan(grpc::ClientContext& context) {
  MutexLock lock(mutex_);
  if (!cancelled_) scans_.insert(&context);
  return !cancelled_;
}

void PrimaryStoreClient::LeaveScan(grpc::ClientContext& context) {
  MutexLock lock(mutex_);
  scans_.erase(&context);
}

bool PrimaryStoreClient::Enter(AnyCall& call) {
  MutexLock lock(mutex_);
  if (cancelled_) return false;
  in_flight_.insert(&call);
  changed_.NotifyAll();
  return true;
}

void PrimaryStoreClient::Leave(AnyCall& call) {
  MutexLock lock(mutex_);
  in_flight_.erase(&call);
}

bool PrimaryStoreClient::AwaitCalls() {
  MutexLock lock(mutex_);
  while (in_flight_.empty() && !cancelled_) changed_.Wait(mutex_);
  return !in_flight_.empty();
}

void PrimaryStoreClient::EndCalls() {
  void* tag = nullptr;
  bool ok = false;
  while (AwaitCalls()) {
    if (!queue_.Next(&tag, &ok)) return;
    const std::unique_ptr<AnyCall> call(static_cast<AnyCall*>(tag));
    Leave(*call);
    NoteEnd(call->start, call->code());
    call->End();
  }
}

void PrimaryStoreClient::Cancel() {
  MutexLock lock(mutex_);
  cancelled_ = true;
  for (AnyCall* call : in_flight_) call->context.TryCancel();
  for (grpc::ClientContext* scan : scans_) scan->TryCancel();
  changed_.NotifyAll();
}

}  // namespace ttl
