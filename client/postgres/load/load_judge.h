#ifndef TTL_CLIENT_POSTGRES_LOAD_LOAD_JUDGE_H_
#define TTL_CLIENT_POSTGRES_LOAD_LOAD_JUDGE_H_

#include <cstdint>
#include <deque>

#include "absl/time/time.h"

namespace ttl::postgres {

// The load above which a database is busy; zero: no limit.
struct LoadLimits {
  absl::Duration max_latency;
  int64_t max_active_backends = 0;
};

// The load of a database at one moment.
struct LoadSample {
  absl::Duration latency;       // of a trivial query
  int64_t active_backends = 0;  // excludes our own
};

// Decides when deletes must yield to the application, from samples taken about once a second.
//
// The median of the last kSamples counts, so that one slow answer does not stop deletes: yielding
// cuts their rate, which then recovers slowly. Yielding starts above a limit and ends at kCalm of
// it, so that a load near the limit does not toggle it. A database without a sample for kSilence is
// considered busy.
//
// Pure: times are readings of one steady clock. Not thread-safe.
class LoadJudge {
 public:
  static constexpr size_t kSamples = 5;
  static constexpr absl::Duration kSilence = absl::Seconds(5);
  static constexpr double kCalm = 0.75;

  LoadJudge(const LoadLimits& limits, absl::Duration now) : limits_(limits), last_(now) {}

  void Add(const LoadSample& sample, absl::Duration now);

  bool ShouldYield(absl::Duration now) const;

  // The median that is compared with the limits; zero before the first sample.
  LoadSample Median() const;

 private:
  bool HasLimit() const;
  // Whether the median is above `share` of a limit.
  bool IsAbove(double share) const;

  const LoadLimits limits_;
  std::deque<LoadSample> samples_;
  absl::Duration last_;
  bool is_busy_ = false;
};

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_LOAD_LOAD_JUDGE_H_
