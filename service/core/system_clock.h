#ifndef TTL_SERVICE_CORE_SYSTEM_CLOCK_H_
#define TTL_SERVICE_CORE_SYSTEM_CLOCK_H_

#include <string>

#include "service/core/clock.h"

namespace ttl {

// The clocks of the machine: CLOCK_REALTIME and CLOCK_BOOTTIME, both read without a system call.
// Stateless; thread-safe.
class SystemClock : public Clock {
 public:
  ClockReading Read() const override;
  std::string BootId() const override;
};

}  // namespace ttl

#endif  // TTL_SERVICE_CORE_SYSTEM_CLOCK_H_
