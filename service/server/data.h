#ifndef TTL_SERVICE_SERVER_DATA_H_
#define TTL_SERVICE_SERVER_DATA_H_

#include <memory>
#include <optional>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "service/base/background_loop.h"
#include "service/core/guarded_clock.h"
#include "service/core/system_clock.h"
#include "service/server/clock_keeper.h"
#include "service/server/config/config.h"
#include "service/server/loop_signals.h"
#include "service/storage/storage.h"

namespace ttl {

// The first stage of a sidecar: the open database, the clock that its memory guards, and the
// loops that keep both. Destroyed, it saves the clock and closes the database. Thread-safe.
class Data {
 public:
  // Opens the database in the existing --data-dir, or a rebuilt one (OpenForRebuild, whose
  // errors it returns), and starts the loops. Both parameters must outlive this.
  static absl::StatusOr<std::unique_ptr<Data>> Open(const ServerConfig& config,
                                                    LoopSignals& signals);
  Data(const Data&) = delete;
  Data& operator=(const Data&) = delete;

  Storage& storage() { return *storage_; }
  GuardedClock& clock() { return clock_; }
  const SystemClock& system_clock() const { return system_clock_; }

  // The time at which this was opened, by the clock and steady.
  absl::Time start_time() const { return start_time_; }
  absl::Duration start_steady() const { return start_steady_; }

  // Makes the clock durable soon, because an operator has accepted it.
  void SaveClockSoon();

 private:
  Data(std::unique_ptr<Storage> storage, std::optional<ClockMemory> memory, LoopSignals& signals);

  LoopSignals& signals_;
  const SystemClock system_clock_;
  const absl::Duration start_steady_;
  const std::unique_ptr<Storage> storage_;
  GuardedClock clock_;
  ClockKeeper clock_keeper_;
  absl::Time start_time_;
  std::optional<BackgroundLoop> clock_loop_;
  std::optional<BackgroundLoop> housekeeping_loop_;
};

}  // namespace ttl

#endif  // TTL_SERVICE_SERVER_DATA_H_
