#include "service/server/data.h"

#include <utility>

#include "service/base/status_macros.h"
#include "service/server/config/storage_settings.h"
#include "service/server/rebuild.h"

namespace ttl {
namespace {

constexpr absl::Duration kHousekeepingInterval = absl::Seconds(1);

}  // namespace

absl::StatusOr<std::unique_ptr<Data>> Data::Open(const ServerConfig& config, LoopSignals& signals) {
  const absl::Time now = SystemClock().Read().wall.value_or(absl::UnixEpoch());
  TTL_ASSIGN_OR_RETURN(
      std::unique_ptr<Storage> storage,
      OpenForRebuild(config, ToStorageOptions(config, &signals.sweep, &signals.announce), now));
  TTL_ASSIGN_OR_RETURN(std::optional<ClockMemory> memory,
                       storage->sidecar_state().LoadClockMemory());
  return std::unique_ptr<Data>(new Data(std::move(storage), std::move(memory), signals));
}

Data::Data(std::unique_ptr<Storage> storage, std::optional<ClockMemory> memory,
           LoopSignals& signals)
    : signals_(signals),
      start_steady_(system_clock_.Read().boot.value_or(absl::ZeroDuration())),
      storage_(std::move(storage)),
      clock_(system_clock_, std::move(memory)),
      clock_keeper_(clock_, storage_->sidecar_state()) {
  // The first tick comes before anybody reads the clock, so that a suspect one is known to be.
  clock_keeper_.RunOnce();
  start_time_ = clock_.Read().now;
  clock_loop_.emplace(signals.clock, [this] { return clock_keeper_.RunOnce(); });
  housekeeping_loop_.emplace(signals.housekeeping, [this] {
    return storage_->RunHousekeeping() ? absl::ZeroDuration() : kHousekeepingInterval;
  });
}

void Data::SaveClockSoon() {
  clock_keeper_.SaveSoon();
  signals_.clock.Notify();
}

}  // namespace ttl
