#include "tests/testing/channel.h"

#include <google/protobuf/wrappers.pb.h>
#include <grpcpp/client_context.h>
#include <grpcpp/completion_queue.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/impl/codegen/proto_utils.h>
#include <grpcpp/security/credentials.h>

#include "absl/strings/str_cat.h"

namespace ttl {
namespace {

// The stubs of grpc.health.v1 are not packaged. These two have the same wire
// form as HealthCheckRequest (a string in field 1) and HealthCheckResponse (an
// enum in field 1).
using HealthRequest = google::protobuf::StringValue;
using HealthResponse = google::protobuf::Int32Value;
constexpr int kServing = 1;

}  // namespace

std::shared_ptr<grpc::Channel> NewTestChannel(const std::string& address) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 50);
  // This one is the time a connection may take to be made.
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 5000);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 200);
  arguments.SetMaxReceiveMessageSize(-1);
  return grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments);
}

std::shared_ptr<grpc::Channel> NewSmallChannel(const std::string& address) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_HTTP2_BDP_PROBE, 0);
  arguments.SetInt(GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES, 64 << 10);
  return grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments);
}

absl::Status CheckHealth(const std::shared_ptr<grpc::Channel>& channel, const std::string& service,
                         absl::Duration deadline) {
  grpc::TemplatedGenericStub<HealthRequest, HealthResponse> stub(channel);
  grpc::ClientContext context;
  context.set_deadline(absl::ToChronoTime(absl::Now() + deadline));
  // Only a waiting call drives the connection on.
  context.set_wait_for_ready(true);
  HealthRequest request;
  request.set_value(service);
  grpc::CompletionQueue queue;
  const auto call =
      stub.PrepareUnaryCall(&context, "/grpc.health.v1.Health/Check", request, &queue);
  HealthResponse response;
  grpc::Status status;
  call->StartCall();
  call->Finish(&response, &status, nullptr);
  void* tag = nullptr;
  bool ok = false;
  queue.Next(&tag, &ok);
  if (!status.ok()) {
    return absl::Status(static_cast<absl::StatusCode>(status.error_code()), status.error_message());
  }
  if (response.value() == kServing) return absl::OkStatus();
  return absl::UnavailableError(
      absl::StrCat("health of \"", service, "\" is ", response.value(), ", not SERVING"));
}

}  // namespace ttl
