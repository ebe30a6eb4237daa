#include "service/server/clock_keeper.h"

#include <spdlog/spdlog.h>

#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "service/base/done.h"
#include "service/base/error_details.h"
#include "service/base/quoted.h"
#include "service/base/time_text.h"

namespace ttl {
namespace {

const int kTicksPerSave = static_cast<int>(ClockKeeper::kSaveInterval / ClockKeeper::kTickInterval);

std::string Show(std::optional<absl::Time> time) {
  return time.has_value() ? TimeText(*time) : "none";
}

void LogFailure(const absl::Status& status) {
  if (status.ok()) return;
  spdlog::error("clock state not saved, will retry: reason={}", Quoted(TextOf(status), 1024));
}

}  // namespace

ClockKeeper::ClockKeeper(GuardedClock& clock, SidecarState& state) : clock_(clock), state_(state) {}

ClockKeeper::~ClockKeeper() {
  LogFailure(Await<absl::Status>(
      [&](auto done) { state_.SaveClockMemory(clock_.Memory(), std::move(done)); }));
}

absl::Duration ClockKeeper::RunOnce() {
  const GuardedClock::Transition tick = clock_.Tick();
  const bool changed = tick.status.suspect != was_suspect_;
  if (changed) LogChange(tick.status);
  was_suspect_ = tick.status.suspect;
  const bool save_soon = save_soon_.exchange(false);
  if (changed || save_soon || ticks_until_save_ <= 0) Save();
  --ticks_until_save_;
  return kTickInterval;
}

void ClockKeeper::LogChange(const ClockStatus& status) {
  if (status.suspect) {
    spdlog::error("clock is suspect, deletes are suspended: reason={} now={} wall={} steady={}",
                  Quoted(status.reason, 1024), Show(status.time.now), Show(status.wall),
                  Show(status.steady));
  } else {
    spdlog::info("clock is sound again: now={}", Show(status.time.now));
  }
}

void ClockKeeper::Save() {
  if (saving_->exchange(true)) {
    save_soon_ = true;
    return;
  }
  ticks_until_save_ = kTicksPerSave;
  state_.SaveClockMemory(clock_.Memory(), [saving = saving_](const absl::Status& status) {
    LogFailure(status);
    *saving = false;
  });
}

}  // namespace ttl
