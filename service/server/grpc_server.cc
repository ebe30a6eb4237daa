#include "service/server/grpc_server.h"

#include <grpc/grpc.h>
#include <grpcpp/resource_quota.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server_builder.h>
#include <spdlog/spdlog.h>

#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "service/core/status_macros.h"
#include "service/rpc/quoted.h"

namespace ttl {
namespace {

constexpr int kMaxMetadataBytes = 16 << 10;

// Our own pings find peers that are gone without a word, as over TCP they may be.
constexpr absl::Duration kPingInterval = absl::Minutes(1);
constexpr absl::Duration kPingTimeout = absl::Seconds(20);

int Milliseconds(absl::Duration duration) {
  return static_cast<int>(absl::ToInt64Milliseconds(duration));
}

void SetLimits(grpc::ServerBuilder& builder, const GrpcServerOptions& options) {
  builder.SetMaxReceiveMessageSize(static_cast<int>(options.max_message_bytes));
  builder.SetResourceQuota(
      grpc::ResourceQuota("ttl-sidecar").Resize(static_cast<size_t>(options.memory_bytes)));
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS,
                             static_cast<int>(options.max_streams_per_connection));
  builder.AddChannelArgument(GRPC_ARG_MAX_METADATA_SIZE, kMaxMetadataBytes);
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
}

void SetKeepalive(grpc::ServerBuilder& builder) {
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS,
                             Milliseconds(GrpcServer::kMinPingInterval));
  // Else the interval is two hours while no call is under way.
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, Milliseconds(kPingInterval));
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, Milliseconds(kPingTimeout));
}

// Builds a server that listens on what `options` name. The port may be one chosen
// by the system.
absl::StatusOr<std::unique_ptr<grpc::Server>> Listen(const GrpcServerOptions& options,
                                                     const std::vector<grpc::Service*>& services,
                                                     int& tcp_port) {
  grpc::EnableDefaultHealthCheckService(true);
  grpc::ServerBuilder builder;
  SetLimits(builder, options);
  SetKeepalive(builder);
  for (grpc::Service* service : services) builder.RegisterService(service);
  int socket_result = 0;
  const std::string& path = options.socket.path;
  if (!path.empty()) {
    builder.AddListeningPort(absl::StrCat("unix:", path), grpc::InsecureServerCredentials(),
                             &socket_result);
  }
  if (!options.listen_tcp.empty()) {
    builder.AddListeningPort(options.listen_tcp, grpc::InsecureServerCredentials(), &tcp_port);
  }
  std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  if (server == nullptr) {
    const bool is_socket = !path.empty() && socket_result <= 0;
    return absl::UnavailableError(
        absl::StrCat("cannot listen on ", is_socket ? path : options.listen_tcp));
  }
  return server;
}

void LogListening(const GrpcServerOptions& options, int tcp_port) {
  if (!options.socket.path.empty()) {
    spdlog::info("listening: socket={} mode={:04o}",
                 Quoted(options.socket.path, kMaxSocketPathBytes),
                 static_cast<unsigned>(options.socket.mode));
  }
  if (!options.listen_tcp.empty()) {
    spdlog::info("listening: tcp={} port={}", Quoted(options.listen_tcp, 256), tcp_port);
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<GrpcServer>> GrpcServer::Start(
    const GrpcServerOptions& options, const std::vector<grpc::Service*>& services) {
  std::unique_ptr<UnixSocket> socket;
  if (!options.socket.path.empty()) {
    TTL_ASSIGN_OR_RETURN(socket, UnixSocket::Claim(options.socket));
  }
  std::unique_ptr<grpc::Server> server;
  int tcp_port = 0;
  const auto listen = [&]() -> absl::Status {
    TTL_ASSIGN_OR_RETURN(server, Listen(options, services, tcp_port));
    return absl::OkStatus();
  };
  TTL_RETURN_IF_ERROR(socket == nullptr ? listen() : socket->Bind(listen));
  LogListening(options, tcp_port);
  return std::unique_ptr<GrpcServer>(
      new GrpcServer(std::move(socket), std::move(server), options.drain));
}

GrpcServer::GrpcServer(std::unique_ptr<UnixSocket> socket, std::unique_ptr<grpc::Server> server,
                       absl::Duration drain)
    : socket_(std::move(socket)), server_(std::move(server)), drain_(drain) {}

GrpcServer::~GrpcServer() {
  server_->Shutdown(std::chrono::system_clock::now() + absl::ToChronoNanoseconds(drain_));
}

}  // namespace ttl
