#include "client/postgres/store/health_server.h"

#include <chrono>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "client/postgres/store/bound_address.h"
#include "grpcpp/health_check_service_interface.h"
#include "grpcpp/security/server_credentials.h"
#include "grpcpp/server_builder.h"

namespace ttl::postgres {
namespace {

// Anybody who reaches the pod may call: a caller's streams and messages are few and small, and
// its connection ends when it is idle.
constexpr int kMaxStreams = 16;
constexpr int kMaxHealthMessageBytes = 4 << 10;
constexpr int kMaxIdleMs = 60'000;

}  // namespace

absl::StatusOr<std::unique_ptr<HealthServer>> HealthServer::Start(const std::string& address) {
  grpc::EnableDefaultHealthCheckService(true);
  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddListeningPort(address, grpc::InsecureServerCredentials(), &port);
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder.AddChannelArgument(GRPC_ARG_ENABLE_PER_MESSAGE_DECOMPRESSION, 0);
  builder.AddChannelArgument(GRPC_COMPRESSION_CHANNEL_ENABLED_ALGORITHMS_BITSET,
                             1 << GRPC_COMPRESS_NONE);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, kMaxStreams);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_IDLE_MS, kMaxIdleMs);
  builder.SetMaxReceiveMessageSize(kMaxHealthMessageBytes);
  std::unique_ptr<HealthServer> server(new HealthServer());
  builder.RegisterCallbackGenericService(&server->other_calls_);
  server->server_ = builder.BuildAndStart();
  if (server->server_ == nullptr || port == 0) {
    return absl::UnavailableError(absl::StrCat("health_listen: cannot listen on ", address));
  }
  server->address_ = BoundAddress(address, port);
  return server;
}

HealthServer::~HealthServer() {
  if (server_ == nullptr) return;
  server_->Shutdown(std::chrono::system_clock::now());
  server_->Wait();
}

void HealthServer::SetServing(const std::string& service, bool is_serving) {
  server_->GetHealthCheckService()->SetServingStatus(service, is_serving);
}

}  // namespace ttl::postgres
