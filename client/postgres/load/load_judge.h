#ifndef TTL_CLIENT_POSTGRES_LOAD_LOAD_JUDGE_H_
#define TTL_CLIENT_POSTGRES_LOAD_LOAD_JUDGE_H_

#include <cstdint>
#include <deque>

#include "absl/time/time.h"

namespace ttl::postgres {

// From where on a database is busy; zero: no such limit.
struct LoadLimits {
  absl::Duration max_latency;
  int64_t max_active_backends = 0;
};

// How a database was at one moment.
struct LoadSample {
  absl::Duration latency;       // of a trivial query
  int64_t active_backends = 0;  // other than our own
};

// Decides when deletes yield to the application, from samples taken about once a second.
//
// Judged is the median of the last kSamples, so that one slow answer stops nothing: yielding
// cuts the rate of deletes, which then takes a while to grow back. It begins above a limit and ends
// at kCalm of it, so that a load near the limit does not switch it all the time. A
// database that gives no sample for kSilence is busy, or worse.
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

  // What is judged; zero before the first sample.
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
