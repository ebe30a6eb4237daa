#ifndef TTL_SERVICE_SERVER_SERVING_H_
#define TTL_SERVICE_SERVER_SERVING_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "service/base/background_loop.h"
#include "service/server/config/config.h"
#include "service/server/data.h"
#include "service/server/deleting.h"
#include "service/server/grpc_services.h"
#include "service/server/loop_signals.h"
#include "service/server/metrics/expiry_metrics.h"
#include "service/server/metrics/feed_metrics.h"
#include "service/server/metrics/sidecar_metrics.h"
#include "service/server/page_server.h"
#include "service/server/readiness.h"
#include "service/server/sweep_health.h"
#include "service/transport/access/access_counters.h"
#include "service/transport/access/identity_roles.h"
#include "service/transport/calls/call_counters.h"
#include "service/transport/grpc_server.h"
#include "service/transport/tls/tls_server.h"

namespace ttl {

// The third stage of a sidecar: the gRPC services on their addresses, the status page, readiness
// and health, and what the metrics read. Destroyed, it detaches the metrics, turns readiness off,
// stops the page and the server, which answers the calls in flight first, and cancels the calls to
// the store, since a preview may be reading it.
class Serving {
 public:
  // What it serves; all must outlive it.
  struct Stages {
    const ServerConfig& config;
    LoopSignals& signals;
    Data& data;
    Deleting& deleting;
    SidecarMetrics& metrics;
  };

  // Listens and serves. `page_tls` is that of the status page; null: it is served in plain text,
  // if at all. Errors are those of GrpcServer and HttpServer.
  static absl::StatusOr<std::unique_ptr<Serving>> Start(const Stages& stages,
                                                        const GrpcServerOptions& options,
                                                        IdentityRoles identities,
                                                        std::unique_ptr<TlsServer> page_tls);
  ~Serving();
  Serving(const Serving&) = delete;
  Serving& operator=(const Serving&) = delete;

 private:
  Serving(const Stages& stages, IdentityRoles identities);

  absl::Status Listen(const GrpcServerOptions& options);
  absl::Status ServePage(std::unique_ptr<TlsServer> tls);
  void AttachMetrics();
  void UpdateHealth();
  absl::Status ReadinessNow() const;
  // What keeps the sweep from proceeding, in one sentence each.
  std::vector<std::string> SweepTroubles();

  const Stages stages_;
  const IdentityRoles identities_;
  CallCounters call_counters_;
  AccessCounters access_counters_;
  GrpcServices services_;
  const ExpiryView view_;
  const ExpiryMetrics expiry_metrics_;
  const FeedMetrics feed_metrics_;
  std::unique_ptr<PageServer> page_server_;  // null: --status-page is not given
  std::unique_ptr<GrpcServer> server_;
  std::optional<Readiness> readiness_;
  std::optional<SweepHealth> sweep_health_;
  std::optional<BackgroundLoop> readiness_loop_;
};

}  // namespace ttl

#endif  // TTL_SERVICE_SERVER_SERVING_H_
