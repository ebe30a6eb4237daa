#ifndef TTL_SERVICE_CORE_CLOCK_H_
#define TTL_SERVICE_CORE_CLOCK_H_

#include <optional>
#include <string>

#include "absl/time/time.h"

namespace ttl {

// One reading of both clocks. A reading that failed is absent.
struct ClockReading {
  std::optional<absl::Time> wall;      // the clock that also stamps `_ts`
  std::optional<absl::Duration> boot;  // since boot, time of suspension included
};

// The clocks of the system. Thread-safe. Implemented by SystemClock and, in tests, by a fake whose
// two clocks can move apart.
class Clock {
 public:
  virtual ~Clock() = default;

  virtual ClockReading Read() const = 0;

  // Identity of this boot of the machine: readings of `boot` can only be compared within one boot.
  // Empty if it is unknown.
  virtual std::string BootId() const = 0;
};

}  // namespace ttl

#endif  // TTL_SERVICE_CORE_CLOCK_H_
