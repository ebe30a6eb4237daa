#ifndef TTL_SERVICE_EXPIRY_MOMENT_H_
#define TTL_SERVICE_EXPIRY_MOMENT_H_

#include "absl/time/time.h"
#include "service/core/guarded_clock.h"

namespace ttl {

// One instant on both clocks: items are judged by `time`; rates, holds and deadlines are measured
// by `steady`.
struct Moment {
  JudgingTime time;
  absl::Duration steady;  // since boot
};

}  // namespace ttl

#endif  // TTL_SERVICE_EXPIRY_MOMENT_H_
