#include "ttl/client_channel.h"

#include "client/cpp/service_config.h"
#include "grpcpp/create_channel.h"
#include "grpcpp/support/channel_arguments.h"

namespace ttl {
namespace {

grpc::ChannelArguments ChannelArguments(const TtlClientOptions& options) {
  grpc::ChannelArguments arguments;
  if (!options.tls_server_name.empty()) {
    arguments.SetSslTargetNameOverride(options.tls_server_name);
  }
  // Ignore http_proxy of the environment.
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  // gRPC never retries calls larger than this; the default of 256 KiB is less than a full batch.
  arguments.SetInt(GRPC_ARG_PER_RPC_RETRY_BUFFER_SIZE, 4 << 20);
  // A sidecar restarts within seconds; gRPC's default backoff grows to two minutes.
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 1000);
  // The timeout of an attempt to connect.
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 5000);
  // Detects half-open connections, also while no call is in flight. The sidecar allows a ping every
  // 10 s.
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, 20000);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 10000);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  return arguments;
}

std::shared_ptr<grpc::Channel> NewChannel(const TtlClientOptions& options,
                                          const grpc::ChannelArguments& arguments) {
  return grpc::CreateCustomChannel(
      options.address,
      options.credentials != nullptr ? options.credentials : grpc::InsecureChannelCredentials(),
      arguments);
}

}  // namespace

std::shared_ptr<grpc::Channel> NewClientChannel(const TtlClientOptions& options) {
  return NewChannel(options, ChannelArguments(options));
}

std::shared_ptr<grpc::Channel> NewRepeatingChannel(const TtlClientOptions& options) {
  grpc::ChannelArguments arguments = ChannelArguments(options);
  arguments.SetServiceConfigJSON(ServiceConfigJson());
  return NewChannel(options, arguments);
}

}  // namespace ttl
