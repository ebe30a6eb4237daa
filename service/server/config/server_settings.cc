#include "service/server/config/server_settings.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "service/base/status_macros.h"
#include "service/transport/connections/connection_limit.h"
#include "service/transport/tls_server_credentials.h"

namespace ttl {
namespace {

// Time for idle connections and unread streams to close when the sidecar stops.
constexpr absl::Duration kMaxDrain = absl::Seconds(1);

absl::StatusOr<ServerAddress> ToTcpAddress(const ListenTcp& tcp, const ServerConfig& config) {
  ServerAddress address = {.tcp = tcp.host_port, .roles = tcp.roles};
  if (config.insecure_tcp) return address;
  auto credentials = TlsServerCredentials::Make(config.tls);
  if (!credentials.ok()) {
    return absl::Status(credentials.status().code(),
                        absl::StrCat("TLS of --listen-tcp: ", credentials.status().message()));
  }
  address.credentials = *std::move(credentials);
  address.has_client_certificates = !config.tls.ca_file.empty();
  return address;
}

absl::StatusOr<std::vector<ServerAddress>> ToServerAddresses(const ServerConfig& config) {
  std::vector<ServerAddress> addresses;
  for (const ListenSocket& socket : config.listen_sockets) {
    addresses.push_back({.socket = {.path = socket.path,
                                    .mode = socket.mode.value_or(config.socket_mode),
                                    .group = socket.group.value_or(config.socket_group)},
                         .roles = socket.roles});
  }
  for (const ListenTcp& tcp : config.listen_tcp) {
    TTL_ASSIGN_OR_RETURN(ServerAddress address, ToTcpAddress(tcp, config));
    addresses.push_back(std::move(address));
  }
  if (!config.health_tcp.empty()) {
    addresses.push_back({.tcp = config.health_tcp, .health_only = true});
  }
  return addresses;
}

// The store usually needs the other half of the cores, and more than a few threads contend in gRPC.
int64_t CallThreads(const ServerConfig& config) {
  if (config.call_threads > 0) return config.call_threads;
  return std::clamp<int64_t>(std::thread::hardware_concurrency() / 2, 1, 8);
}

}  // namespace

absl::StatusOr<GrpcServerOptions> ToGrpcServerOptions(const ServerConfig& config) {
  TTL_ASSIGN_OR_RETURN(std::vector<ServerAddress> addresses, ToServerAddresses(config));
  return GrpcServerOptions{.addresses = std::move(addresses),
                           .max_connections = ConnectionsWithinFileLimit(config.max_connections),
                           .max_message_bytes = config.max_message_bytes,
                           .max_streams_per_connection = config.max_streams_per_connection,
                           .memory_bytes = config.rpc_memory_bytes,
                           .call_threads = CallThreads(config),
                           .drain = std::min(config.stop_deadline / 4, kMaxDrain)};
}

absl::StatusOr<std::unique_ptr<TlsServer>> MakePageTls(const ServerConfig& config) {
  if (!IsPageOverTls(config.status_page)) return nullptr;
  absl::StatusOr<std::unique_ptr<TlsServer>> tls = TlsServer::Make(config.tls);
  if (tls.ok()) return tls;
  return absl::Status(tls.status().code(),
                      absl::StrCat("TLS of --status-page: ", tls.status().message()));
}

int ThreadsOf(const ServerConfig& config) {
  // Log, signals, commits (2), LevelDB, sweeper and its calls (2), call worker, metrics, status
  // page, and the loops of clock, housekeeping, reconciliation and readiness; two to spare.
  constexpr int kFixed = 17;
  const auto addresses = static_cast<int>(config.listen_sockets.size() + config.listen_tcp.size() +
                                          (config.health_tcp.empty() ? 0 : 1));
  // Plus one per address that shuts it down.
  return kFixed + addresses * (static_cast<int>(CallThreads(config)) + 1);
}

}  // namespace ttl
