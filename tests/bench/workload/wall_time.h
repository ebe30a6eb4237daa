#ifndef TTL_TESTS_BENCH_WORKLOAD_WALL_TIME_H_
#define TTL_TESTS_BENCH_WORKLOAD_WALL_TIME_H_

#include <google/protobuf/timestamp.pb.h>

#include <chrono>

#include "absl/time/time.h"

namespace ttl {

// absl::Now() interpolates and may differ from the system's clock by more than
// the tolerance.
inline absl::Time WallNow() { return absl::FromChrono(std::chrono::system_clock::now()); }

inline absl::Time ToTime(const google::protobuf::Timestamp& timestamp) {
  return absl::FromUnixSeconds(timestamp.seconds()) + absl::Nanoseconds(timestamp.nanos());
}

}  // namespace ttl

#endif  // TTL_TESTS_BENCH_WORKLOAD_WALL_TIME_H_
