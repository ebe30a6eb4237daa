#include "service/core/system_clock.h"

#include <time.h>

#include <fstream>
#include <optional>
#include <string>

#include "absl/time/time.h"
#include "service/core/clock.h"

namespace ttl {
namespace {

std::optional<absl::Duration> ReadClock(clockid_t id) {
  timespec reading = {};
  if (clock_gettime(id, &reading) != 0) return std::nullopt;
  return absl::DurationFromTimespec(reading);
}

}  // namespace

ClockReading SystemClock::Read() const {
  ClockReading reading;
  if (const auto wall = ReadClock(CLOCK_REALTIME)) reading.wall = absl::UnixEpoch() + *wall;
  reading.boot = ReadClock(CLOCK_BOOTTIME);
  return reading;
}

std::string SystemClock::BootId() const {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  // Leaves `id` empty if there is no such file or nothing in it.
  std::getline(file, id);
  return id;
}

}  // namespace ttl
