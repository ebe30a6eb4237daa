#ifndef TTL_SERVICE_EXPIRY_MOMENT_H_
#define TTL_SERVICE_EXPIRY_MOMENT_H_

#include "absl/time/time.h"
#include "service/core/guarded_clock.h"

namespace ttl {

// One instant, by the time that items are judged by and by the steady clock that
// rates, holds and deadlines are measured with.
struct Moment {
  JudgingTime time;
  absl::Duration steady;  // since boot
};

}  // namespace ttl

#endif  // TTL_SERVICE_EXPIRY_MOMENT_H_
