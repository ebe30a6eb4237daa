#ifndef TTL_SERVICE_SERVER_CONFIG_SERVER_SETTINGS_H_
#define TTL_SERVICE_SERVER_CONFIG_SERVER_SETTINGS_H_

#include <memory>

#include "absl/status/statusor.h"
#include "service/server/config/config.h"
#include "service/transport/grpc_server.h"
#include "service/transport/tls/tls_server.h"

namespace ttl {

// Options of the gRPC server, with the TLS files that `config` names already read.
// INVALID_ARGUMENT names the flag and the file that is wrong.
absl::StatusOr<GrpcServerOptions> ToGrpcServerOptions(const ServerConfig& config);

// TLS of the status page, from the files of the gRPC addresses; null if the page is served in plain
// text or not at all. INVALID_ARGUMENT names the file that is wrong.
absl::StatusOr<std::unique_ptr<TlsServer>> MakePageTls(const ServerConfig& config);

// Maximum number of threads of a sidecar with these settings, without those of gRPC.
int ThreadsOf(const ServerConfig& config);

}  // namespace ttl

#endif  // TTL_SERVICE_SERVER_CONFIG_SERVER_SETTINGS_H_
