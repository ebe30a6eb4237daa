#ifndef TTL_CLIENT_POSTGRES_PROGRAM_DAEMON_H_
#define TTL_CLIENT_POSTGRES_PROGRAM_DAEMON_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/postgres/capture/capture.h"
#include "client/postgres/config/config.h"
#include "client/postgres/load/load_monitor.h"
#include "client/postgres/policy/policy_mirror.h"
#include "client/postgres/program/followed_tables.h"
#include "client/postgres/program/metrics.h"
#include "client/postgres/program/table_watch.h"
#include "client/postgres/row/visible_position.h"
#include "client/postgres/sql/table_definition.h"
#include "client/postgres/store/primary_store.h"
#include "client/postgres/store/store_server.h"
#include "service/base/background_loop.h"
#include "service/base/wake_signal.h"
#include "service/base/wall_clock.h"
#include "service/server/metrics/metrics_server.h"
#include "ttl/client.h"

namespace ttl::postgres {

// Daemon runs all parts of ttl-postgres from Start() to its destruction.
class Daemon {
 public:
  // `server` must not serve a store; `server` and `config` must outlive the daemon. Errors besides
  // are those of MetricsServer::Start().
  static absl::StatusOr<std::unique_ptr<Daemon>> Start(const Config& config,
                                                       FollowedTables followed, StoreServer& server,
                                                       const WallClock& clock);
  // Stops all parts, within seconds.
  ~Daemon();

  Daemon(const Daemon&) = delete;
  Daemon& operator=(const Daemon&) = delete;

  // Whether the tables that can be followed have changed, so that a new Daemon is needed.
  bool has_changed() const { return watch_->has_changed(); }

 private:
  Daemon(const Config& config, FollowedTables followed, StoreServer& server,
         const WallClock& clock);

  // How long deletes must pause; absent: they need not.
  std::optional<absl::Duration> YieldFor() const;
  absl::Status ListenForScrapes(const Config& config, const WallClock& clock);
  // Why the daemon is not ready, for humans; empty: it is ready.
  std::string Problem() const;
  // Reports changes of Problem() to `server_` and the log.
  void TellReadiness();

  const std::vector<TableDefinition> tables_;
  const std::vector<std::string> left_out_;  // containers
  VisiblePosition visible_;
  TtlClient sidecar_;
  std::unique_ptr<LoadMonitor> load_;  // it and store_ use each other
  PrimaryStore store_;
  PolicyMirror mirror_;
  Capture capture_;
  StoreServer& server_;
  std::unique_ptr<TableWatch> watch_;
  std::unique_ptr<MetricsServer> metrics_server_;  // null: metrics are off

  std::string told_ = "starting";  // the problem that was told last; used by readiness_ only
  WakeSignal wake_;
  std::optional<BackgroundLoop> readiness_;  // calls TellReadiness()
  WakeSignal pieces_wake_;
  // Deletes condemned groups, see group_condemned.h; absent: no table has group_by.
  std::optional<BackgroundLoop> pieces_;
};

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_PROGRAM_DAEMON_H_
