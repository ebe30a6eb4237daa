#include "service/transport/grpc_server.h"

#include <grpcpp/resource_quota.h>

#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "service/base/status_macros.h"
#include "service/transport/connections/connection_limit.h"

namespace ttl {
namespace {

AddressKind KindOf(const ServerAddress& address) {
  if (address.health_only) return AddressKind::kHealthOnly;
  return address.tcp.empty() ? AddressKind::kUnixSocket : AddressKind::kTcp;
}

std::vector<int64_t> PlacesOf(const GrpcServerOptions& options) {
  std::vector<AddressKind> kinds;
  for (const ServerAddress& address : options.addresses) kinds.push_back(KindOf(address));
  return SharePlaces(options.max_connections, kinds);
}

}  // namespace

absl::StatusOr<std::unique_ptr<GrpcServer>> GrpcServer::Start(const GrpcServerOptions& options,
                                                              const Services& services) {
  std::unique_ptr<GrpcServer> server(new GrpcServer(services, options.drain));
  TTL_RETURN_IF_ERROR(server->Listen(options));
  return server;
}

absl::Status GrpcServer::Listen(const GrpcServerOptions& options) {
  grpc::ResourceQuota memory("ttl-sidecar");
  memory.Resize(static_cast<size_t>(options.memory_bytes));
  ServerLimits limits = {.memory = memory,
                         .max_message_bytes = options.max_message_bytes,
                         .max_streams_per_connection = options.max_streams_per_connection,
                         .call_threads = options.call_threads};
  const std::vector<int64_t> places = PlacesOf(options);
  for (ServerAddress address : options.addresses) {
    limits.places = places[servers_.size()];
    if (!servers_.empty()) address.when_idle = CallQueue::WhenIdle::kRest;
    TTL_ASSIGN_OR_RETURN(auto server, AddressServer::Start(address, limits, services_, worker_));
    servers_.push_back(std::move(server));
  }
  return absl::OkStatus();
}

GrpcServer::~GrpcServer() {
  EndStreams();
  Settle();
  for (const auto& server : servers_) server->EndHealthStreams();
  const absl::Time deadline = absl::Now() + drain_;
  Shutdown(deadline, /*health_only=*/false);
  Shutdown(deadline, /*health_only=*/true);
}

absl::Status GrpcServer::CheckSockets() const {
  for (const auto& server : servers_) {
    const absl::Status status = server->CheckSocket();
    if (!status.ok()) {
      return absl::UnavailableError(absl::StrCat("clients cannot connect: ", status.message()));
    }
  }
  return absl::OkStatus();
}

void GrpcServer::EndStreams() {
  for (const auto& server : servers_) server->EndStreams();
}

// All at the same time: otherwise the last would accept calls while the first waits.
void GrpcServer::Settle() {
  ForEachServer([](AddressServer& server) { server.Settle(); });
}

void GrpcServer::Shutdown(absl::Time deadline, bool health_only) {
  ForEachServer([&](AddressServer& server) {
    if (server.is_health_only() == health_only) server.Shutdown(deadline);
  });
}

void GrpcServer::ForEachServer(absl::FunctionRef<void(AddressServer&)> step) {
  std::vector<std::thread> threads;
  for (const auto& server : servers_) {
    threads.emplace_back([&server, step] { step(*server); });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace ttl
