#ifndef TTL_SERVICE_CORE_STATE_USAGE_METER_H_
#define TTL_SERVICE_CORE_STATE_USAGE_METER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "service/base/mutex.h"

namespace ttl {

// Meters the use that requests make of each container's throughput, as reported by the servers of
// those requests. A report counts as its reporter's present rate until the next one, for at most
// kSilence. Times are steady. In memory. Thread-safe.
class UsageMeter {
 public:
  static constexpr absl::Duration kSilence = absl::Seconds(10);
  // Reporters distinguished per container. The usage of further ones is added up under a common
  // reporter, so that it counts as too much rather than too little.
  static constexpr size_t kMaxReporters = 256;

  // `reporter` has used `request_units` (not negative) of the throughput of `container` (a
  // container number) within `period` (positive).
  void Report(uint64_t container, absl::string_view reporter, double request_units,
              absl::Duration period, absl::Duration now);

  // Request units per second that all reporters use together. Absent if none has reported within
  // kSilence; count that as full use.
  std::optional<double> RequestRate(uint64_t container, absl::Duration now) const;

  // Drops the state of a deleted container.
  void Forget(uint64_t container);

 private:
  struct Usage {
    double units_per_second = 0;
    absl::Duration reported;
  };
  using Reporters = absl::flat_hash_map<std::string, Usage>;

  mutable Mutex mutex_;
  absl::flat_hash_map<uint64_t, Reporters> containers_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace ttl

#endif  // TTL_SERVICE_CORE_STATE_USAGE_METER_H_
