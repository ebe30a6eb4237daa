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

namespace ttl::postgres {

// Keeps the sidecar's knowledge of the tables as the database has them: reports every change
// that commits, from a replication slot, and the rows that were there before. By a thread of
// its own, which tries again after every error, for as long as this lives; what is wrong is
// in status().
//
// What it needs in the database is what InstallSql() makes, except the slot, which it makes
// itself. All methods are thread-safe.
class Capture {
 public:
  // `tables` are what CheckCatalog() found; `sidecar` is a channel to Config::sidecar. `visible`
  // is told what is known, and must outlive this.
  Capture(const Config& config, std::vector<TableDefinition> tables,
          std::shared_ptr<grpc::Channel> sidecar, VisiblePosition& visible,
          CaptureOptions options = {});
  // Stops soon, at most after a statement that does not heed being cancelled. What was not
  // acknowledged is captured again by the next one.
  ~Capture();
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;

  CaptureStatus status() const { return board_.Read(); }

 private:
  void Run();
  void WaitBeforeRetry(absl::Duration pause);
  // Keeps the slot from filling the disk while nothing else can be done.
  absl::Status WatchSlot();

  const Config config_;
  const std::vector<TableDefinition> tables_;
  const std::shared_ptr<grpc::Channel> sidecar_;
  VisiblePosition& visible_;
  const CaptureOptions options_;

  CaptureStatusBoard board_;
  WakeEvent wake_;
  std::atomic<bool> stop_ = false;
  SlotKeeper slot_;                               // of the thread
  absl::Time last_watch_ = absl::InfinitePast();  // of the thread
  KnownContainers containers_;
  std::thread thread_;  // last: uses all the others
};

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_CAPTURE_CAPTURE_H_
