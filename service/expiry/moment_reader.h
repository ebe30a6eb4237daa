#ifndef TTL_SERVICE_EXPIRY_MOMENT_READER_H_
#define TTL_SERVICE_EXPIRY_MOMENT_READER_H_

#include "absl/time/time.h"
#include "service/core/clock.h"
#include "service/core/guarded_clock.h"
#include "service/expiry/moment.h"

namespace ttl {

// Reads both clocks at one instant. While the steady clock cannot be read, steady time stands
// still, and the guarded clock allows no deletes. Not thread-safe.
class MomentReader {
 public:
  // `system_clock` gives the steady time. Both must outlive this.
  MomentReader(const Clock& system_clock, const GuardedClock& clock)
      : system_clock_(system_clock), clock_(clock) {}

  Moment Read() {
    steady_ = system_clock_.Read().boot.value_or(steady_);
    return {clock_.Read(), steady_};
  }

 private:
  const Clock& system_clock_;
  const GuardedClock& clock_;
  absl::Duration steady_;  // the last sound reading; zero before the first
};

}  // namespace ttl

#endif  // TTL_SERVICE_EXPIRY_MOMENT_READER_H_
