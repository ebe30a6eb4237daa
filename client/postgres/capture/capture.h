#ifndef TTL_CLIENT_POSTGRES_CAPTURE_CAPTURE_H_
#define TTL_CLIENT_POSTGRES_CAPTURE_CAPTURE_H_

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "client/postgres/capture/capture_options.h"
#include "client/postgres/capture/capture_status.h"
#include "client/postgres/capture/stream/slot_keeper.h"
#include "client/postgres/capture/stream/wake_event.h"
#include "client/postgres/capture/tables/known_containers.h"
#include "client/postgres/config/config.h"
#include "client/postgres/row/visible_position.h"
#include "client/postgres/sql/table_definition.h"
#include "grpcpp/channel.h"
#include "service/base/wall_clock.h"

namespace ttl::postgres {

// Capture reports every committed change of the tables to the sidecar, from a replication slot, and
// the rows that existed before the slot. Its thread retries after every error until destruction;
// status() holds the current problem.
//
// Capture needs the database objects of InstallSql(), except the slot, which it creates itself. All
// methods are thread-safe.
class Capture {
 public:
  // `tables` are those that CheckCatalog() found; `sidecar` is a channel to Config::sidecar.
  // `visible` receives the acknowledged LSNs and the observed snapshots, and must outlive this.
  Capture(const Config& config, std::vector<TableDefinition> tables,
          std::shared_ptr<grpc::Channel> sidecar, VisiblePosition& visible, WallClock clock,
          CaptureOptions options = {});
  // Stops promptly, or after the running statement if that ignores cancellation. The next Capture
  // captures unacknowledged changes again.
  ~Capture();
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;

  CaptureStatus status() const { return board_.Read(); }

 private:
  void Run();
  void WaitBeforeRetry(absl::Duration pause);
  // Drops the slot if it retains too much WAL while no session runs.
  absl::Status WatchSlot();

  const Config config_;
  const std::vector<TableDefinition> tables_;
  const std::shared_ptr<grpc::Channel> sidecar_;
  VisiblePosition& visible_;
  const WallClock clock_;
  const CaptureOptions options_;

  CaptureStatusBoard board_;
  WakeEvent wake_;
  std::atomic<bool> stop_ = false;
  SlotKeeper slot_;                               // used by thread_ only
  absl::Time last_watch_ = absl::InfinitePast();  // used by thread_ only
  KnownContainers containers_;
  std::thread thread_;  // declared last: uses all other members
};

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_CAPTURE_CAPTURE_H_
