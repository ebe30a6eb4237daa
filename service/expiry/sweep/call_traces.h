#ifndef TTL_SERVICE_EXPIRY_SWEEP_CALL_TRACES_H_
#define TTL_SERVICE_EXPIRY_SWEEP_CALL_TRACES_H_

#include <random>
#include <string>

#include "absl/time/time.h"

namespace ttl {

// The trace context of a call, by W3C Trace Context (https://www.w3.org/TR/trace-context/).
struct CallTrace {
  std::string trace_id;      // 32 lower-case hexadecimal digits
  std::string trace_parent;  // the value of the metadata key "traceparent"
  bool sampled = false;      // asks the store to record it
};

// Makes the trace contexts of DeleteItems calls, so that the spans of the store have a parent. Each
// call is a trace of its own: nobody asked for it.
//
// Sampled, so that the store records it, is a call if none was for a second, and each call for a
// container whose last call failed or showed that the store is slow. So a store is traced as long
// as it has trouble, and a healthy one is sampled at a rate that does not grow with its load.
//
// Not thread-safe.
class CallTraces {
 public:
  static constexpr absl::Duration kSamplingInterval = absl::Seconds(1);

  CallTraces();

  // The trace of the next call, sent at `now`, which is steady. `in_trouble`: the last call for the
  // container failed or was slow.
  CallTrace Next(bool in_trouble, absl::Duration now);

 private:
  std::mt19937_64 random_;
  absl::Duration last_sampled_ = -absl::InfiniteDuration();
};

}  // namespace ttl

#endif  // TTL_SERVICE_EXPIRY_SWEEP_CALL_TRACES_H_
