#ifndef TTL_SERVICE_SERVER_SIDECAR_H_
#define TTL_SERVICE_SERVER_SIDECAR_H_

#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "service/server/config/config.h"
#include "service/server/data.h"
#include "service/server/deleting.h"
#include "service/server/loop_signals.h"
#include "service/server/metrics/metrics_server.h"
#include "service/server/metrics/sidecar_metrics.h"
#include "service/server/serving.h"
#include "service/transport/access/identity_roles.h"
#include "service/transport/grpc_server.h"
#include "service/transport/tls/tls_server.h"
#include "service/yaml/container_entries.h"

namespace ttl {

// A running ttl-sidecar, started in three stages: Data, Deleting and Serving. Each is built on
// those before it, whole or not at all, and the destructor stops them in reverse.
class Sidecar {
 public:
  // Opens the database, applies the containers file, listens, and serves until
  // destroyed. INVALID_ARGUMENT and NOT_FOUND mean a wrong setting; other errors are
  // those of Storage and GrpcServer. A start that fails removes the data directory if it
  // created it.
  static absl::StatusOr<std::unique_ptr<Sidecar>> Start(const ServerConfig& config);

  // Turns readiness off, refuses new calls, stops deletes and background work, saves the
  // clock and closes the database, in this order. Calls in flight are answered first; a
  // change that waits for deletes in flight takes at most delete_deadline, and liveness is
  // served until then. Connections then have a second to close.
  ~Sidecar() = default;
  Sidecar(const Sidecar&) = delete;
  Sidecar& operator=(const Sidecar&) = delete;

  // Reads the containers file again and applies the entries that changed, as at the start. The
  // result is logged; if the file has an error, nothing is applied. Blocks on storage and on
  // deletes in flight. Not thread-safe.
  void ReloadContainers();

 private:
  // The files that --containers, --access and the TLS flags name, read before anything is made.
  struct Files {
    std::vector<ContainerEntry> entries;
    GrpcServerOptions server_options;
    IdentityRoles identities;
    std::unique_ptr<TlsServer> page_tls;  // null: the status page has no TLS
  };

  explicit Sidecar(const ServerConfig& config);

  static absl::StatusOr<Files> ReadFiles(const ServerConfig& config);
  absl::Status StartStages(Files files);
  absl::Status StartMetrics();
  bool HasContainersBeside(size_t applied_entries);
  absl::Status Apply(const std::vector<ContainerEntry>& entries);

  const ServerConfig config_;
  LoopSignals signals_;
  SidecarMetrics metrics_;
  // In the order of the start. Null in a sidecar whose start failed before; the metrics server
  // also if --metrics-listen is not given.
  std::unique_ptr<Data> data_;
  std::unique_ptr<MetricsServer> metrics_server_;
  std::unique_ptr<Deleting> deleting_;
  std::unique_ptr<Serving> serving_;
};

}  // namespace ttl

#endif  // TTL_SERVICE_SERVER_SIDECAR_H_
